import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OPERATOR_RULES } from '../../kernel/codes/operator.ts';
import { CODES } from '../../kernel/codes.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { gateLockUpdate, gatePostExecution, gatePreComplete, gatePreDispatch } from './gates.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
type Row = readonly [what: string, code: string, payload: unknown];
type Assignment = { readonly [field: string]: Json | undefined };

const lock = (task_id: Json, resource: Json, active: Json = true): JsonObject => ({ task_id, resource, active });

function dispatch(over: Assignment = {}, top: Assignment = {}): JsonObject {
  const assignment = {
    lock_scope: ['web/src'],
    forbidden_scope: ['web/test'],
    acceptance_criteria: ['Lint clean'],
    worklog_path: 'worklogs/T-1.jsonl',
    timeout_seconds: 60,
    heartbeat_interval_seconds: 10,
    ...over,
  };
  return JSON.parse(JSON.stringify({ task_id: 'T-1', assignment, active_locks: [], ...top }));
}

function execution(over: Assignment = {}, assignment: Assignment = {}, top: Assignment = {}): JsonObject {
  const result = {
    task_id: 'T-1',
    status: 'done',
    changes: [{ resource: 'web/src/x', action: 'edit' }],
    acceptance_check: [{ criterion: 'Lint clean', status: 'pass', evidence: 'npm run lint' }],
    worklog_path: 'worklogs/T-1.jsonl',
    notes_for_orchestrator: [],
    ...over,
  };
  const scopes = { lock_scope: ['web/src'], forbidden_scope: [], ...assignment };
  return JSON.parse(JSON.stringify({ task_id: 'T-1', result, assignment: scopes, ...top }));
}

function completion(checks: Json, required: Json = ['Lint clean']): JsonObject {
  return { task_id: 'T-1', acceptance_check: checks, required_criteria: required };
}

const check = (criterion: Json, status: Json = 'pass', evidence: Json = 'seen') => ({ criterion, status, evidence });
const change = (resource: string) => ({ changes: [{ resource, action: 'edit' }] });

/** Each row breaks its own rule; where it can, it breaks later ones too. */
const DISPATCH: readonly Row[] = [
  ['no object', 'SCHEMA_INVALID', []],
  ['nothing', 'R-PD-001', {}],
  ['a field is missing', 'R-PD-001', dispatch({ heartbeat_interval_seconds: undefined, lock_scope: [] })],
  ['no task id', 'R-PD-001', dispatch({ lock_scope: [] }, { task_id: 'worker' })],
  ['no assignment', 'R-PD-001', dispatch({}, { assignment: 'x' })],
  ['an empty lock scope', 'R-PD-002', dispatch({ lock_scope: [], forbidden_scope: 5 })],
  ['a lock scope of numbers', 'R-PD-002', dispatch({ lock_scope: [5] })],
  ['a forbidden scope that is no list', 'R-PD-004', dispatch({ forbidden_scope: 'x', acceptance_criteria: [] })],
  ['no criteria', 'R-PD-001', dispatch({ acceptance_criteria: [], worklog_path: '' })],
  ['a blank criterion', 'R-PD-001', dispatch({ acceptance_criteria: [' '] })],
  ['locks that are no list', 'R-PD-007', dispatch({ worklog_path: '' }, { active_locks: {} })],
  ['a blank worklog path', 'R-PD-005', dispatch({ worklog_path: ' ', timeout_seconds: 1 })],
  ['a worklog outside', 'R-PD-005', dispatch({ worklog_path: '../x' })],
  ['too short a limit', 'R-PD-006', dispatch({ timeout_seconds: 29, lock_scope: ['//'] })],
  ['a heartbeat as long as the limit', 'R-PD-006', dispatch({ heartbeat_interval_seconds: 60 })],
  ['too short a heartbeat', 'R-PD-006', dispatch({ heartbeat_interval_seconds: 4 })],
  ['a claimed path that is none', 'R-PD-002', dispatch({ lock_scope: ['//'], forbidden_scope: ['\t'] })],
  ['a forbidden path that is none', 'R-PD-004', dispatch({ forbidden_scope: ['..'], lock_scope: ['a', 'a/b'] })],
  [
    'its own paths overlap, before the forbidden ones',
    'R-PD-003',
    dispatch({ lock_scope: ['a', 'a/b'], forbidden_scope: ['a'] }),
  ],
  ['what is claimed is forbidden', 'R-PD-004', dispatch({ forbidden_scope: ['web'] }, { active_locks: [5] })],
  ['another holds it', 'R-PD-003', dispatch({}, { active_locks: [lock('T-2', '.\\web\\'), 5] })],
  ['a record before it is malformed', 'R-PD-007', dispatch({}, { active_locks: [5, lock('T-2', 'web')] })],
  ['a released record without a task', 'R-PD-007', dispatch({}, { active_locks: [lock('', 'x', false)] })],
  ['a record that may be active', 'R-PD-007', dispatch({}, { active_locks: [lock('T-2', 'x', 1)] })],
  ['a record without a path', 'R-PD-007', dispatch({}, { active_locks: [lock('T-2', '//')] })],
  ['a lock of its own', 'OK', dispatch({}, { active_locks: [lock('T-1', 'web')] })],
  ['a lock that was released', 'OK', dispatch({}, { active_locks: [lock('T-2', 'web', false)] })],
  ['a lock beside it', 'OK', dispatch({}, { active_locks: [lock('T-2', 'web/src2')] })],
];

