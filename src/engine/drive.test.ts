import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { faultsOf } from '../../test/conformance/chain.ts';
import { ProbedLog } from '../../test/conformance/probed-log.ts';
import { startProgram } from '../../test/conformance/program.ts';
import { type RoundOptions, startOf } from '../../test/conformance/round.ts';
import { envelope, result, TEAM } from '../../test/team.ts';
import { runners } from '../agents/index.ts';
import { dialects } from '../dialects/index.ts';
import { CAPABILITIES } from '../kernel/capabilities.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { Entry } from '../kernel/fact.ts';
import { resolve } from '../kernel/graph/resolve.ts';
import type { Request } from '../kernel/input.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import { logFileIn } from '../log/sqlite/open.ts';
import { Decider } from './decider.ts';
import { Engine, LeaseLost, type Runners } from './drive.ts';
import { beats } from './heartbeat.ts';
import { type Driver, thisDriver } from './lease.ts';
import { LocalStore } from './local-store.ts';
import { type AttemptResult, HANDED_OVER, INTERRUPTED, type Runner, StorageError } from './ports.ts';
import type { CastChange, Store } from './store.ts';
import { WorkerStore } from './worker-store.ts';

const LIMIT = { timeout: 120_000 };
/** Longer than a slow machine takes. */
const POLL = { timeout: 60_000, interval: 5 };
const WRITER = fileURLToPath(new URL('../../test/conformance/writer.ts', import.meta.url));

const BUILT: AttemptResult = { kind: 'output', output: 'Built.' };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-drive-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function openStore(folder: string): Promise<{ store: Store; log: ProbedLog }> {
  const log = new ProbedLog(new SqliteLog(logFileIn(folder)));
  const store = new LocalStore(await Decider.open(log, dialects));
  cleanups.push(() => store.close());
  return { store, log };
}

function engineAt(folder: string, store: Store, its: Runners = runners): Engine {
  return new Engine({ store, runners: its, cwd: folder, configDir: folder, stateDir: folder });
}

const submit = (store: Store, request: Request) => async () => void (await store.submit(request, { name: 'test' }));
const start = (store: Store, cast: string, options: RoundOptions = {}) => submit(store, startOf(cast, options));
const nothing = async () => undefined;
const kindsOf = (entries: readonly Entry[]) => entries.map(({ fact }) => fact.kind);

/** Runners that note every call; the builder answers at once. Attempts in `stuck` answer when they are stopped, not before. */
function noted(stuck: readonly string[] = []) {
  const calls: string[] = [];
  const carryOut =
    (way: 'run' | 'recover') =>
    async (packet: Packet, place: Parameters<Runner['run']>[1], signal: AbortSignal): Promise<AttemptResult> => {
      const attempt = `${packet.turn}.${packet.attempt}`;
      calls.push(`${way} ${attempt}`);
      if (way === 'run' && packet.socket === 'Socket-1' && !stuck.includes(attempt)) return BUILT;
      if (!stuck.includes(attempt)) return runners.runnerFor(packet)[way](packet, place, signal);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      calls.push(`stopped ${attempt}`);
      return { kind: 'output', output: 'too late' };
    };
  const runner: Runner = {
    run: carryOut('run'),
    recover: carryOut('recover'),
    async forget({ attemptDir }) {
      calls.push(`forget ${attemptDir.split('-').at(-1)}`);
    },
  };
  return { calls, runners: { runnerFor: () => runner } };
}

async function expectCompleted(store: Store, cast: string, turns: number): Promise<void> {
  expect(await store.view('cast', cast)).toMatchObject({ status: 'completed', turnsAccepted: turns });
  const started = (await store.read({ after: 0, cast })).filter(({ fact }) => fact.kind === 'attempt.started');
  expect(started).toHaveLength(turns);
}

test.each<[string, (folder: string) => Promise<Store>]>([
  ['in this thread', async (folder) => (await openStore(folder)).store],
  ['behind a worker', (folder) => WorkerStore.open(logFileIn(folder))],
])('one process drives many casts at once, with the decider %s', LIMIT, async (_, open) => {
  const folder = newFolder();
  const store = await open(folder);
  const engine = engineAt(folder, store);
  const casts = Array.from({ length: 12 }, (__, index) => `c${index}`);
  const ends = await Promise.all(casts.map((cast) => engine.drive(cast, start(store, cast, { turns: 6 }))));
  expect(new Set(ends)).toEqual(new Set(['completed']));
  for (const cast of casts) await expectCompleted(store, cast, 6);
  await store.close();
  const log = new SqliteLog(logFileIn(folder));
  expect(faultsOf(await log.lines(0, 100_000))).toEqual([]);
  await log.close();
});

