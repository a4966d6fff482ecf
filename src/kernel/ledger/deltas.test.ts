import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import type { LedgerRequest } from './fact.ts';
import { type Book, openBook, packet, RUN, START } from './fixtures/book.ts';

type Apply = Extract<LedgerRequest, { kind: 'deltas.apply' }>;
let count = 0;
const delta = (task: string, status: string, over: JsonObject = {}): JsonObject => {
  count += 1;
  return { task_id: task, status, owner: 'ann', reason: 'planned', delta_id: `d-${count}`, ...over };
};
const apply = (stream: readonly JsonObject[], over: Partial<Apply> = {}): Apply => {
  return { kind: 'deltas.apply', run: RUN, stream, ...over };
};

function planned(...ids: string[]): Book {
  const book = openBook();
  for (const id of ids) book.create(id);
  book.news();
  return book;
}

test('deltas are applied in their order, and the last one wins', () => {
  const book = planned('T-1');
  const stream = [delta('T-1', 'todo', { owner: 'a' }), delta('T-1', 'todo', { owner: 'b', reason: 'second' })];
  expect(book.ask(apply(stream))).toMatchObject({ allow: true, details: { reconcile_required: true, ignored: [] } });
  expect(book.task('T-1')).toMatchObject({ status: 'todo', owner: 'b', reason: 'second', version: 2 });
  expect(book.news()).toEqual(['task.moved', 'task.moved', 'deltas.applied']);
});

/** Each stream begins with a good delta, of which nothing may remain. */
test('a stream says which tasks it started, and under which tokens', () => {
  const book = openBook();
  for (const id of ['T-1', 'T-2', 'T-3']) book.create(id);
  const stream = [delta('T-1', 'in_progress'), delta('T-2', 'blocked'), delta('T-3', 'in_progress')];
  expect(book.ask(apply(stream)).details.claimed).toMatchObject([
    { task: 'T-1', fence: 1, root: 'main' },
    { task: 'T-3', fence: 2, root: 'main' },
  ]);
});

test.each<[string, string, readonly JsonObject[], Partial<Apply>]>([
  ['an id used for something else', 'CONCURRENCY_CONFLICT', [delta('T-9', 'done', { delta_id: 'used' })], {}],
  ['a row that has moved', 'CONCURRENCY_CONFLICT', [delta('T-1', 'done')], { baseVersions: { 'T-1': 5 } }],
  ['a row that is gone', 'CONCURRENCY_CONFLICT', [delta('T-9', 'done')], { baseVersions: { 'T-9': 5 } }],
  ['no such row', 'LEDGER_INCONSISTENT', [delta('T-9', 'in_progress')], {}],
  ['no such row, and no word that it is new', 'LEDGER_INCONSISTENT', [delta('T-9', 'todo')], {}],
  ['a new row that is not to do', 'LEDGER_INCONSISTENT', [delta('T-9', 'blocked', { x_create: true })], {}],
  ['a status that is none', 'SCHEMA_INVALID', [delta('T-1', 'paused')], {}],
  ['no such move', 'INVALID_TRANSITION', [delta('T-1', 'done')], {}],
  ['a task that starts without an owner', 'MISSING_REQUIRED_INPUT', [delta('T-1', 'in_progress', { owner: '' })], {}],
  ['a task whose dependency is open', 'DEPENDENCY_NOT_MET', [delta('T-4', 'in_progress')], {}],
  ['a task whose paths are taken', 'LOCK_CONFLICT', [delta('T-3', 'in_progress')], {}],
  [
    'a task that is done without a result',
    'ACCEPTANCE_FAILED',
    [delta('T-1', 'in_progress'), delta('T-1', 'done')],
    {},
  ],
])('a stream with %s is refused as a whole: %s', (_, code, stream, over) => {
  const book = planned('T-1', 'T-2');
  book.create('T-3', { lock_scope: ['work'] });
  book.create('T-4', { dependencies: ['T-1'] });
  book.ask(apply([delta('T-2', 'in_progress', { delta_id: 'used' })]));
  const before = JSON.stringify([book.ledger.tasks, book.ledger.locks, book.ledger.fence]);
  book.news();
  const good = delta('T-2', 'blocked', { delta_id: 'good', ...{ timed_out: true } });
  const stays = code === 'LOCK_CONFLICT' ? [] : [good];
  expect(book.ask(apply([...stays, ...stream], over))).toMatchObject({ allow: false, code });
  expect(book.news()).toEqual(['task.refused']);
  const after = [book.ledger.tasks, book.ledger.locks, book.ledger.fence];
  if (code !== 'LOCK_CONFLICT') expect(JSON.stringify(after)).toBe(before);
  expect(book.task('T-2').status).toBe('in_progress');
  expect(book.ask(apply([good])).details.applied).toEqual(['good']);
});

