import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import { EXAMPLE_ASSIGNMENT, EXAMPLE_ENVELOPE, EXAMPLE_RESULT } from './brief.ts';
import { takeAssignment, takeResult, takeStream, takeWorklogEntry } from './read.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const RUN = String(EXAMPLE_RESULT.run_id);
const KEY = 'AKIAIOSFODNN7EXAMPLE';
const ENTRY: JsonObject = {
  timestamp: '2026-01-31T09:30:00Z',
  run_id: RUN,
  task_id: 'T-12',
  actor: 'ann',
  action: 'edit',
  files_touched: ['a.ts'],
  decision: 'as planned',
  result: 'ok',
  next_step: 'test',
};
const DELTA: JsonObject = {
  task_id: 'T-12',
  status: 'todo',
  owner: '',
  reason: 'plan',
  delta_id: 'd1',
  x_create: true,
};
const text = (value: unknown) => JSON.stringify(value);
const task = (over: JsonObject) => ({
  ...EXAMPLE_ASSIGNMENT,
  task: { ...(EXAMPLE_ASSIGNMENT.task as JsonObject), ...over },
});

test('what keeps its contract is handed on as it is', () => {
  expect(takeAssignment(text(EXAMPLE_ASSIGNMENT))).toMatchObject({ ok: true, payload: EXAMPLE_ASSIGNMENT });
  expect(takeResult(text(EXAMPLE_RESULT))).toMatchObject({ ok: true, payload: EXAMPLE_RESULT, warnings: [] });
  expect(takeWorklogEntry(text(ENTRY))).toMatchObject({ ok: true, payload: ENTRY });
});

test('a result may come as a report', () => {
  const report = `---\nschema_version: 1.0.0\nrun_id: ${RUN}\ntask_id: T-12\nstatus: blocked\nworklog_path: w.jsonl\n---\nProse.`;
  expect(takeResult(report)).toMatchObject({ ok: true, payload: { task_id: 'T-12', status: 'blocked' } });
});

test.each<[string, string, () => ReturnType<typeof takeResult>, { run: string; task: string }]>([
  ['a text that is no JSON', 'SCHEMA_INVALID', () => takeResult('oops'), { run: '', task: '' }],
  [
    'a packet without a title',
    'MISSING_REQUIRED_INPUT',
    () => takeAssignment(text(task({ title: '' }))),
    { run: RUN, task: 'T-12' },
  ],
  [
    'a checker that nobody declared',
    'MISSING_VALIDATOR',
    () => takeAssignment(text(task({ x_checkers: { 'All endpoint tests pass': 'rm' } })), { checkers: ['test'] }),
    { run: RUN, task: 'T-12' },
  ],
  [
    'a secret in a note',
    'UNTRUSTED_CONTEXT_BLOCK',
    () => takeResult(text({ ...EXAMPLE_RESULT, notes_for_orchestrator: [KEY] })),
    { run: RUN, task: 'T-12' },
  ],
  [
    'a secret in a worklog',
    'UNTRUSTED_CONTEXT_BLOCK',
    () => takeWorklogEntry(text({ ...ENTRY, decision: KEY })),
    { run: RUN, task: 'T-12' },
  ],
  [
    'a blocked entry that does not say what comes next',
    'MISSING_REQUIRED_INPUT',
    () => takeWorklogEntry(text({ ...ENTRY, result: 'blocked', code: 'TASK_TIMEOUT', next_step: '' })),
    { run: RUN, task: 'T-12' },
  ],
])('%s: %s, and it is known whose it is', (_, code, take, subject) => {
  expect(take()).toMatchObject({ ok: false, refusal: { code }, subject });
});

test('what looks like a secret where it is only warned about is taken out', () => {
  const taken = takeResult(text({ ...EXAMPLE_RESULT, changes: [{ resource: 'a', action: 'edit', evidence: KEY }] }));
  expect(taken.ok && [JSON.stringify(taken.payload).includes(KEY), taken.warnings.length]).toEqual([false, 1]);
});

test.each<[string, unknown, string | undefined, string]>([
  ['deltas without a run', [DELTA], undefined, 'MISSING_REQUIRED_INPUT'],
  ['deltas with a run', [DELTA], RUN, 'OK'],
  ['deltas with a head', { run_id: RUN, ledger_delta: [DELTA], base_versions: { 'T-1': 2 } }, undefined, 'OK'],
  [
    'versions that are none',
    { run_id: RUN, ledger_delta: [DELTA], base_versions: { 'T-1': 'x' } },
    undefined,
    'SCHEMA_INVALID',
  ],
  ['a delta without a reason', [{ ...DELTA, reason: 5 }], RUN, 'SCHEMA_INVALID'],
  ['an envelope', EXAMPLE_ENVELOPE, undefined, 'OK'],
  ['an envelope of another run', EXAMPLE_ENVELOPE, '0'.repeat(36), 'SCHEMA_INVALID'],
  ['an envelope without blockers', { ...EXAMPLE_ENVELOPE, blockers: undefined }, undefined, 'MISSING_REQUIRED_INPUT'],
  ['a number', 5, RUN, 'SCHEMA_INVALID'],
])('%s', (_, value, run, code) => {
  const taken = takeStream(text(value), run);
  expect(taken.ok ? 'OK' : taken.refusal.code).toBe(code);
  if (taken.ok) expect(taken.payload).toMatchObject({ run: RUN, deltas: [{ task_id: 'T-12' }] });
});

test.each<[string, string]>([
  ['BLOCKED: global_objective', 'MISSING_REQUIRED_INPUT'],
  ['NON_COMPLIANT: R-1 | REASON: it implemented', 'NON_COMPLIANT'],
])('%j instead of a stream: %s', (given, code) => {
  expect(takeStream(given, RUN)).toMatchObject({ ok: false, refusal: { code }, subject: { run: RUN } });
});

test('any text is taken or refused, and what was taken is taken again', () => {
  const texts = [EXAMPLE_ASSIGNMENT, EXAMPLE_RESULT, EXAMPLE_ENVELOPE, ENTRY, [DELTA]].map(text);
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('---\n', '{', '}', '[', '"', '\n', ...texts),
    fc.constantFrom(...texts).chain((whole) => fc.nat(whole.length).map((end) => whole.slice(0, end))),
  );
  const pieces = fc.array(piece, { maxLength: 3 }).map((some) => some.join(''));
  const around = fc.tuple(fc.constantFrom('', 'Here it is:\n', '```json\n'), fc.constantFrom(...texts));
  const whole = around.map(([before, one]) => before + one + (before.startsWith('`') ? '\n```' : ''));
  let many = 0;
  fc.assert(
    fc.property(fc.oneof(pieces, whole), (given) => {
      for (const take of [takeAssignment, takeResult, takeWorklogEntry]) {
        const taken = take(given);
        if (taken.ok) many += 1;
        if (taken.ok) expect(take(text(taken.payload)).ok).toBe(true);
        else expect(taken.refusal.allow).toBe(false);
      }
      const stream = takeStream(given, RUN);
      if (!stream.ok) expect(stream.refusal.allow).toBe(false);
    }),
    { numRuns: RUNS },
  );
  expect(many).toBeGreaterThan(RUNS / 10);
});
