import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { openBook, packet, RUN, result } from '../../kernel/ledger/fixtures/book.ts';
import { ledgerRows, lockRows } from '../../kernel/ledger/wire.ts';
import { validateDeltas } from './deltas.ts';
import { validateReconcile } from './reconcile.ts';

let serial = 0;
const delta = (task_id: string, status: string, over: JsonObject = {}): JsonObject => ({
  task_id,
  status,
  owner: 'agent-1',
  reason: 'because',
  delta_id: `d-${++serial}`,
  ...over,
});
const row = (task_id: string, status = 'todo', over: JsonObject = {}): JsonObject => ({ task_id, status, ...over });
const on = (ledger: Json[], ...ledger_delta: Json[]): JsonObject => ({ ledger, ledger_delta });
const rowsAfter = (input: JsonObject) => validateDeltas(input).details.ledger as JsonObject[];

// In the order of the checks.
test.each<[string, unknown, string]>([
  ['a list', [], 'SCHEMA_INVALID'],
  ['no ledger', { ledger_delta: [] }, 'MISSING_REQUIRED_INPUT'],
  ['no deltas', { ledger: [] }, 'MISSING_REQUIRED_INPUT'],
  ['an unknown version', { ...on([]), schema_version: '2' }, 'UNKNOWN_SCHEMA_VERSION'],
  ['a row that is null', on([null]), 'SCHEMA_INVALID'],
  ['a row of no task', on([row('one')]), 'SCHEMA_INVALID'],
  ['a row that depends on words', on([row('T-1', 'todo', { dependencies: ['one'] })]), 'SCHEMA_INVALID'],
  ['a row with a status of its own', on([row('T-1', 'open')]), 'SCHEMA_INVALID'],
  ['a row with a negative version', on([row('T-1', 'todo', { version: -1 })]), 'SCHEMA_INVALID'],
  ['a delta that is no object', on([], 5), 'SCHEMA_INVALID'],
  [
    'a delta without an id',
    on([row('T-1')], { task_id: 'T-1', status: 'done', owner: '', reason: '' }),
    'MISSING_REQUIRED_INPUT',
  ],
  ['a blank delta_id', on([row('T-1')], delta('T-1', 'in_progress', { delta_id: ' ' })), 'SCHEMA_INVALID'],
  ['a delta of no task', on([], delta('one', 'todo', { x_create: true })), 'SCHEMA_INVALID'],
  ['an owner that is no string', on([row('T-1')], delta('T-1', 'in_progress', { owner: null })), 'SCHEMA_INVALID'],
  ['a reason that is no string', on([row('T-1')], delta('T-1', 'in_progress', { reason: 5 })), 'SCHEMA_INVALID'],
  ['an unknown status', on([row('T-1')], delta('T-1', 'started')), 'SCHEMA_INVALID'],
  [
    'a heartbeat in words',
    on([row('T-1')], delta('T-1', 'in_progress', { last_heartbeat_at: 'now' })),
    'SCHEMA_INVALID',
  ],
  ['timed_out as text', on([row('T-1')], delta('T-1', 'blocked', { timed_out: 'yes' })), 'SCHEMA_INVALID'],
  ['a wait with a fraction', on([row('T-1')], delta('T-1', 'blocked', { retry_after_ms: 1.5 })), 'SCHEMA_INVALID'],
  ['both names of the list', { ...on([row('T-1')]), deltas: [] }, 'SCHEMA_INVALID'],
  ['null under one name', { ...on([]), ledger_delta: null, deltas: [] }, 'MISSING_REQUIRED_INPUT'],
  ['bases as a list', { ...on([row('T-1')]), base_versions: [] }, 'SCHEMA_INVALID'],
  ['streams beside a stream', { ...on([row('T-1')]), streams: [] }, 'SCHEMA_INVALID'],
  ['streams as an object', { ledger: [], ledger_delta: [], streams: {} }, 'SCHEMA_INVALID'],
  ['applied deltas as text', { ...on([row('T-1')]), applied_deltas: 'd-1' }, 'SCHEMA_INVALID'],
  ['a row twice', on([row('T-1'), row('T-1')]), 'LEDGER_INCONSISTENT'],
  ['a task nobody knows, in progress', on([], delta('T-1', 'in_progress', { x_create: true })), 'LEDGER_INCONSISTENT'],
  ['a task nobody knows, without a word', on([], delta('T-1', 'todo')), 'LEDGER_INCONSISTENT'],
  ['a task to create', on([], delta('T-1', 'todo', { x_create: true })), 'OK'],
  ['a task to create, by its title', on([], delta('T-1', 'todo', { title: 'New' })), 'OK'],
  ['a create of a row that is there', on([row('T-1')], delta('T-1', 'todo', { x_create: true })), 'OK'],
  [
    'a stale version, and a move that is wrong too',
    { ...on([row('T-1', 'todo', { version: 4 })], delta('T-1', 'done')), base_versions: { 'T-1': 3 } },
    'CONCURRENCY_CONFLICT',
  ],
  [
    'the present version',
    { ...on([row('T-1', 'todo', { version: 4 })], delta('T-1', 'in_progress')), base_versions: { 'T-1': 4 } },
    'OK',
  ],
  ['a row that is gone', { ...on([], delta('T-1', 'done')), base_versions: { 'T-1': 0 } }, 'CONCURRENCY_CONFLICT'],
  ['todo → todo', on([row('T-1')], delta('T-1', 'todo', { owner: 'unassigned' })), 'INVALID_TRANSITION'],
  [
    'in_progress → in_progress',
    on([row('T-1', 'in_progress', { owner: 'a' })], delta('T-1', 'in_progress', { owner: 'a', reason: 'still' })),
    'INVALID_TRANSITION',
  ],
  [
    'blocked → blocked',
    on([row('T-1', 'blocked', { owner: 'a' })], delta('T-1', 'blocked', { owner: 'a' })),
    'INVALID_TRANSITION',
  ],
  [
    'in_progress → in_progress with another owner',
    on([row('T-1', 'in_progress', { owner: 'a' })], delta('T-1', 'in_progress', { owner: 'b' })),
    'OK',
  ],
  [
    'in_progress → in_progress with a later heartbeat',
    on(
      [row('T-1', 'in_progress', { owner: 'a' })],
      delta('T-1', 'in_progress', { owner: 'a', last_heartbeat_at: '2026-03-01T06:00:00Z' }),
    ),
    'OK',
  ],
  ['todo → done', on([row('T-1')], delta('T-1', 'done')), 'INVALID_TRANSITION'],
  ['blocked → done', on([row('T-1', 'blocked')], delta('T-1', 'done')), 'INVALID_TRANSITION'],
  ['done → failed', on([row('T-1', 'done')], delta('T-1', 'failed')), 'INVALID_TRANSITION'],
  ['blocked → todo', on([row('T-1', 'blocked')], delta('T-1', 'todo')), 'OK'],
  ['done → done', on([row('T-1', 'done')], delta('T-1', 'done')), 'OK'],
  [
    'a start with a canceled dependency',
    on([row('T-1', 'todo', { dependencies: ['T-2'] }), row('T-2', 'canceled')], delta('T-1', 'in_progress')),
    'DEPENDENCY_NOT_MET',
  ],
  [
    'a start after its dependency, in one stream',
    on(
      [row('T-1', 'todo', { dependencies: ['T-2'] }), row('T-2', 'in_progress')],
      delta('T-2', 'done'),
      delta('T-1', 'in_progress'),
    ),
    'OK',
  ],
  ['the short name of the list', { ledger: [row('T-1')], deltas: [delta('T-1', 'in_progress')] }, 'OK'],
])('%s: %#', (_what, input, code) => {
  expect(validateDeltas(input).code).toBe(code);
});