test('a delta that was applied before is ignored, whatever the order of its members', () => {
  const book = planned('T-1');
  const one = delta('T-1', 'blocked');
  book.ask(apply([one, one]));
  const before = JSON.stringify(book.ledger);
  const turned = Object.fromEntries(Object.entries(one).reverse());
  book.news();
  expect(book.ask(apply([turned]))).toMatchObject({ allow: true, details: { applied: [], ignored: [one.delta_id] } });
  expect([book.news(), JSON.stringify(book.ledger)]).toEqual([[], before]);
  expect(book.task('T-1').version).toBe(1);
});

test('of a run in which nothing is open the ids of the deltas are kept, not their texts', () => {
  const book = openBook();
  const stream = [delta('T-1', 'todo', { x_create: true }), delta('T-1', 'blocked'), delta('T-1', 'canceled')];
  expect(book.ask(apply(stream)).code).toBe('OK');
  const run = book.ledger.runs[`${RUN}/`];
  expect([run?.open, run?.deltas, Object.keys(run?.pastDeltas ?? {}).length]).toEqual([0, {}, 3]);
  expect(book.ask(apply(stream)).details).toMatchObject({ applied: [] });
  expect(book.ask(apply([delta('T-1', 'canceled')]))).toMatchObject({ allow: true });
  expect(book.facts.at(-2)?.fact).toMatchObject({ kind: 'task.moved', replay: true });
  expect(book.task('T-1').version).toBe(2);
});

test('a row that only a delta announced is worked on by nobody, and a delta alone makes nothing done', () => {
  const book = openBook();
  book.ask(apply([delta('T-1', 'todo', { x_create: true })]));
  expect(book.claim('T-1')).toMatchObject({ code: 'MISSING_REQUIRED_INPUT', details: { missing: ['assignment'] } });
  expect(book.ask(apply([delta('T-1', 'in_progress', { delta_id: 'x' })])).code).toBe('MISSING_REQUIRED_INPUT');
  expect(book.ask({ kind: 'task.next', owner: 'ann' })).toMatchObject({
    code: 'NOT_ALLOWED_NOW',
    details: { unassigned: ['T-1'] },
  });
  book.create('T-1', { acceptance_criteria: [] });
  book.start('T-1');
  expect(book.ask(apply([delta('T-1', 'done', { delta_id: 'y' })])).code).toBe('ACCEPTANCE_FAILED');
  expect(book.task('T-1').status).toBe('in_progress');
});

test('a run that is closed by hand forgets the texts as well', () => {
  const book = planned('T-1');
  book.ask(apply([delta('T-1', 'blocked')]));
  book.move('T-1', 'canceled');
  expect(book.ledger.runs[`${RUN}/`]?.deltas).toEqual({});
});

test('ids that every object has are ids like any other', () => {
  const book = planned('T-1');
  const stream = ['__proto__', 'constructor'].map((id) => delta('T-1', 'todo', { delta_id: id, owner: id }));
  expect(book.ask(apply(stream)).details.applied).toHaveLength(2);
  expect(book.ask(apply(stream)).details.ignored).toHaveLength(2);
});

test('a delta can create a row by saying so or by bringing a title', () => {
  const book = openBook();
  const stream = [
    delta('T-1', 'todo', { x_create: true, retry_after_ms: 70 }),
    delta('T-2', 'todo', { title: 'Second' }),
  ];
  expect(book.ask(apply(stream)).code).toBe('OK');
  expect(book.task('T-1')).toMatchObject({ title: 'T-1', version: 0, owner: 'ann', notBefore: START + 70 });
  expect(book.task('T-2')).toMatchObject({ title: 'Second', assigned: false });
});

test('the versions from which a stream was computed are those before its first delta', () => {
  const book = planned('T-1', 'T-2');
  const twice = () => [delta('T-1', 'blocked'), delta('T-1', 'todo')];
  expect(book.ask(apply(twice(), { baseVersions: { 'T-1': 0 } })).code).toBe('OK');
  expect(book.ask(apply(twice(), { baseVersions: { 'T-1': 0 } }))).toMatchObject({
    code: 'CONCURRENCY_CONFLICT',
    details: { index: 0, task: 'T-1', expected_version: 0, actual_version: 2 },
  });
  expect(book.ask(apply([delta('T-2', 'blocked')], { baseVersions: { 'T-1': 0, 'T-2': 0 } })).code).toBe('OK');
});

test('a stream may free paths and take them, in that order only', () => {
  const book = planned();
  book.create('T-1', { lock_scope: ['src'] });
  book.create('T-2', { lock_scope: ['src/a'] });
  book.start('T-1');
  expect(book.ask(apply([delta('T-2', 'in_progress'), delta('T-1', 'blocked')])).code).toBe('LOCK_CONFLICT');
  expect(book.ask(apply([delta('T-1', 'blocked'), delta('T-2', 'in_progress')])).code).toBe('OK');
  expect(Object.keys(book.ledger.locks.held)).toEqual([`${RUN}/T-2`]);
  expect(book.task('T-2')).toMatchObject({ fence: 2, owner: 'ann' });
});