test('two processes drive casts on the same log', LIMIT, async () => {
  const folder = newFolder();
  const { store, log } = await openStore(folder);
  const other = startProgram(WRITER, [logFileIn(folder), 'cast', 'theirs', '20']);
  cleanups.push(() => other.kill());
  await other.hears('ready');
  other.tell('go');
  expect(await engineAt(folder, store).drive('ours', start(store, 'ours', { turns: 20 }))).toBe('completed');
  expect([await other.ended, other.said.at(-1)]).toEqual([0, 'completed after 20 turns']);
  await expectCompleted(store, 'ours', 20);
  await expectCompleted(store, 'theirs', 20);
  expect(faultsOf(await log.lines(0, 100_000))).toEqual([]);
});

test.each<[Request['kind'], string]>([
  ['cast.abort', 'aborted'],
  ['cast.pause', 'paused'],
])(
  '%s at another store stops the running attempt, and its late answer changes nothing',
  LIMIT,
  async (kind, status) => {
    const folder = newFolder();
    const { store } = await openStore(folder);
    const { store: other } = await openStore(folder);
    const { calls, runners: its } = noted(['1.1']);
    const driving = engineAt(folder, store, its).drive('c', start(store, 'c'));
    await expect.poll(() => calls, POLL).toEqual(['run 1.1']);
    expect(await other.submit({ kind, cast: 'c', reason: 'test' } as Request, { name: 'test' })).toMatchObject({
      allow: true,
    });
    expect(await driving).toBe(status);
    expect(calls).toEqual(['run 1.1', 'stopped 1.1', 'forget 1.1']);
    expect(kindsOf(await store.read({ after: 0 })).slice(3)).toEqual([`cast.${status}`]);
  },
);

test('what a driver that was killed left running is recovered, that attempt and no other', LIMIT, async () => {
  const folder = newFolder();
  const { store } = await openStore(folder);
  const victim = startProgram(WRITER, [logFileIn(folder), 'cast', 'c', '6', 'hold']);
  cleanups.push(() => victim.kill());
  await victim.hears('ready');
  victim.tell('go');
  await expect.poll(async () => kindsOf(await store.read({ after: 0 })), POLL).toContain('attempt.started');
  expect(await store.lease('takeCast', 'c', thisDriver())).not.toEqual(thisDriver());
  await victim.kill();
  // Whoever takes it over is told from whom.
  const taken = await store.lease('takeCast', 'c', thisDriver());
  expect([taken, taken.after?.pid]).toMatchObject([thisDriver(), expect.any(Number)]);
  const { calls, runners: its } = noted();
  expect(await engineAt(folder, store, its).drive('c', nothing)).toBe('completed');
  expect(calls.filter((call) => call.startsWith('recover'))).toEqual(['recover 1.1']);
  expect(calls.filter((call) => call.startsWith('run'))).toEqual([
    'run 1.2',
    'run 2.1',
    'run 3.1',
    'run 4.1',
    'run 5.1',
    'run 6.1',
  ]);
});

test('a recovered attempt that did finish is not run again', LIMIT, async () => {
  const folder = newFolder();
  const { store } = await openStore(folder);
  await start(store, 'c')();
  const calls: string[] = [];
  const its: Runners = {
    runnerFor: (packet) => ({
      run: (...args) => {
        calls.push(`run ${packet.turn}.${packet.attempt}`);
        return runners.runnerFor(packet).run(...args);
      },
      async recover() {
        calls.push(`recover ${packet.turn}.${packet.attempt}`);
        return { kind: 'output', output: 'Built before the crash.' };
      },
    }),
  };
  expect(await engineAt(folder, store, its).drive('c', nothing)).toBe('completed');
  expect(calls).toEqual(['recover 1.1', 'run 2.1']);
});

test('a cut-off attempt that must not be repeated waits for a person', LIMIT, async () => {
  const folder = newFolder();
  const { store } = await openStore(folder);
  await start(store, 'c', { onCrash: 'wait' })();
  expect(await engineAt(folder, store).drive('c', nothing)).toBe('waiting');
  expect(await store.view('cast', 'c')).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
});

