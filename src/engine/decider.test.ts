import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { faultsOf } from '../../test/conformance/chain.ts';
import { startOf } from '../../test/conformance/round.ts';
import { abort, budget, NOON, names, pause, poison, seat, unwritable } from '../../test/conformance/seat.ts';
import { graph } from '../../test/loadouts.ts';
import { dialects } from '../dialects/index.ts';
import { EXAMPLE_ASSIGNMENT } from '../dialects/operator/brief.ts';
import { resolve } from '../kernel/graph/resolve.ts';
import type { Request } from '../kernel/input.ts';
import type { JsonObject } from '../kernel/json.ts';
import { packet } from '../kernel/ledger/fixtures/book.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import { logFileIn } from '../log/sqlite/open.ts';
import { Decider } from './decider.ts';
import { LocalStore } from './local-store.ts';
import { StorageError } from './ports.ts';

vi.setConfig({ testTimeout: 60_000 });

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

test('inputs of one tick share one commit, and each is answered with its own facts', async () => {
  const { log, submit, memory } = await seat();
  const answers = await Promise.all(names(10).map((cast) => submit(startOf(cast))));
  expect(log.commits).toBe(1);
  for (const [index, { verdict, entries }] of answers.entries()) {
    expect(verdict.allow).toBe(true);
    expect(entries.map(({ fact }) => 'cast' in fact && fact.cast)).toEqual(entries.map(() => `c${index}`));
    expect(entries.map(({ fact }) => fact.kind)).toEqual(['cast.started', 'turn.started', 'attempt.started']);
  }
  expect(answers.flatMap(({ entries }) => entries)).toEqual(await memory.read({ after: 0 }));
});

test('a batch has its limit; what is left shares the next commit', async () => {
  const { log, submit } = await seat();
  await Promise.all(names(300).map((cast) => submit(startOf(cast))));
  expect(log.commits).toBe(2);
});

test('a refusal is answered in its place and costs its neighbours nothing', async () => {
  const { log, submit } = await seat();
  const verdicts = await Promise.all([startOf('a'), pause('nobody'), pause('a'), pause('a')].map(submit));
  expect(verdicts.map(({ verdict }) => verdict.code)).toEqual(['OK', 'UNKNOWN_CAST', 'OK', 'NOT_ALLOWED_NOW']);
  expect(verdicts.map(({ entries }) => entries.length)).toEqual([3, 0, 1, 0]);
  expect(log.commits).toBe(1);
});

test.each([
  ['the kernel cannot decide', poison],
  ['the log cannot hold', unwritable],
])('an input that %s fails alone', async (_, bad) => {
  const { decider, submit, memory, listen, told } = await seat();
  listen();
  const results = await Promise.allSettled([startOf('a'), bad('x'), startOf('b'), pause('a')].map(submit));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  const entries = await memory.read({ after: 0 });
  expect(
    entries.filter(({ fact }) => fact.kind === 'cast.started').map(({ fact }) => 'cast' in fact && fact.cast),
  ).toEqual(['a', 'b']);
  expect(told.map(({ seq }) => seq)).toEqual(entries.map(({ seq }) => seq));
  expect(await decider.cast('x')).toBeNull();
  expect((await decider.cast('a'))?.status).toBe('paused');
  expect((await submit(startOf('x'))).verdict.allow).toBe(true);
  expect(faultsOf(await memory.lines(0, 1000))).toEqual([]);
});

test('a failing commit leaves the state as it was, and the next one works', async () => {
  const { decider, log, submit, memory } = await seat();
  await submit(startOf('a'));
  const before = await decider.cast('a');
  const head = await memory.head();
  const full = new StorageError('STORAGE_FAILED', 'the disk is full');
  log.failNextCommit(full);
  await expect(submit(pause('a'))).rejects.toBe(full);
  expect(await decider.cast('a')).toEqual(before);
  expect(await memory.head()).toEqual(head);
  expect((await submit(pause('a'))).verdict.allow).toBe(true);
  expect((await decider.cast('a'))?.status).toBe('paused');
});

test('a fault of the storage is told to the whole batch at once, not tried again for each', async () => {
  const { log, submit, kinds } = await seat();
  const full = new StorageError('STORAGE_FAILED', 'the disk is full');
  log.failNextCommit(full);
  const results = await Promise.allSettled([startOf('a'), startOf('b')].map(submit));
  expect(results).toEqual([
    { status: 'rejected', reason: full },
    { status: 'rejected', reason: full },
  ]);
  expect(log.commits).toBe(1);
  expect(await kinds()).toEqual([]);
});

