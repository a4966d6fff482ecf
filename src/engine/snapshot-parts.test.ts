// What a snapshot in parts promises: read part by part it is the same state, and a part is read only when it is asked for.
import { expect, test } from 'vitest';
import { dialects } from '../dialects/index.ts';
import { decide } from '../kernel/decide.ts';
import type { Request } from '../kernel/input.ts';
import { packet } from '../kernel/ledger/fixtures/book.ts';
import { PRIORITIES } from '../kernel/ledger/state.ts';
import { emptyState, type State } from '../kernel/state.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { MemoryLog } from '../log/memory.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import type { Log } from './ports.ts';
import { factOf, restore, takeSnapshot } from './snapshot.ts';
import { PartGone } from './snapshot-parts.ts';

let at = 0;

function ask(state: State, request: Request): Verdict {
  at += 1;
  return decide(dialects, state, { ...request, at, by: 'test' } as never).verdict;
}

/** So many tasks; every third waits for the one before it. */
function withTasks(count: number): State {
  const state = emptyState();
  for (let index = 1; index <= count; index++) create(state, index);
  return state;
}

function create(state: State, index: number): void {
  const task_id = `T-${index}`;
  const verdict = ask(state, {
    kind: 'task.create',
    packet: packet(task_id, {
      priority: PRIORITIES[index % PRIORITIES.length] ?? 'normal',
      lock_scope: [`src/p${index % 10}/${index}.ts`],
      dependencies: index % 3 === 0 ? [`T-${index - 1}`] : [],
    }),
  });
  expect(verdict.code).toBe('OK');
}

async function save(log: Log, state: State): Promise<void> {
  const { seq } = await log.head();
  const { snapshot, below } = takeSnapshot(state, seq);
  await log.commit(seq, { decide: () => [{ fact: factOf(snapshot), by: 'test', at }] });
  await log.saveSnapshot(snapshot, below);
}

async function stateIn(log: Log, whole = false): Promise<State> {
  const restored = await restore(log, { whole });
  if (!restored) throw new Error('the snapshot is not believed');
  return restored.state;
}

/** Without the order of keys, which means nothing. */
const plain = (state: State) => JSON.parse(JSON.stringify(state)) as unknown;

const REQUESTS: readonly ((index: number) => Request)[] = [
  (index) => ({ kind: 'task.claim', task: `T-${index}`, owner: 'ann' }),
  () => ({ kind: 'task.next', owner: 'bob' }),
  (index) => ({ kind: 'task.move', task: `T-${index}`, to: 'blocked', reason: 'given back' }),
  (index) => ({ kind: 'task.move', task: `T-${index}`, to: 'todo', reason: 'again' }),
  (index) => ({ kind: 'task.move', task: `T-${index}`, to: 'canceled', reason: 'not wanted' }),
];

const LOGS: readonly [string, () => Log][] = [
  ['in memory', () => new MemoryLog()],
  ['in SQLite', () => new SqliteLog(':memory:')],
];

test.each(LOGS)('a state that is read part by part decides as the whole one does: %s', async (_, newLog) => {
  const log = newLog();
  const live = withTasks(400);
  await save(log, live);
  let random = 7;
  const pick = (max: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % max;
  };
  for (let round = 0; round < 6; round++) {
    const parts = await stateIn(log);
    for (let step = 0; step < 40; step++) {
      const request = (REQUESTS[pick(REQUESTS.length)] as (typeof REQUESTS)[number])(1 + pick(400));
      const now = at;
      const verdict = ask(live, request);
      at = now;
      expect(ask(parts, request)).toEqual(verdict);
    }
    const now = at;
    create(live, 401 + round);
    at = now;
    create(parts, 401 + round);
    // What was never read is taken over as it is.
    await save(log, parts);
    expect(plain(await stateIn(log, true))).toEqual(plain(live));
    expect(plain(await stateIn(log))).toEqual(plain(live));
  }
  await log.close();
});

test('a claim and a search read little of many tasks', async () => {
  const log = new CountingLog();
  await save(log, withTasks(2_000));
  const state = await stateIn(log);
  expect(ask(state, { kind: 'task.claim', task: 'T-10', owner: 'ann' }).code).toBe('OK');
  expect(ask(state, { kind: 'task.next', owner: 'ann' }).code).toBe('OK');
  const { chars } = log;
  await stateIn(log, true);
  expect(chars).toBeLessThan((log.chars - chars) / 15);
});

test('a new snapshot writes what was read, and drops what nobody names', async () => {
  const log = new SqliteLog(':memory:');
  await save(log, withTasks(1_000));
  const state = await stateIn(log);
  ask(state, { kind: 'task.claim', task: 'T-10', owner: 'ann' });
  const all = takeSnapshot(await stateIn(log, true), 1).below.parts.size;
  const { below } = takeSnapshot(state, 1);
  expect(below.parts.size).toBeLessThan(all / 5);
  const old = await stateIn(log);
  await save(log, state);
  expect(() => plain(old)).toThrow(PartGone);
  await log.close();
});

test('a snapshot that names a part which is gone is not kept', async () => {
  const log = new SqliteLog(':memory:');
  await save(log, withTasks(1_000));
  const state = await stateIn(log);
  ask(state, { kind: 'task.claim', task: 'T-10', owner: 'ann' });
  const { snapshot, below } = takeSnapshot(state, 9);
  await save(log, withTasks(5));
  const before = await log.snapshot();
  await expect(log.saveSnapshot(snapshot, below)).rejects.toThrow('a part that the snapshot names');
  expect(await log.snapshot()).toEqual(before);
  await log.close();
});

class CountingLog extends MemoryLog {
  chars = 0;

  override snapshotPart(digest: string): string | null {
    const part = super.snapshotPart(digest);
    this.chars += part?.length ?? 0;
    return part;
  }
}
