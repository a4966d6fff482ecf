import { expect, test } from 'vitest';
import { dialects } from '../dialects/index.ts';
import type { Request } from '../kernel/input.ts';
import { packet, RUN, result } from '../kernel/ledger/fixtures/book.ts';
import { MemoryLog } from '../log/memory.ts';
import { Decider } from './decider.ts';
import { beat, beats } from './heartbeat.ts';
import { LocalStore } from './local-store.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const S = 1000;

async function atWork() {
  const log = new MemoryLog();
  const clock = { now: START };
  const store = new LocalStore(await Decider.open(log, dialects, { now: () => clock.now }));
  const ask = (request: Request) => store.submit(request, { name: 'test' });
  await ask({ kind: 'task.create', packet: packet('T-1') });
  await ask({ kind: 'task.claim', task: 'T-1', owner: 'ann' });
  return { log, clock, store, ask };
}

const expiry: Request = { kind: 'task.expire', run: RUN, task: 'T-1', lastHeartbeatAt: null, why: 'silent' };

test('a claim has a record of its life from its first moment', async () => {
  const { log } = await atWork();
  expect([...(await beats(log))]).toEqual([[1, { run: RUN, task: 'T-1', owner: 'ann', at: START, timeoutS: 60 }]]);
});

test('a heartbeat changes the record and writes no fact', async () => {
  const { log, store } = await atWork();
  const head = await store.view('head');
  const worker = { host: 'here', pid: 7, startTime: 'then' };
  const sign = { task: 'T-1', owner: 'ann', fence: 1 };
  expect(await beat(log, { ...sign, at: START + 5, worker })).toMatchObject({ at: START + 5, worker });
  expect(await beat(log, { ...sign, at: START + 9 })).toMatchObject({ at: START + 9, worker });
  expect((await beats(log)).get(1)).toMatchObject({ at: START + 9, worker });
  expect(await beat(log, { ...sign, owner: 'bob', at: START + 10 })).toBeNull();
  expect(await beat(log, { ...sign, fence: 2, at: START + 10 })).toBeNull();
  expect((await beats(log)).size).toBe(1);
  expect(await store.view('head')).toEqual(head);
});

test('an expiry is decided on the newest heartbeat, whatever the asker knew', async () => {
  const { log, clock, ask } = await atWork();
  await beat(log, { task: 'T-1', owner: 'ann', fence: 1, at: START + 30 * S });
  clock.now = START + 61 * S;
  expect((await ask(expiry)).code).toBe('NOT_ALLOWED_NOW');
  clock.now = START + 91 * S;
  expect((await ask(expiry)).code).toBe('OK');
  expect((await beats(log)).size).toBe(0);
});

test.each<[string, Request]>([
  ['a result', { kind: 'task.finish', task: 'T-1', fence: 1, result: result('T-1') }],
  ['a person', { kind: 'task.move', task: 'T-1', to: 'canceled', reason: 'not needed' }],
  ['an owner that gives up', { kind: 'task.move', task: 'T-1', to: 'blocked', reason: 'stuck', fence: 1 }],
  ['an owner that is gone', { ...expiry, why: 'gone' }],
])('the record ends with the claim: %s', async (_, request) => {
  const { log, ask } = await atWork();
  expect((await ask(request)).allow).toBe(true);
  expect((await beats(log)).size).toBe(0);
  expect(await beat(log, { task: 'T-1', owner: 'ann', fence: 1, at: START })).toBeNull();
});

test('the next claim has a record of its own', async () => {
  const { log, ask } = await atWork();
  await ask({ kind: 'task.move', task: 'T-1', to: 'blocked', reason: 'stuck' });
  await ask({ kind: 'task.claim', task: 'T-1', owner: 'bob' });
  expect([...(await beats(log)).keys()]).toEqual([2]);
});

test('a closed run is there for whoever names it', async () => {
  const { log, ask } = await atWork();
  await ask({ kind: 'task.finish', task: 'T-1', fence: 1, result: result('T-1') });
  for (let index = 0; index < 120; index++) {
    const run = `3f56dc4d-35cf-4f97-925c-${String(index).padStart(12, '0')}`;
    await ask({ kind: 'task.create', packet: packet('T-1', { run }) });
    await ask({ kind: 'task.move', run, task: 'T-1', to: 'canceled', reason: 'x' });
  }
  const store = new LocalStore(await Decider.open(log, dialects));
  expect((await store.view('ledger')).tasks[`${RUN}/T-1`]).toBeUndefined();
  expect((await store.view('ledger', RUN)).tasks[`${RUN}/T-1`]).toMatchObject({ status: 'done', lastFence: 1 });
});

test('the ledger that is handed out is a copy', async () => {
  const { store } = await atWork();
  const copy = await store.view('ledger');
  delete copy.tasks[`${RUN}/T-1`];
  expect((await store.view('ledger')).tasks[`${RUN}/T-1`]?.status).toBe('in_progress');
});
