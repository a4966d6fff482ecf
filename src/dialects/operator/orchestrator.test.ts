import { expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import { validateOrchestrator, workItemsOf } from './assignment.ts';
import { EXAMPLE_ASSIGNMENT, EXAMPLE_ENVELOPE } from './brief.ts';

const envelope = (over: JsonObject = {}): JsonObject => ({ ...EXAMPLE_ENVELOPE, ...over });
const packet = (over: JsonObject = {}): JsonObject => ({ ...EXAMPLE_ASSIGNMENT, ...over });
const delta = (over: JsonObject = {}): JsonObject => ({
  task_id: 'T-1',
  status: 'todo',
  owner: 'unassigned',
  reason: '',
  delta_id: 'd-1',
  ...over,
});
const blocker = (over: JsonObject = {}): JsonObject => ({
  task_id: 'T-1',
  code: 'LOCK_CONFLICT',
  reason: 'busy',
  ...over,
});
const lock = (task_id: string, resource: string): JsonObject => ({ task_id, resource, active: true });

// In the order of the checks.
test.each<[string, unknown, string]>([
  ['nothing', null, 'SCHEMA_INVALID'],
  ['an empty object', {}, 'MISSING_REQUIRED_INPUT'],
  ['another major version', envelope({ schema_version: '2.0.0', blockers: 5 }), 'UNKNOWN_SCHEMA_VERSION'],
  ['a bad run_id', envelope({ run_id: '' }), 'SCHEMA_INVALID'],
  ['a bad run_id and no assignment', envelope({ run_id: 'x', assignments: [] }), 'SCHEMA_INVALID'],
  ['deltas as an object', envelope({ ledger_delta: {} }), 'SCHEMA_INVALID'],
  [
    'a delta without an owner',
    envelope({ ledger_delta: [{ ...delta(), owner: undefined as never }] }),
    'MISSING_REQUIRED_INPUT',
  ],
  ['a delta with another status', envelope({ ledger_delta: [delta({ status: 'open' })] }), 'SCHEMA_INVALID'],
  ['assignments as an object', envelope({ assignments: {} }), 'SCHEMA_INVALID'],
  ['a lock that is no object', envelope({ active_locks: [5] }), 'SCHEMA_INVALID'],
  [
    'a blocker without a reason',
    envelope({ blockers: [{ task_id: 'T-1', code: 'LOCK_CONFLICT' }] }),
    'MISSING_REQUIRED_INPUT',
  ],
  ['a blocker with a code of its own', envelope({ blockers: [blocker({ code: 'BUSY' })] }), 'SCHEMA_INVALID'],
  ['a blocker with the code of success', envelope({ blockers: [blocker({ code: 'OK' })] }), 'SCHEMA_INVALID'],
  ['a blocker with details in words', envelope({ blockers: [blocker({ details: 'x' })] }), 'SCHEMA_INVALID'],
  ['a blocker of no task', envelope({ blockers: [blocker({ task_id: 'x' })] }), 'SCHEMA_INVALID'],
  ['a blocker with a blank reason', envelope({ blockers: [blocker({ reason: ' ' })] }), 'SCHEMA_INVALID'],
  ['next actions as an object', envelope({ next_actions: {} }), 'SCHEMA_INVALID'],
  ['a next action that is no string', envelope({ next_actions: [5] }), 'SCHEMA_INVALID'],
  ['an assignment that is no object', envelope({ assignments: ['T-1'] }), 'SCHEMA_INVALID'],
  [
    'an assignment without a task',
    envelope({ assignments: [{ ...packet(), task: undefined as never }] }),
    'MISSING_REQUIRED_INPUT',
  ],
  [
    'an assignment in conflict',
    envelope({ assignments: [packet({ active_locks: [lock('T-9', 'tests')] })] }),
    'LOCK_CONFLICT',
  ],
  ['an assignment of another run', envelope({ assignments: [packet({ run_id: '0'.repeat(36) })] }), 'SCHEMA_INVALID'],
  ['a task assigned twice', envelope({ assignments: [packet(), packet()] }), 'SCHEMA_INVALID'],
  [
    'one delta_id for two deltas',
    envelope({ ledger_delta: [delta(), delta({ task_id: 'T-2' })] }),
    'CONCURRENCY_CONFLICT',
  ],
  ['the same delta twice', envelope({ ledger_delta: [delta(), delta()] }), 'OK'],
  ['blocked without a blocker', envelope({ ledger_delta: [delta({ status: 'blocked' })] }), 'MISSING_REQUIRED_INPUT'],
  ['blocked with its blocker', envelope({ ledger_delta: [delta({ status: 'blocked' })], blockers: [blocker()] }), 'OK'],
  [
    'blocked and replanned',
    envelope({ ledger_delta: [delta({ status: 'blocked' }), delta({ delta_id: 'd-2' })] }),
    'OK',
  ],
  ['locks in conflict', envelope({ active_locks: [lock('T-1', 'a'), lock('T-2', 'a/b')] }), 'LOCK_CONFLICT'],
  ['nothing to do', envelope({ ledger_delta: [], assignments: [], next_actions: [] }), 'OK'],
  ['the example', envelope(), 'OK'],
])('%s: %#', (_what, input, code) => {
  expect(validateOrchestrator(input).code).toBe(code);
});

test('what is wrong with an assignment is reported at its place in the envelope', () => {
  const task = { ...(EXAMPLE_ASSIGNMENT.task as JsonObject), title: 5, priority: 'x', task_id: 'T-2' };
  const { details } = validateOrchestrator(envelope({ assignments: [packet(), packet({ task })] }));
  expect(details.path).toBe('assignments[1].task.title');
  expect((details.issues as JsonObject[]).map((issue) => issue.path)).toEqual([
    'assignments[1].task.title',
    'assignments[1].task.priority',
  ]);
});

test('a missing blocker is named', () => {
  const input = envelope({ ledger_delta: [delta({ status: 'blocked', timed_out: true })] });
  expect(validateOrchestrator(input).details).toMatchObject({ path: 'blockers', missing: ['T-1'] });
});

test.each([
  ['summary', envelope({ summary: 'x' })],
  ['ledger_delta[0].title', envelope({ ledger_delta: [delta({ title: 'x' })] })],
  ['blockers[0].since', envelope({ blockers: [blocker({ since: 'x' })] })],
  [
    'assignments[0].task.budget',
    envelope({ assignments: [packet({ task: { ...(EXAMPLE_ASSIGNMENT.task as JsonObject), budget: 1 } })] }),
  ],
])('%s is refused in strict mode only', (path, input) => {
  expect(validateOrchestrator(input).code).toBe('OK');
  expect(validateOrchestrator(input, { strict: true })).toMatchObject({ code: 'SCHEMA_INVALID', details: { path } });
});

test('each assignment becomes a work item whose context is its packet', () => {
  const [item, ...rest] = workItemsOf(EXAMPLE_ENVELOPE);
  expect(rest).toEqual([]);
  expect(item?.title).toBe('Add endpoint tests');
  const [marker, ...lines] = (item?.context ?? '').split('\n');
  expect(marker).toBe('[ASSIGNMENT PACKET]');
  expect(JSON.parse(lines.join('\n'))).toEqual(EXAMPLE_ASSIGNMENT);
  expect(lines[1]).toMatch(/^ {2}"/);
});

test('work items have a title and a context whatever the envelope holds', () => {
  for (const odd of [{}, { assignments: 5 }, { assignments: [{}, { task: 5 }, null] }]) {
    for (const { title, context } of workItemsOf(odd)) expect([title.trim(), context.trim()]).not.toContain('');
  }
});