test.each(DISPATCH)('before dispatch, %s: %s', (_, code, payload) => {
  expect(gatePreDispatch(payload).code).toBe(code);
});

test('a conflict before dispatch names the holder and both paths, and what a ledger stores', () => {
  expect(gatePreDispatch(dispatch({}, { active_locks: [lock('T-2', 'web')] })).details).toMatchObject({
    contract_code: 'LOCK_CONFLICT',
    resource: 'web/src',
    conflict_task_id: 'T-2',
    conflict_resource: 'web',
  });
});

const SECRET = 'MY_API_KEY=abcdefghijklmnop';

const EXECUTION: readonly Row[] = [
  ['no object', 'SCHEMA_INVALID', 'x'],
  ['nothing', 'R-PO-001', {}],
  ['a part of the result is missing', 'R-PO-001', execution({ notes_for_orchestrator: undefined })],
  ['no result', 'R-PO-001', execution({}, {}, { result: [] })],
  ['no status of a result', 'R-PO-001', execution({ status: 'canceled', acceptance_check: [] })],
  ['the result of another task', 'R-PO-001', execution({ task_id: 'T-2' })],
  ['no task', 'R-PO-001', execution({ task_id: undefined }, {}, { task_id: 'x' })],
  ['a change without an action', 'R-PO-001', execution({ changes: [{ resource: 'web/src/x' }] })],
  ['a check without a criterion', 'R-PO-001', execution({ acceptance_check: [check(' ')] })],
  ['six notes', 'R-PO-001', execution({ notes_for_orchestrator: ['a', 'b', 'c', 'd', 'e', SECRET] })],
  ['a blank worklog path', 'R-PO-001', execution({ worklog_path: ' ' })],
  ['done without a check', 'R-PC-001', execution({ acceptance_check: [], ...change('x') })],
  ['scopes that are none', 'R-PO-001', execution(change('x'), { lock_scope: [5] })],
  ['a change above the scope', 'R-PO-002', execution({ ...change('web'), worklog_path: 'dir' })],
  ['a change that leads out of it', 'R-PO-002', execution(change('web/src/../../elsewhere'))],
  [
    'a change above what is forbidden',
    'R-PW-002',
    execution(change('web/src/x'), { forbidden_scope: ['web/src/x/y'] }),
  ],
  ['the worklog is a directory', 'R-PO-003', execution({ worklog_path: 'dir', notes_for_orchestrator: [SECRET] })],
  ['a secret in a note', 'R-PO-004', execution({ notes_for_orchestrator: ['fine', SECRET] })],
  ...[
    `x${'AKIA'}ABCDEFGHIJKLMNOP`,
    `aaa${'sk-'}abcdefghijklmnopqrst`,
    `aaa${'sk-ant-'}abcdefghij-klmnopqrst`,
    'BEGIN RSA PRIVATE KEY',
    '-----BEGIN PRIVATE KEY',
    'access_token: x',
    'token: not required',
    'secret: yes',
  ].map((note): [string, string, JsonObject] => [
    `the note ${JSON.stringify(note)}`,
    'R-PO-004',
    execution({ notes_for_orchestrator: [note] }),
  ]),
  ['blocked without a check', 'OK', execution({ status: 'blocked', acceptance_check: [] })],
  ['a note from which a secret was taken', 'OK', execution({ notes_for_orchestrator: ['token: [secret:credential]'] })],
  ['all is well', 'OK', execution()],
];