test('the short name of the list is part of the contract in strict mode too', () => {
  const input = { ledger: [row('T-1')], deltas: [delta('T-1', 'in_progress')] };
  const { code, details } = validateDeltas(input, { strict: true });
  expect([code, details.warnings]).toEqual(['OK', undefined]);
});

test('deltas apply in order, and the last one wins', () => {
  const input = on(
    [row('T-1', 'todo', { title: 'Kept' })],
    delta('T-1', 'in_progress', { owner: 'a', last_heartbeat_at: '2026-03-01T06:00:00Z' }),
    delta('T-1', 'in_progress', { owner: 'b' }),
    delta('T-1', 'blocked', { owner: 'b', reason: 'silent', timed_out: true, retry_after_ms: 100 }),
  );
  expect(rowsAfter(input)).toEqual([
    {
      task_id: 'T-1',
      title: 'Kept',
      status: 'blocked',
      owner: 'b',
      reason: 'silent',
      last_heartbeat_at: '2026-03-01T06:00:00Z',
      timed_out: true,
      retry_after_ms: 100,
      retry_count: 1,
      version: 3,
    },
  ]);
});

test('the same delta twice is applied once, in one stream or in a replay', () => {
  const start = delta('T-1', 'in_progress');
  const twice = validateDeltas(on([row('T-1')], start, { ...start }));
  expect(twice.details).toMatchObject({ applied: [start.delta_id], ignored: [start.delta_id] });
  expect(twice.details.ledger).toMatchObject([{ version: 1 }]);
  for (const applied_deltas of [[start], [start.delta_id ?? '']]) {
    const replay = validateDeltas({ ...on([row('T-1', 'in_progress')], start), applied_deltas });
    expect(replay.details).toMatchObject({ applied: [], ignored: [start.delta_id], reconcile_required: false });
  }
});

