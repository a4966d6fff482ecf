// The running time of casts that are driven, with a clock that is set while they run and one that cannot be set.
import { expect, onTestFinished, test } from 'vitest';
import { startOf } from '../../test/conformance/round.ts';
import { dialects } from '../dialects/index.ts';
import type { Request } from '../kernel/input.ts';
import { MemoryLog } from '../log/memory.ts';
import { Decider } from './decider.ts';
import { Engine } from './drive.ts';
import { thisDriver } from './lease.ts';
import { LocalStore } from './local-store.ts';
import type { Runner } from './ports.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LIMIT = { timeout: 60_000 };

/** Two clocks: `set` moves one of them, time that passes moves both. */
function clocks() {
  let [wall, ticks] = [1_800_000_000_000, 5_000];
  return {
    now: () => wall,
    ticks: () => ticks,
    set(ms: number) {
      wall += ms;
    },
    pass(ms: number) {
      wall += ms;
      ticks += ms;
    },
  };
}

async function driven(clock = clocks(), log = new MemoryLog()) {
  const open = async () => {
    const store = new LocalStore(await Decider.open(log, dialects, { now: clock.now, ticks: clock.ticks }));
    onTestFinished(() => store.close());
    return store;
  };
  const [store, other] = [await open(), await open()];
  const submit = (request: Request, by = store) => by.submit(request, { name: 'test' });
  const elapsed = async () => (await other.view('cast', 'c'))?.clock.elapsedMs;
  return { clock, log, store, other, open, submit, elapsed };
}

const pause: Request = { kind: 'cast.pause', cast: 'c', reason: 'x' };
const abort: Request = { kind: 'cast.abort', cast: 'c', reason: 'x' };
const output: Request = { kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'Built.' };

test.each([
  ['forward', DAY],
  ['back', -DAY],
])('the clock is set a day %s: a cast has run for as long as its driver measured', async (_, jump) => {
  const { clock, store, submit, elapsed } = await driven();
  await store.lease('takeCast', 'c', thisDriver());
  clock.pass(7_000);
  await submit(startOf('c'));
  clock.pass(60_000);
  clock.set(jump);
  await submit(output);
  expect(await elapsed()).toBe(60_000);
  clock.set(-2 * jump);
  clock.pass(1_000);
  await submit(pause);
  expect(await elapsed()).toBe(61_000);
  clock.pass(HOUR);
  await submit({ kind: 'cast.resume', cast: 'c', reason: 'back' });
  clock.pass(500);
  await submit(abort);
  expect(await elapsed()).toBe(61_500);
});

test('two inputs of one commit count their time once', async () => {
  const { clock, store, submit, elapsed } = await driven();
  await store.lease('takeCast', 'c', thisDriver());
  await submit(startOf('c'));
  clock.pass(2_000);
  await Promise.all([submit({ kind: 'budget.change', cast: 'c', maxTokens: 9 }), submit(pause)]);
  expect(await elapsed()).toBe(2_000);
});

test('who stops a cast from outside goes by the lease, whatever the clock says', async () => {
  const { clock, store, other, submit, elapsed } = await driven();
  await submit(startOf('c'));
  await store.lease('takeCast', 'c', thisDriver());
  clock.pass(30_000);
  await store.renewLeases();
  clock.set(DAY);
  await submit(abort, other);
  expect(await elapsed()).toBe(30_000);
});

test('the next driver counts what the one before it measured and did not record, and not the time between them', async () => {
  const { clock, store, open, submit, elapsed } = await driven();
  await submit(startOf('c'));
  await store.lease('takeCast', 'c', { ...thisDriver(), pid: 4_000_000 });
  clock.pass(30_000);
  await store.renewLeases();
  clock.pass(DAY);
  const next = await open();
  expect(await next.lease('takeCast', 'c', thisDriver())).toMatchObject({
    after: { pid: 4_000_000 },
    elapsedMs: 30_000,
  });
  clock.pass(2_000);
  await submit(pause, next);
  expect(await elapsed()).toBe(32_000);
});

test('who gave a cast up counts its time no more', async () => {
  const { clock, store, other, submit, elapsed } = await driven();
  await store.lease('takeCast', 'c', thisDriver());
  await submit(startOf('c'));
  clock.pass(2_000);
  await submit({ kind: 'budget.change', cast: 'c', maxTokens: 9 });
  await store.lease('releaseCast', 'c', thisDriver());
  clock.pass(HOUR);
  await other.lease('takeCast', 'c', thisDriver());
  clock.pass(1_000);
  await other.renewLeases();
  await submit(abort);
  expect(await elapsed()).toBe(3_000);
});

/** An engine whose only agent never answers, on a cast that may run for this long. */
async function waiting(maxDurationMs: number) {
  const log = new MemoryLog();
  let set = 0;
  const now = () => Date.now() + set;
  const store = new LocalStore(await Decider.open(log, dialects, { now }));
  onTestFinished(() => store.close());
  const runner: Runner = {
    run: (_packet, _place, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ kind: 'lost', mayHaveRun: true, reason: 'stopped' }));
      }),
    recover: () => Promise.reject(new Error('nothing ran before')),
  };
  const options = { store, runners: { runnerFor: () => runner }, cwd: '.', configDir: '.', stateDir: '.', now };
  await store.lease('takeCast', 'c', thisDriver());
  const driving = new Engine(options).drive('c', async () => {
    await store.submit(startOf('c'), { name: 'test' });
    await store.submit({ kind: 'budget.change', cast: 'c', maxDurationMs }, { name: 'test' });
  });
  const setClock = (ms: number) => {
    set += ms;
  };
  return { store, driving, set: setClock };
}

test.each([
  ['forward: it does not end early', DAY],
  ['back: it does not run on for ever', -DAY],
])('a budget of time that runs out while the clock is set a day %s', LIMIT, async (_, jump) => {
  const { store, driving, set } = await waiting(1_500);
  const began = performance.now();
  set(jump);
  expect(await driving).toBe('failed');
  const took = performance.now() - began;
  expect(took).toBeGreaterThan(1_000);
  expect(took).toBeLessThan(30_000);
  const cast = await store.view('cast', 'c');
  expect(cast?.code).toBe('BUDGET_EXHAUSTED');
  expect(cast?.clock.elapsedMs).toBeLessThan(30_000);
});