test.each(EXECUTION)('after execution, %s: %s', (_, code, payload) => {
  expect(gatePostExecution(payload, { isFile: (path) => path !== 'dir' }).code).toBe(code);
});

const COMPLETION: readonly Row[] = [
  ['no object', 'SCHEMA_INVALID', null],
  ['nothing', 'R-PC-001', {}],
  ['no task', 'R-PC-001', { ...completion([check('Lint clean')]), task_id: 5 }],
  ['checks that are none', 'R-PC-001', completion([5])],
  ['a failing check without a criterion', 'R-PC-001', completion([check('', 'fail'), check('Lint clean')])],
  ['nothing asked for and nothing checked', 'R-PC-001', completion([], [])],
  ['another letter', 'R-PC-001', completion([check('lint clean', 'fail')])],
  ['an extra check fails', 'R-PC-002', completion([check('Lint clean'), check('Extra', 'fail', '')])],
  ['no evidence', 'R-PC-003', completion([check('Lint clean', 'pass', ' ')])],
  ['all is met', 'OK', completion([check('Lint clean'), check('Extra')])],
];

test.each(COMPLETION)('before completion, %s: %s', (_, code, payload) => {
  expect(gatePreComplete(payload).code).toBe(code);
});

const LOCK_TABLE: readonly Row[] = [
  ['no list', 'R-LK-001', { locks: [] }],
  ['a record that is none', 'R-LK-001', [lock('T-1', 5)]],
  ['a path that is none', 'R-LK-001', [lock('T-1', '//')]],
  ['two tasks in one place', 'R-LK-001', [lock('T-1', 'web'), lock('T-2', 'web/src')]],
  ['one task twice', 'OK', [lock('T-1', 'web'), lock('T-1', 'web/src')]],
  ['capitals', 'OK', [lock('T-1', 'Web'), lock('T-2', 'web/src')]],
  ['none', 'OK', []],
];

test.each(LOCK_TABLE)('a table of locks, %s: %s', (_, code, payload) => {
  expect(gateLockUpdate(payload).code).toBe(code);
});

test('every rule of these gates has a row', () => {
  const rows = new Set([...DISPATCH, ...EXECUTION, ...COMPLETION, ...LOCK_TABLE].map(([, code]) => code));
  // The ledger and the hooks that guard single writes have two of the others, the watchdog two.
  const elsewhere = ['R-PE-001', 'R-PW-001', 'R-WD-001', 'R-WD-002'];
  expect(
    Object.keys(OPERATOR_RULES)
      .filter((rule) => !rows.has(rule))
      .sort(),
  ).toEqual(elsewhere);
});

test('a table of locks lists every conflict', () => {
  const table = [lock('T-1', 'd'), lock('T-2', 'd/e'), lock('T-3', 'd/e/f')];
  expect(gateLockUpdate(table).details).toMatchObject({ contract_code: 'LOCK_CONFLICT' });
  expect(gateLockUpdate(table).details.conflicts).toHaveLength(3);
});

test('whatever comes, a gate answers with a verdict', () => {
  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
    fc.constantFrom<Json>('T-1', '//', '..', 'web', SECRET, 30, [], {}),
  );
  const fields = [
    'lock_scope',
    'acceptance_criteria',
    'worklog_path',
    'timeout_seconds',
    'changes',
    'status',
    'result',
  ];
  const gates: readonly ((payload: unknown) => Verdict)[] = [
    gatePreDispatch,
    gatePostExecution,
    gatePreComplete,
    gateLockUpdate,
  ];
  fc.assert(
    fc.property(fc.constantFrom(...fields), odd, odd, (field, value, top) => {
      const payloads = [dispatch({ [field]: value }), execution({ [field]: value }, { lock_scope: top }), top];
      const rest = [completion(value, top), [lock(value, top)], dispatch({}, { active_locks: value })];
      for (const payload of [...payloads, ...rest]) {
        for (const gate of gates) {
          const verdict = gate(payload);
          expect(verdict.allow ? verdict.code : Object.hasOwn(CODES, verdict.code)).toBe(verdict.allow ? 'OK' : true);
          expect(verdict.reason).not.toBe('');
          expect(gate(JSON.parse(JSON.stringify(payload)))).toEqual(verdict);
        }
      }
    }),
    { numRuns: Math.ceil(RUNS / 4) },
  );
});
