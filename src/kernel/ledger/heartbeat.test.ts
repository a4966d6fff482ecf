import { expect, test } from 'vitest';
import type { LedgerRequest } from './fact.ts';
import { openBook, RUN, result, START } from './fixtures/book.ts';
import { type Beat, beatAgain, beatChanges, beatName, beatOf, beatText, lastSign, lastSignAt } from './move.ts';
import { runOf } from './state.ts';

type Heartbeat = Extract<LedgerRequest, { kind: 'task.heartbeat' }>;
const sign = (over: Partial<Heartbeat> = {}): Heartbeat => {
  return { kind: 'task.heartbeat', task: 'T-1', owner: 'ann', fence: 1, ...over };
};

test.each<[string, string, (book: ReturnType<typeof openBook>) => void, Heartbeat]>([
  ['no such task', 'LEDGER_INCONSISTENT', () => undefined, sign({ task: 'T-9', owner: 'bob' })],
  ['a fence that never was', 'CONCURRENCY_CONFLICT', () => undefined, sign({ fence: 5, owner: 'bob' })],
  ['the fence of an earlier claim', 'CONCURRENCY_CONFLICT', reclaim, sign()],
  ['a task that was given up', 'CONCURRENCY_CONFLICT', (book) => void book.move('T-1', 'blocked'), sign()],
  ['a task that is done', 'CONCURRENCY_CONFLICT', finish, sign()],
  ['another owner', 'CONCURRENCY_CONFLICT', () => undefined, sign({ owner: 'bob' })],
  ['its own', 'OK', () => undefined, sign()],
])('a heartbeat with %s: %s', (_, code, before, request) => {
  const book = openBook();
  book.create('T-1');
  book.start('T-1');
  before(book);
  book.news();
  expect(book.ask(request).code).toBe(code);
  expect(book.news()).toEqual(code === 'OK' ? [] : ['task.refused']);
  if (code !== 'OK') expect(book.facts.at(-1)?.fact).toMatchObject({ asked: 'heartbeat', code });
});

function reclaim(book: ReturnType<typeof openBook>): void {
  book.move('T-1', 'blocked');
  book.start('T-1', 'ann');
}

function finish(book: ReturnType<typeof openBook>): void {
  book.ask({ kind: 'task.finish', task: 'T-1', fence: 1, result: result('T-1') });
}

test('a claim opens a record, and whatever ends the claim ends the record', () => {
  const book = openBook();
  book.create('T-1');
  const changes = () => book.facts.flatMap(({ fact, at }) => beatChanges(book.ledger, fact, at));
  book.start('T-1');
  const opened = beatText({ run: RUN, task: 'T-1', owner: 'ann', at: START, timeoutS: 60 });
  expect(changes()).toEqual([{ name: 'fence:1', value: opened }]);
  book.now = 61_000;
  book.ask({ kind: 'task.expire', task: 'T-1', lastHeartbeatAt: null, why: 'silent' });
  expect(changes().slice(1)).toEqual([{ name: 'fence:1', value: null }]);
  book.start('T-1');
  const taken = { task_id: 'T-1', status: 'in_progress', owner: 'bob', reason: 'other hands', delta_id: 'd' };
  book.ask({ kind: 'deltas.apply', run: RUN, stream: [taken] });
  expect(changes().slice(3)).toMatchObject([{ name: 'fence:2', value: null }, { name: 'fence:3' }]);
});

const held: Beat = { run: RUN, task: 'T-1', owner: 'ann', at: 100, timeoutS: 60 };
test.each<[string, Beat | null, Parameters<typeof beatAgain>[1], number | null]>([
  ['no record', null, { task: 'T-1', owner: 'ann', at: 200 }, null],
  ['another task', held, { task: 'T-2', owner: 'ann', at: 200 }, null],
  ['another owner', held, { task: 'T-1', owner: 'bob', at: 200 }, null],
  ['another run', held, { run: 'x', task: 'T-1', owner: 'ann', at: 200 }, null],
  ['the same', held, { run: RUN, task: 'T-1', owner: 'ann', at: 200 }, 200],
  ['a clock that went back', held, { task: 'T-1', owner: 'ann', at: 50 }, 100],
])('a sign of life on %s', (_, record, given, at) => {
  expect(beatAgain(record, given)?.at ?? null).toBe(at);
});