test('one id on two different deltas is a conflict, not a replay', () => {
  const start = delta('T-1', 'in_progress');
  const other = { ...start, owner: 'somebody else' };
  expect(validateDeltas(on([row('T-1')], start, other)).code).toBe('CONCURRENCY_CONFLICT');
  const [asList, asObject] = [
    { ...start, x_tags: [] },
    { ...start, x_tags: {} },
  ];
  expect(validateDeltas(on([row('T-1')], asList, asObject)).code).toBe('CONCURRENCY_CONFLICT');
  expect(validateDeltas({ ...on([row('T-1')], other), applied_deltas: [start] }).code).toBe('CONCURRENCY_CONFLICT');
});

test('saying a final status again changes neither owner nor version', () => {
  const input = on([row('T-1', 'done', { owner: 'a', version: 2 })], delta('T-1', 'done', { owner: 'b' }));
  expect(rowsAfter(input)).toEqual([{ task_id: 'T-1', status: 'done', owner: 'a', version: 2 }]);
});

test('a created row starts at version 0', () => {
  expect(rowsAfter(on([], delta('T-1', 'todo', { title: 'New', owner: 'unassigned' })))).toEqual([
    { task_id: 'T-1', title: 'New', status: 'todo', owner: 'unassigned', reason: 'because', version: 0 },
  ]);
});

test('a refused stream changes nothing and says which delta', () => {
  const verdict = validateDeltas(on([row('T-1'), row('T-2')], delta('T-1', 'in_progress'), delta('T-2', 'done')));
  expect(verdict.details).toMatchObject({ index: 1, task_id: 'T-2', from: 'todo', to: 'done' });
  expect(verdict.details.ledger).toBeUndefined();
});

const stream = (...ledger_delta: Json[]): JsonObject => ({ ledger_delta });
test.each<[string, JsonObject[], string]>([
  [
    'streams that touch different rows',
    [stream(delta('T-1', 'in_progress')), stream(delta('T-2', 'in_progress'))],
    'OK',
  ],
  [
    'streams that touch the same row',
    [stream(delta('T-1', 'in_progress')), stream(delta('T-1', 'canceled'))],
    'CONCURRENCY_CONFLICT',
  ],
  [
    'streams that create the same row',
    [stream(delta('T-9', 'todo', { x_create: true })), stream(delta('T-9', 'todo', { x_create: true }))],
    'CONCURRENCY_CONFLICT',
  ],
  [
    'a stream that knew of the other',
    [stream(delta('T-1', 'in_progress')), { ...stream(delta('T-1', 'done')), base_versions: { 'T-1': 1 } }],
    'OK',
  ],
  ['a stream that is no object', [5 as unknown as JsonObject], 'SCHEMA_INVALID'],
])('%s: %#', (_what, streams, code) => {
  expect(validateDeltas({ ledger: [row('T-1'), row('T-2')], streams }).code).toBe(code);
});

test('a replayed stream given beside itself is ignored the second time', () => {
  const same = stream(delta('T-1', 'in_progress'));
  expect(validateDeltas({ ledger: [row('T-1')], streams: [same, same] }).details).toMatchObject({
    ledger: [{ version: 1 }],
  });
});