test('when the time is up the cast fails and what runs is stopped', LIMIT, async () => {
  const folder = newFolder();
  const { store } = await openStore(folder);
  const { calls, runners: its } = noted(['1.1']);
  const options = { budget: { maxDurationMs: 60 } };
  expect(await engineAt(folder, store, its).drive('c', start(store, 'c', options))).toBe('failed');
  expect(calls).toEqual(['run 1.1', 'stopped 1.1', 'forget 1.1']);
  expect(await store.view('cast', 'c')).toMatchObject({ code: 'BUDGET_EXHAUSTED' });
});

test('a timer that another process set is kept after its end', LIMIT, async () => {
  const folder = newFolder();
  const { store } = await openStore(folder);
  await start(store, 'c', { budget: { maxDurationMs: 60 } })();
  const { runners: its } = noted(['1.1']);
  expect(await engineAt(folder, store, its).drive('c', nothing)).toBe('failed');
  expect(await store.view('cast', 'c')).toMatchObject({ code: 'BUDGET_EXHAUSTED' });
});

test('a fault of the storage ends the drive with it; driving again carries on', LIMIT, async () => {
  const folder = newFolder();
  const { store, log } = await openStore(folder);
  const full = new StorageError('STORAGE_FAILED', 'the disk is full');
  const engine = engineAt(folder, store);
  await expect(
    engine.drive('c', async () => {
      await start(store, 'c', { turns: 4 })();
      log.failNextCommit(full);
    }),
  ).rejects.toBe(full);
  expect((await store.view('cast', 'c'))?.status).toBe('running');
  expect(await engine.drive('c', nothing)).toBe('completed');
});

test('a runner that throws ends the drive; what else runs is stopped first', LIMIT, async () => {
  const folder = newFolder();
  const { store } = await openStore(folder);
  const broken: Runners = {
    runnerFor: () => ({
      run: () => Promise.reject(new Error('broken')),
      recover: () => Promise.reject(new Error('broken')),
    }),
  };
  await expect(
    engineAt(folder, store, broken).drive('c', start(store, 'c', { budget: { maxDurationMs: 600_000 } })),
  ).rejects.toThrow('broken');
});

test('a beginning that fails ends the drive, and what was taken over is stopped', LIMIT, async () => {
  const folder = newFolder();
  const { store } = await openStore(folder);
  await start(store, 'c')();
  const { calls, runners: its } = noted(['1.1']);
  const driving = engineAt(folder, store, its).drive('c', async () => {
    throw new Error('not now');
  });
  await expect(driving).rejects.toThrow('not now');
  expect(calls).toEqual(['recover 1.1', 'stopped 1.1', 'forget 1.1']);
  expect((await store.view('cast', 'c'))?.status).toBe('running');
});

test('a cast that does not run is left as it is', LIMIT, async () => {
  const folder = newFolder();
  const { store } = await openStore(folder);
  await start(store, 'c')();
  await store.submit({ kind: 'cast.pause', cast: 'c', reason: 'test' }, { name: 'test' });
  const { calls, runners: its } = noted();
  expect(await engineAt(folder, store, its).drive('c', nothing)).toBe('paused');
  expect(calls).toEqual([]);
});

/** A store that calls back with exactly the given changes. What is submitted there has no consequences. */
function scriptedStore(early: readonly CastChange[]): { store: Store; tell(change: CastChange): void } {
  const listeners: ((change: CastChange) => void)[] = [];
  const store = {
    async watchCast(_cast: string, _withEntries: boolean, listener: (change: CastChange) => void) {
      listeners.push(listener);
      for (const change of early) listener(change);
      return () => undefined;
    },
    submit: async () => ({ allow: true, code: 'OK', reason: '', details: {} }),
    view: async () => null,
  };
  return { store: store as unknown as Store, tell: (change) => listeners.forEach((listener) => void listener(change)) };
}

const owes = (...turns: number[]): CastChange => ({
  cast: 'c',
  status: turns.length > 0 ? 'running' : 'completed',
  owed: turns.map((turn) => ({
    key: `dispatch:${turn}.1`,
    effect: { kind: 'dispatch', cast: 'c', turn, attempt: 1 },
    packet: { cast: 'c', turn, attempt: 1, socket: `Socket-${turn}` } as Packet,
  })),
  entries: [],
});