test('a stream meets the locks and the queue of other runs', () => {
  const book = planned('T-1');
  for (const [id, scope] of [
    ['T-7', 'work/T-1/x'],
    ['T-8', 'work'],
  ] as const) {
    book.ask({ kind: 'task.create', packet: packet(id, { run: 'other', lock_scope: [scope] }) });
  }
  book.start('T-7', 'eve');
  expect(book.ask(apply([delta('T-1', 'in_progress')]))).toMatchObject({
    code: 'LOCK_CONFLICT',
    details: { index: 0, holder: { run: 'other', task: 'T-7', owner: 'eve', path: 'work/T-1/x' } },
  });
  for (let times = 0; times < 3; times++) book.claim('T-8');
  book.move('T-7', 'canceled');
  expect(book.ask(apply([delta('T-1', 'in_progress')])).details.reservedFor).toMatchObject({ task: 'T-8' });
});

test('a lock that the stream frees does not hide one that it does not', () => {
  const book = planned();
  book.create('T-1', { lock_scope: ['src/a'] });
  book.create('T-2', { lock_scope: ['src'] });
  book.ask({ kind: 'task.create', packet: packet('T-7', { run: 'other', lock_scope: ['src/b'] }) });
  book.start('T-7');
  book.start('T-1');
  expect(book.ask(apply([delta('T-1', 'blocked'), delta('T-2', 'in_progress')]))).toMatchObject({
    code: 'LOCK_CONFLICT',
    details: { index: 1, holder: { run: 'other', task: 'T-7' } },
  });
});

test('another owner for a task in progress is a new claim; the same one again may say that it was heard of', () => {
  const book = planned('T-1');
  const fence = book.start('T-1', 'ann');
  book.ask(apply([delta('T-1', 'in_progress', { reason: 'still', last_heartbeat_at: '2026-03-01T06:00:00Z' })]));
  expect(book.task('T-1')).toMatchObject({ fence, reason: 'still', version: 2 });
  book.ask(apply([delta('T-1', 'in_progress', { owner: 'bob' })]));
  expect(book.task('T-1')).toMatchObject({ fence: fence + 1, owner: 'bob', version: 3 });
  expect(book.ledger.runs[`${RUN}/`]?.running).toBe(1);
  expect(book.ledger.locks.held[`${RUN}/T-1`]).toHaveLength(1);
  expect(book.ask(apply([delta('T-1', 'in_progress', { owner: ' ' })])).code).toBe('MISSING_REQUIRED_INPUT');
});

test.each<[string, JsonObject, string]>([
  ['todo', { owner: 'unassigned' }, 'INVALID_TRANSITION'],
  ['todo', { owner: 'unassigned', x_create: true }, 'OK'],
  ['todo', { owner: 'ann' }, 'OK'],
  ['todo', { owner: 'unassigned', retry_after_ms: 100 }, 'OK'],
  ['in_progress', { owner: 'ann' }, 'INVALID_TRANSITION'],
  ['in_progress', { owner: 'bob' }, 'OK'],
  ['blocked', { owner: 'ann' }, 'INVALID_TRANSITION'],
  ['blocked', { owner: 'ann', x_code: 'LOCK_CONFLICT' }, 'OK'],
])('a delta that says %s again with %j: %s', (status, over, code) => {
  const book = planned('T-1');
  if (status !== 'todo') book.start('T-1', 'ann');
  if (status === 'blocked') book.move('T-1', 'blocked');
  expect(book.ask(apply([delta('T-1', status, { reason: 'again', ...over })])).code).toBe(code);
});

test.each<[JsonObject, JsonObject[], string]>([
  [{}, [{ task_id: 'T-1', code: 'TASK_TIMEOUT', x_code: 'AGENT_FAILED', reason: 'x' }], 'AGENT_FAILED'],
  [{ timed_out: true }, [], 'TASK_TIMEOUT'],
  [{ x_code: 'NON_COMPLIANT', timed_out: true }, [], 'NON_COMPLIANT'],
  [{}, [{ task_id: 'T-1', code: 'LOCK_CONFLICT', reason: 'x' }], 'LOCK_CONFLICT'],
  [{}, [], 'MISSING_REQUIRED_INPUT'],
])('a delta that blocks, with %j and %j, has the code %s', (over, blockers, code) => {
  const book = planned('T-1');
  book.ask(apply([delta('T-1', 'blocked', over)], { blockers }));
  expect(book.task('T-1')).toMatchObject({ code, retries: 1 });
  book.ask(apply([delta('T-1', 'blocked', { owner: 'somebody' })]));
  expect(book.task('T-1')).toMatchObject({ code, retries: 1, version: 2 });
});

test.each<[JsonObject[], string]>([
  [[{ task_id: 'T-1', code: 'TASK_TIMEOUT', reason: 'the database is down' }], 'the database is down'],
  [[{ task_id: 'T-2', code: 'TASK_TIMEOUT', reason: 'the database is down' }], 'stuck'],
  [[{ task_id: 'T-1', code: 'TASK_TIMEOUT' }], 'stuck'],
])('a delta that blocks beside the blockers %j gives the reason %j', (blockers, reason) => {
  const book = planned('T-1');
  book.ask(apply([delta('T-1', 'blocked', { reason: 'stuck' })], { blockers }));
  expect(book.task('T-1').reason).toBe(reason);
});