test('a conflict names both versions', () => {
  const input = { ...on([row('T-1', 'todo', { version: 4 })], delta('T-1', 'done')), base_versions: { 'T-1': 3 } };
  expect(validateDeltas(input).details).toMatchObject({ task_id: 'T-1', expected_version: 3, actual_version: 4 });
});

test('an unmet dependency is named with its status', () => {
  const ledger = [row('T-1', 'todo', { dependencies: ['T-2', 'T-3'] }), row('T-2', 'failed')];
  expect(validateDeltas(on(ledger, delta('T-1', 'in_progress'))).details.unmet).toEqual([
    { depends_on: 'T-2', status: 'failed' },
    { depends_on: 'T-3', status: null },
  ]);
});

test('a title is refused in strict mode, where a new task says x_create', () => {
  expect(validateDeltas(on([], delta('T-1', 'todo', { title: 'New' })), { strict: true }).code).toBe('SCHEMA_INVALID');
  expect(validateDeltas(on([], delta('T-1', 'todo', { x_create: true })), { strict: true }).code).toBe('OK');
});

// The differences that decision 15 names are left out: `done` by a delta, what a claim asks for besides, and a run without open tasks.
const anyDelta = fc
  .record({
    id: fc.integer({ min: 0, max: 12 }),
    task: fc.constantFrom('T-1', 'T-2', 'T-3', 'T-4', 'T-9'),
    status: fc.constantFrom('todo', 'in_progress', 'blocked', 'failed', 'canceled'),
    owner: fc.constantFrom('ann', 'bob'),
    creates: fc.boolean(),
  })
  .map(({ id, task, status, owner, creates }) => ({
    task_id: task,
    // The row of a delta has no assignment, and the ledger starts no task without one.
    status: task === 'T-9' && status === 'in_progress' ? 'blocked' : status,
    owner,
    reason: 'because',
    delta_id: `d-${id}`,
    ...(creates ? { x_create: true } : {}),
  }));

test('the rows of a ledger get the answer of the ledger itself, and agree with each other', {
  timeout: 600_000,
}, () => {
  const codes = new Set<string>();
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.array(fc.array(anyDelta, { minLength: 1, maxLength: 5 }), { maxLength: 5 }),
      (isDone, streams) => {
        const book = openBook();
        for (const id of ['T-1', 'T-2', 'T-3', 'T-4', 'T-5']) {
          const wanted = packet(id, { dependencies: id === 'T-3' ? ['T-1'] : [] });
          book.ask({ kind: 'task.create', packet: wanted, retriesMax: 100 });
        }
        if (isDone) {
          const fence = book.start('T-1');
          book.ask({ kind: 'task.finish', task: 'T-1', fence, result: result('T-1') });
          expect(book.task('T-1').status).toBe('done');
        }
        const applied: JsonObject[] = [];
        for (const stream of streams) {
          const before = ledgerRows(book.ledger, RUN);
          const byRows = validateDeltas({ ledger: before, ledger_delta: stream, applied_deltas: applied });
          const byLedger = book.ask({ kind: 'deltas.apply', run: RUN, stream });
          codes.add(byRows.code);
          expect(byRows.code).toBe(byLedger.code);
          if (!byRows.allow) continue;
          expect(byRows.details.ignored).toEqual(byLedger.details.ignored);
          const shape = ({ task_id, status, retry_count = 0, version }: JsonObject) => ({
            task_id,
            status,
            retry_count,
            version,
          });
          const after = ledgerRows(book.ledger, RUN);
          expect((byRows.details.ledger as JsonObject[]).map(shape)).toEqual(after.map(shape));
          const ids = byRows.details.applied as string[];
          applied.push(
            ...stream.filter(
              ({ delta_id }, at) =>
                ids.includes(delta_id) && stream.findIndex((one) => one.delta_id === delta_id) === at,
            ),
          );
          expect(validateReconcile({ ledger: after, active_locks: lockRows(book.ledger, { run: RUN }) }).code).toBe(
            'OK',
          );
        }
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
  expect([...codes].sort()).toEqual([
    'CONCURRENCY_CONFLICT',
    'DEPENDENCY_NOT_MET',
    'INVALID_TRANSITION',
    'LEDGER_INCONSISTENT',
    'OK',
  ]);
});