test('only what ran before is recovered, not what starts while the store still answers', LIMIT, async () => {
  const { store, tell } = scriptedStore([owes(1), owes(1, 2)]);
  const { calls, runners: its } = noted(['1.1', '2.1', '3.1']);
  const driving = engineAt('.', store, its).drive('c', nothing);
  await expect.poll(() => calls, POLL).toEqual(['recover 1.1', 'run 2.1']);
  tell(owes(1, 2, 3));
  await expect.poll(() => calls, POLL).toHaveLength(3);
  tell(owes());
  expect(await driving).toBe('completed');
  expect(calls.slice(0, 3)).toEqual(['recover 1.1', 'run 2.1', 'run 3.1']);
});

/** A runner that works until it is stopped, and notes the reason of the stop. */
function patient() {
  const noted: { runs: number[]; stops: unknown[]; forgotten: number } = { runs: [], stops: [], forgotten: 0 };
  const runner: Runner = {
    run: (packet, _place, signal) =>
      new Promise((resolve) => {
        noted.runs.push(packet.turn);
        signal.addEventListener('abort', () => {
          noted.stops.push(signal.reason);
          resolve({ kind: 'lost', mayHaveRun: true, reason: 'stopped' });
        });
      }),
    recover: async () => BUILT,
    forget: async () => void noted.forgotten++,
  };
  return { noted, runners: { runnerFor: () => runner } satisfies Runners };
}

const near: Driver = { ...thisDriver(), pid: 4_000_000 };
const far: Driver = { ...near, namespace: 'pid:[1]' };

test.each([
  ['elsewhere cannot reach its agents: they are ended', far, false],
  ['that sees the same processes goes on with its agents: they are left to it', near, true],
])('a new driver %s', LIMIT, async (_, next, isHandedOver) => {
  const folder = newFolder();
  const [{ store, log }, other] = [await openStore(folder), await openStore(folder)];
  const { fence } = await store.lease('takeCast', 'c', thisDriver());
  const { noted: seen, runners: its } = patient();
  const driving = engineAt(folder, store, its).drive('c', start(store, 'c'));
  await expect.poll(() => seen.runs, POLL).toHaveLength(1);
  await other.store.lease('takeCast', 'c', next, fence);
  const head = await log.head();
  await (store as LocalStore).renewLeases();
  await expect(driving).rejects.toThrow(`process ${next.pid} on ${next.host} took over cast c`);
  await expect(driving).rejects.toBeInstanceOf(LeaseLost);
  expect(seen.stops.map((reason) => reason === HANDED_OVER)).toEqual([isHandedOver]);
  expect([seen.forgotten, await log.head()]).toEqual([0, head]);
});

test('a driver that lost its cast starts nothing that the next driver made owed', LIMIT, async () => {
  const folder = newFolder();
  const [{ store }, other] = [await openStore(folder), await openStore(folder)];
  const { fence } = await store.lease('takeCast', 'c', thisDriver());
  const { noted: seen, runners: its } = patient();
  const driving = engineAt(folder, store, its).drive('c', start(store, 'c'));
  await expect.poll(() => seen.runs, POLL).toHaveLength(1);
  await other.store.lease('takeCast', 'c', far, fence);
  const output = { kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'Built.' } as const;
  expect(await other.store.submit(output, { name: 'engine' })).toMatchObject({ allow: true });
  await expect(driving).rejects.toBeInstanceOf(LeaseLost);
  expect(seen.runs).toHaveLength(1);
});

test('a drive that fails starts nothing more', LIMIT, async () => {
  const { store, tell } = scriptedStore([]);
  const calls: string[] = [];
  let release: () => void = () => undefined;
  const its: Runners = {
    runnerFor: ({ turn }) => ({
      async run() {
        calls.push(`run ${turn}`);
        if (turn === 2) throw new Error('broken');
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return BUILT;
      },
      recover: async () => BUILT,
    }),
  };
  const driving = engineAt('.', store, its).drive('c', nothing);
  const failed = expect(driving).rejects.toThrow('broken');
  await new Promise(setImmediate);
  tell(owes(1, 2));
  await new Promise(setImmediate);
  tell(owes(1, 2, 3));
  release();
  await failed;
  expect(calls).toEqual(['run 1', 'run 2']);
});