const HOUR = 3_600_000;
// What the owner's clock says at each of its signs of life, ten seconds apart; the first is that of the claim.
test.each<[string, readonly number[], number]>([
  ['is right', [0, 10, 20], 20],
  ['was set back a little', [0, 10, -5], 10],
  // How long before its first sign it was set back is not known, and counted as the most that clocks may differ.
  ['was set back by an hour', [0, 10 - 3600, 20 - 3600, 30 - 3600], 50],
  ['was set back and then right again', [0, 10 - 3600, 20], 30],
  ['was an hour ahead and is right again', [0, 10 + 3600, 20], 20],
  ['is an hour ahead', [0, 10 + 3600], 10 + 3600],
])('an owner whose clock %s, to somebody whose clock is right', (_, [first = 0, ...signs], heard) => {
  const begun: Beat = { ...held, at: HOUR + first * 1000 };
  const last = signs.reduce<Beat | null>(
    (beat, s) => beatAgain(beat, { task: 'T-1', owner: 'ann', at: HOUR + s * 1000 }),
    begun,
  );
  expect(last && lastSignAt(last, HOUR + 30_000)).toBe(HOUR + heard * 1000);
});

test.each<[string, number | null, number | null, number]>([
  ['nothing', null, null, 0],
  ['the claim', null, HOUR, HOUR],
  ['a sign of life after it', HOUR + 5, HOUR, HOUR + 5],
  ['one of an earlier claim', HOUR - 5, HOUR, HOUR],
  ['one beside a claim that the log dates ahead', HOUR, 2 * HOUR, HOUR],
])('what counts where there is %s', (_, heard, claimedAt, counts) => {
  expect(lastSign(heard, claimedAt, HOUR)).toBe(counts);
});

test.each<[string | null, boolean]>([
  [null, false],
  ['', false],
  ['5', false],
  ['{}', false],
  [beatText({ ...held, at: Number.NaN }), false],
  [beatText(held), true],
])('%j is a record: %s', (text, expected) => {
  expect(beatOf(text) !== null).toBe(expected);
});

test('a record has the name of its fence', () => {
  expect(beatName(7)).toBe('fence:7');
});

test('what was seen of a silent owner stands in the reason and in the evidence', () => {
  const book = openBook();
  book.create('T-1');
  book.start('T-1');
  const observed = 'process 7 is gone';
  book.ask({ kind: 'task.expire', task: 'T-1', lastHeartbeatAt: null, why: 'gone', observed });
  const fact = book.facts.find(({ fact: one }) => one.kind === 'task.moved')?.fact;
  expect(fact).toMatchObject({ fence: 1, evidence: { why: 'gone', observed } });
  expect(fact).toMatchObject({ reason: expect.stringContaining(observed) });
});

test('a payload that was refused at the door is written down with its code', () => {
  const book = openBook();
  const refusal = { allow: false, code: 'SCHEMA_INVALID', reason: 'no', details: {} } as const;
  const verdict = book.ask({ kind: 'task.refuse', run: RUN, task: 'T-1', asked: 'create', refusal });
  expect(verdict).toEqual(refusal);
  expect(book.facts[0]?.fact).toMatchObject({ kind: 'task.refused', run: RUN, task: 'T-1', code: 'SCHEMA_INVALID' });
});

test('an owner that is gone loses its own claim, and not that of the next one', () => {
  const book = openBook();
  book.create('T-1');
  book.start('T-1');
  reclaim(book);
  const gone = { kind: 'task.expire', task: 'T-1', lastHeartbeatAt: null, why: 'gone' } as const;
  expect(book.ask({ ...gone, fence: 1 }).code).toBe('CONCURRENCY_CONFLICT');
  expect(book.ask({ ...gone, fence: 2 }).code).toBe('OK');
});

test('the owner may call the run as its packets do', () => {
  const book = openBook();
  book.create('T-1');
  const run = runOf(book.ledger, RUN);
  if (run) run.runId = 'as in the packets';
  book.start('T-1');
  const [{ value = null } = {}] = book.facts.flatMap(({ fact, at }) => beatChanges(book.ledger, fact, at));
  const heard = (name: string) => beatAgain(beatOf(value), { run: name, task: 'T-1', owner: 'ann', at: START + 1 });
  expect([RUN, 'as in the packets', 'another'].map((name) => heard(name) !== null)).toEqual([true, true, false]);
});