test('a state that could not be read anew after a failure is not worked with', async () => {
  const { decider, log, submit } = await seat();
  await submit(startOf('a'));
  log.failNextCommit(new Error('first'));
  log.readFault = new StorageError('STORAGE_FAILED', 'the disk is gone');
  await expect(submit(pause('a'))).rejects.toThrow('first');
  await expect(decider.cast('a')).rejects.toThrow('the disk is gone');
  await expect(submit(pause('a'))).rejects.toThrow('the disk is gone');
  log.readFault = null;
  expect((await decider.cast('a'))?.status).toBe('running');
  expect((await submit(pause('a'))).verdict.allow).toBe(true);
});

test('what others append while a commit fails is still told, once and in order', async () => {
  const { log, submit, listen, told, memory } = await seat();
  const other = await seat({ memory });
  listen();
  await submit(startOf('a'));
  log.beforeCommit(() => other.submit(startOf('b')));
  log.failNextCommit(new StorageError('STORAGE_FAILED', 'the disk is full'));
  await expect(submit(pause('a'))).rejects.toThrow('full');
  await submit(pause('b'));
  expect(told.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test('a decision rests on what others appended a moment ago', async () => {
  const one = await seat();
  const other = await seat({ memory: one.memory });
  one.listen();
  await one.submit(startOf('a'));
  one.log.beforeCommit(() => other.submit(abort('a')));
  expect((await one.submit(pause('a'))).verdict.code).toBe('NOT_ALLOWED_NOW');
  expect(one.told.map(({ fact }) => fact.kind)).toEqual([
    'cast.started',
    'turn.started',
    'attempt.started',
    'cast.aborted',
  ]);
  expect((await other.decider.cast('a'))?.status).toBe('aborted');
});

test('what others append is taken in and told, also when nothing is submitted here', async () => {
  const one = await seat();
  const other = await seat({ memory: one.memory });
  one.listen();
  await other.submit(startOf('a'));
  await one.decider.sync();
  expect(one.decider.statusOf('a')).toBe('running');
  expect(one.told.map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

test('a listener that throws is made known and harms nobody', async () => {
  const raised: (() => void)[] = [];
  vi.stubGlobal('queueMicrotask', (task: () => void) => raised.push(task));
  const { decider, submit, listen, told, kinds } = await seat();
  decider.listen(() => {
    throw new Error('mine');
  });
  listen();
  const answers = await Promise.all([startOf('a'), budget('a', 10)].map(submit));
  vi.unstubAllGlobals();
  expect(answers.map(({ verdict }) => verdict.code)).toEqual(['OK', 'OK']);
  expect(told).toHaveLength(4);
  expect(await kinds()).toHaveLength(4);
  expect(raised).toHaveLength(1);
  expect(raised[0]).toThrow('mine');
});

test('time does not run backwards when a clock does', async () => {
  let time = NOON;
  const { submit, memory } = await seat({ now: () => time });
  await submit(startOf('a'));
  time = NOON - 60_000;
  const other = await seat({ memory, now: () => time });
  await submit(pause('a'));
  await other.submit(startOf('b'));
  const entries = await memory.read({ after: 0 });
  expect(new Set(entries.map(({ at }) => at))).toEqual(new Set(['2026-01-01T12:00:00.000Z']));
});

test('a clock that is ahead dates what it wrote and nobody else’s deeds; what is read back is what was', async () => {
  let time = NOON;
  const { decider, submit, memory } = await seat({ now: () => time });
  await submit(startOf('a'));
  time = NOON + 7_200_000;
  const ahead = await seat({ memory, now: () => time });
  await ahead.submit(startOf('x'));
  time = NOON + 5_000;
  const { entries } = await submit(pause('a'));
  expect(entries).toMatchObject([{ at: '2026-01-01T14:00:00.000Z', clock: '2026-01-01T12:00:05.000Z' }]);
  const live = await decider.cast('a');
  expect(live?.clock).toMatchObject({ startedAt: NOON, elapsedMs: 5_000 });
  const again = await seat({ memory, now: () => time });
  expect(await again.decider.cast('a')).toEqual(live);
});

test('a copy of a cast does not change with the cast', async () => {
  const { decider, submit } = await seat();
  await submit(startOf('a'));
  const copy = await decider.cast('a');
  await submit(pause('a'));
  expect(copy?.status).toBe('running');
});

test.each(['constructor', '__proto__', 'toString', ''])(
  'there is no cast called %s unless somebody started it',
  async (id) => {
    const { decider } = await seat();
    expect(await decider.cast(id)).toBeNull();
    expect(decider.statusOf(id)).toBeNull();
    expect(decider.owed(id, () => true)).toEqual([]);
  },
);

test('ended casts are forgotten in time and read back when somebody asks', async () => {
  const { decider, log, submit } = await seat();
  await Promise.all(names(130).map((cast) => submit(startOf(cast))));
  await Promise.all(names(130).map((cast) => submit(abort(cast))));
  expect(decider.statusOf('c0')).toBeNull();
  expect(decider.statusOf('c129')).toBe('aborted');
  log.reads.length = 0;
  expect(await decider.cast('c0')).toMatchObject({ id: 'c0', status: 'aborted', turnsStarted: 1 });
  expect(log.reads.filter(({ cast }) => cast === 'c0')).toHaveLength(1);
  expect((await submit({ kind: 'cast.recast', cast: 'c1' })).verdict.allow).toBe(true);
  expect((await decider.cast('c1'))?.status).toBe('running');
});

test('a followed cast is not forgotten: when somebody carries it on, its follower hears of it', async () => {
  const { decider, submit, memory } = await seat();
  const other = await seat({ memory });
  await submit(startOf('old'));
  await submit(abort('old'));
  const heard: string[] = [];
  const store = new LocalStore(decider);
  await store.watchCast('old', false, ({ status }) => heard.push(status));
  await Promise.all(names(130).map((cast) => submit(startOf(cast))));
  await Promise.all(names(130).map((cast) => submit(abort(cast))));
  await other.submit({ kind: 'cast.recast', cast: 'old' });
  await decider.sync();
  expect(heard.at(-1)).toBe('running');
});

test('a closed decider refuses instead of keeping anybody waiting', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-decider-'));
  folders.push(folder);
  const decider = await Decider.open(new SqliteLog(logFileIn(folder)), dialects);
  const last = decider.submit(startOf('a'), 'test');
  await decider.close();
  expect((await last).verdict.allow).toBe(true);
  await expect(decider.submit(startOf('b'), 'test')).rejects.toThrow();
  await expect(decider.cast('a')).rejects.toThrow();
});

test('half a character in an answer does not stop a cast', async () => {
  const { decider, submit, memory } = await seat();
  const output = `Built \ud800. ${'More. '.repeat(100)}\udfff`;
  await submit(startOf('a'));
  expect((await submit({ kind: 'attempt.output', cast: 'a', turn: 1, attempt: 1, output })).verdict.allow).toBe(true);
  const other = await seat({ memory });
  expect(await other.decider.cast('a')).toEqual(await decider.cast('a'));
});

const WRITER = graph({ 'Socket-1': { materia: 'Write' } });
const writer = (cast: string): Request => ({
  kind: 'cast.start',
  cast,
  request: 'write',
  loadout: 'Flow',
  rules: resolve(WRITER, 'Flow'),
  script: { Write: ['x', '$repeat'] },
});

test('a cast that was forgotten here and is carried on elsewhere has its paths again, for us too', async () => {
  const one = await seat();
  await one.submit(writer('first'));
  await one.submit(abort('first'));
  for (const cast of names(120)) {
    await one.submit(startOf(cast));
    await one.submit(abort(cast));
  }
  const other = await seat({ memory: one.memory });
  await other.submit({ kind: 'cast.recast', cast: 'first' });
  await one.submit(writer('second'));
  const second = await one.decider.cast('second');
  expect(second?.turns[1]).toMatchObject({ phase: 'held', held: { code: 'LOCK_CONFLICT' } });
});

test('a run that was over and forgotten is whole again when somebody adds a task to it', async () => {
  const one = await seat();
  const runs = Array.from(
    { length: 110 },
    (_, index) => `${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`,
  );
  const create = (run_id: string, task_id: string, over: JsonObject = {}) => ({
    kind: 'task.create' as const,
    packet: { ...EXAMPLE_ASSIGNMENT, run_id, task: { ...(EXAMPLE_ASSIGNMENT.task as JsonObject), task_id, ...over } },
  });
  for (const run of runs) {
    await one.submit(create(run, 'T-1'));
    await one.submit({ kind: 'task.move', run, task: 'T-1', to: 'canceled', reason: 'no' });
  }
  const [first = ''] = runs;
  const other = await seat({ memory: one.memory });
  await other.submit(create(first, 'T-2', { dependencies: ['T-1'] }));
  const { verdict } = await one.submit({ kind: 'task.claim', run: first, task: 'T-2', owner: 'me' });
  expect([verdict.code, verdict.details.dead]).toEqual(['DEPENDENCY_NOT_MET', ['T-1']]);
});

test('an input that asks about what an earlier one of its batch began is decided with it', async () => {
  const { log, submit } = await seat();
  const answers = await Promise.all(
    [
      { kind: 'task.create', packet: packet('T-1') } as const,
      { kind: 'task.claim', task: 'T-1', owner: 'ann' } as const,
      // The record of the new claim is no row that was fetched for the batch.
      { kind: 'task.expire', task: 'T-1', lastHeartbeatAt: null, why: 'silent' } as const,
    ].map(submit),
  );
  expect(answers.map(({ verdict }) => verdict.code)).toEqual(['OK', 'OK', 'NOT_ALLOWED_NOW']);
  expect(log.commits).toBe(2);
});