test('while an attempt runs, the claim of its task is heard of, and no longer', LIMIT, async () => {
  const folder = newFolder();
  const { store, log } = await openStore(folder);
  const wishes = { id: 'T-1', timeout_seconds: 30, heartbeat_interval_seconds: 5 };
  const script = { Lead: [envelope(wishes)], Sum: ['ok'] };
  const heard: number[] = [];
  const waiting: Runner = {
    async run(packet) {
      const fence = packet.task?.fence ?? 0;
      const first = Date.now();
      // The engine beats by itself; the record of the claim gets younger than the claim.
      await expect.poll(async () => (await beats(log)).get(fence)?.at ?? 0, POLL).toBeGreaterThan(first + 1_000);
      heard.push(fence);
      return { kind: 'output', output: JSON.stringify(result('T-1')) };
    },
    recover: () => Promise.reject(new Error('nothing is left over')),
  };
  const its: Runners = {
    runnerFor: (packet) => (packet.socket === 'Socket-2' ? waiting : runners.runnerFor(packet)),
  };
  const begin = submit(store, {
    kind: 'cast.start',
    cast: 'c',
    request: 'x',
    loadout: 'Flow',
    rules: resolve(TEAM, 'Flow'),
    script: { ...script, Worker: ['unused'] },
  });
  expect(await engineAt(folder, store, its).drive('c', begin)).toBe('completed');
  expect([heard, (await beats(log)).size]).toEqual([[1], 0]);
});

/** A builder that works on its first attempt until it is ended, slowly, and answers in the second. */
function interruptible() {
  const calls: string[] = [];
  const ended = async (signal: AbortSignal): Promise<AttemptResult> => {
    calls.push(String(signal.reason));
    await new Promise((resolve) => setTimeout(resolve, 50));
    calls.push('ended');
    return { kind: 'lost', mayHaveRun: true, reason: 'stopped', usage: { input: 7, output: 2, cost: 0 } };
  };
  const its: Runner = {
    async run(packet, place, signal) {
      if (packet.socket !== 'Socket-1') return runners.runnerFor(packet).run(packet, place, signal);
      calls.push(`run ${packet.turn}.${packet.attempt}`);
      if (packet.attempt > 1) return BUILT;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return ended(signal);
    },
    recover(packet, _place, signal) {
      calls.push(`recover ${packet.turn}.${packet.attempt}`);
      return ended(signal);
    },
    forget: async () => void calls.push('forget'),
  };
  return { calls, runners: { runnerFor: () => its } satisfies Runners };
}

const AT_ONCE = { kind: 'cast.say', cast: 'c', item: null, text: 'Use tabs.', interrupt: true } as const;
const starting = (store: Store) => submit(store, { ...startOf('c'), capabilities: CAPABILITIES } as Request);

test(
  'an agent is interrupted from another store: its program has ended before the next attempt starts',
  LIMIT,
  async () => {
    const folder = newFolder();
    const [{ store }, other] = [await openStore(folder), await openStore(folder)];
    const { calls, runners: its } = interruptible();
    const driving = engineAt(folder, store, its).drive('c', starting(store));
    await expect.poll(() => calls, POLL).toEqual(['run 1.1']);
    expect(await other.store.submit(AT_ONCE, { name: 'test' })).toMatchObject({ allow: true });
    expect(await driving).toBe('completed');
    expect(calls.slice(0, 5)).toEqual(['run 1.1', INTERRUPTED, 'ended', 'forget', 'run 1.2']);
    const entries = await store.read({ after: 0, cast: 'c' });
    expect(kindsOf(entries).filter((kind) => /^attempt\.(interrupted|lost|spent)$/.test(kind))).toEqual([
      'attempt.interrupted',
    ]);
    expect(await store.view('cast', 'c')).toMatchObject({ usage: { input: 7, output: 2 } });
  },
);

test('where the driver was killed meanwhile, the next one ends the attempt and goes on', LIMIT, async () => {
  const folder = newFolder();
  const { store } = await openStore(folder);
  await starting(store)();
  expect(await store.submit(AT_ONCE, { name: 'test' })).toMatchObject({ allow: true });
  const { calls, runners: its } = interruptible();
  expect(await engineAt(folder, store, its).drive('c', nothing)).toBe('completed');
  expect(calls.slice(0, 5)).toEqual(['recover 1.1', INTERRUPTED, 'ended', 'forget', 'run 1.2']);
  const told = (await store.read({ after: 0, cast: 'c' })).flatMap(({ fact }) =>
    fact.kind === 'attempt.started' && fact.told ? [[fact.turn, fact.attempt, fact.told]] : [],
  );
  expect(told).toEqual([[1, 2, ['Use tabs.']]]);
});
