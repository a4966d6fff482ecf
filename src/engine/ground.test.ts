// The engine and the folder in which a cast works: nothing starts there before it is ready, and nothing new before what was
// accepted is put away.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { always, graph } from '../../test/loadouts.ts';
import { envelope, result, TEAM } from '../../test/team.ts';
import { dialects } from '../dialects/index.ts';
import { CAPABILITIES } from '../kernel/capabilities.ts';
import { resolve } from '../kernel/graph/resolve.ts';
import type { JsonObject } from '../kernel/json.ts';
import { MemoryLog } from '../log/memory.ts';
import { Decider } from './decider.ts';
import { Engine } from './drive.ts';
import { thisDriver } from './lease.ts';
import { LocalStore } from './local-store.ts';
import type { AttemptResult, Witness, WorkingTree } from './ports.ts';

const TWO = graph({ 'Socket-1': { materia: 'Write', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Write' } });

/** The runner has one place, so that each turn needs the place of the one before. */
const RUNNER = 'claude';
const ONE = { maxConcurrent: 1, perMinute: null };

type Stage = {
  readonly config?: JsonObject;
  readonly said?: readonly AttemptResult[];
  readonly ready?: WorkingTree['ready'];
  readonly root?: string;
  /** What happens to the runner when it is started. */
  readonly fails?: boolean;
  /** Whether a person interrupted the first attempt, whose process was killed before. */
  readonly isInterrupted?: boolean;
  /** What happens when an attempt is about to start. */
  readonly onLook?: (store: LocalStore) => Promise<unknown>;
};

async function driven({
  config = TWO,
  said = [],
  ready = async () => '/tree',
  root,
  fails,
  isInterrupted,
  onLook,
}: Stage) {
  const store = new LocalStore(await Decider.open(new MemoryLog(), dialects));
  const calls: string[] = [];
  const ground: WorkingTree = {
    ready,
    async begin({ turn, begins }) {
      calls.push(`begin ${turn} ${begins}`);
      return [];
    },
    async keep({ turn }, changes) {
      await sleep(20);
      calls.push(`keep ${turn} ${Object.keys(changes)}`);
    },
    async refuse({ turn }) {
      calls.push(`refuse ${turn}`);
    },
    async park({ turn }) {
      calls.push(`park ${turn}`);
      return null;
    },
    async merge({ turn }) {
      calls.push(`merge ${turn}`);
      return { ok: true, commit: null };
    },
    async settle(isCompleted) {
      calls.push(isCompleted ? 'clear' : 'settle');
    },
  };
  const forgotten: string[] = [];
  const witness: Witness = {
    async before({ turn }, folder) {
      calls.push(`look ${turn} ${folder}`);
      await onLook?.(store);
      return 'seal';
    },
    after: async ({ turn, readsOnly }) => {
      return { seal: 'seal', changes: readsOnly ? {} : { [`${turn}.txt`]: 'sha256:0' }, checks: {} };
    },
    forget: async (cast) => void forgotten.push(cast),
  };
  let count = 0;
  const run = async (turn: number, folder: string): Promise<AttemptResult> => {
    calls.push(`run ${turn} ${folder}`);
    if (fails) throw new Error('broken');
    return said[count++] ?? { kind: 'output', output: 'done' };
  };
  const runner = { run: asRunner(run), recover: asRunner(run) };
  const options = { store, runners: { runnerFor: () => runner }, cwd: '/main', configDir: '/', stateDir: '/', witness };
  const engine = new Engine({ ...options, workingTreeOf: () => ground });
  const begin = async () => {
    const rules = { ...resolve(config, 'Flow'), runners: { [RUNNER]: ONE } };
    const start = {
      kind: 'cast.start',
      cast: 'c',
      request: 'x',
      loadout: 'Flow',
      rules,
      script: null,
      capabilities: CAPABILITIES,
    } as const;
    await store.submit({ ...start, ...(root === undefined ? {} : { root }) }, { name: 'test' });
  };
  if (isInterrupted) {
    await begin();
    await store.submit({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1, seal: 'seal' }, { name: 'test' });
    const own = { driver: thisDriver(), key: 'c:1' };
    await store.lease('takeSlot', { runner: RUNNER, ...ONE }, own, Date.now(), false);
    const say = { kind: 'cast.say', cast: 'c', item: null, text: 'Use tabs.', interrupt: true } as const;
    expect(await store.submit(say, { name: 'test' })).toMatchObject({ allow: true, details: { interrupts: [1] } });
  }
  const end = await engine
    .drive('c', isInterrupted ? async () => undefined : begin)
    .catch((error: Error) => error.message);
  const other = { driver: thisDriver(), key: 'another cast' };
  const isFree = (await store.lease('takeSlot', { runner: RUNNER, ...ONE }, other, Date.now(), false)) === 0;
  await store.close();
  expect(isFree, 'the place of the runner is given back').toBe(true);
  // What was seen of a cast is needed for as long as it can go on.
  expect(forgotten).toEqual(['completed', 'failed', 'aborted'].includes(end) ? ['c'] : []);
  return { end, calls };
}

function asRunner(run: (turn: number, folder: string) => Promise<AttemptResult>) {
  return (packet: { turn: number }, place: { cwd: string }) => run(packet.turn, place.cwd);
}

test('each turn begins where the one before has been put away', async () => {
  const { end, calls } = await driven({});
  expect(end).toBe('completed');
  expect(calls).toEqual([
    ...['begin 1 first', 'look 1 /tree', 'run 1 /tree', 'keep 1 1.txt'],
    ...['begin 2 first', 'look 2 /tree', 'run 2 /tree', 'keep 2 2.txt', 'clear'],
  ]);
});

test('what is refused is not put away', async () => {
  const config = graph({ 'Socket-1': { materia: 'Write', parse: 'json' } });
  const { end, calls } = await driven({
    config,
    said: [
      { kind: 'output', output: 'x' },
      { kind: 'output', output: 'y' },
    ],
  });
  expect(end).toBe('failed');
  expect(calls.filter((call) => !call.startsWith('look'))).toEqual([
    ...['begin 1 first', 'run 1 /tree'],
    ...['begin 1 on', 'run 1 /tree', 'settle'],
  ]);
});

test('what a utility changed that could not do its job is not put away as accepted', async () => {
  const config = graph(
    { 'Socket-1': { materia: 'Tool', parse: 'json', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Write' } },
    { materia: { Tool: { type: 'utility', command: ['tool'] }, Write: { prompt: 'Write.', tools: 'coding' } } },
  );
  const output = JSON.stringify({ satisfied: false, state: { disk: { ok: false, error: 'the disk is full' } } });
  const { end, calls } = await driven({ config, said: [{ kind: 'output', output }] });
  expect(end).toBe('failed');
  expect(calls.filter((call) => !call.startsWith('look'))).toEqual(['begin 1 first', 'run 1 /tree', 'settle']);
});

test('what wrote where it may not is given a chance to be taken away before anything follows', async () => {
  const config = graph({ 'Socket-1': { materia: 'Write', lockScope: ['src'] } });
  const { end, calls } = await driven({ config });
  expect(end).toBe('failed');
  expect(calls.filter((call) => !call.startsWith('look'))).toEqual([
    ...['begin 1 first', 'run 1 /tree', 'refuse 1'],
    ...['begin 1 on', 'run 1 /tree', 'refuse 1', 'settle'],
  ]);
});

test('a folder that cannot be made ready lets nothing start', async () => {
  const ready = async () => {
    throw new Error('no room');
  };
  expect(await driven({ ready })).toEqual({ end: 'no room', calls: [] });
});

test.each<[string, Stage, string, number]>([
  ['an attempt', {}, 'completed', 2],
  ['a runner that throws', { fails: true }, 'broken', 1],
  [
    'a refused dispatch',
    { onLook: (store) => store.submit({ kind: 'cast.pause', cast: 'c', reason: 'test' }, { name: 'test' }) },
    'paused',
    0,
  ],
  ['a look that fails', { onLook: () => Promise.reject(new Error('cannot look')) }, 'cannot look', 0],
  ['an interrupt', { isInterrupted: true, config: graph({ 'Socket-1': { materia: 'Write' } }) }, 'completed', 1],
  ['a folder that is lost before the attempt', { ready: onceReady() }, 'no folder', 0],
])('the place of a runner is given back after %s', async (_what, stage, end, runs) => {
  const found = await driven(stage);
  expect([found.end, found.calls.filter((call) => call.startsWith('run')).length]).toEqual([end, runs]);
});

/** A folder that is ready once and never again. */
function onceReady(): NonNullable<Stage['ready']> {
  let count = 0;
  return async () => {
    if (count++ > 0) throw new Error('no folder');
    return '/tree';
  };
}

test('items beside others have a folder each, and what depends on one begins when it is merged', async () => {
  const plan = envelope(
    { id: 'T-1', lock_scope: ['2.txt'] },
    { id: 'T-2', lock_scope: ['3.txt'] },
    { id: 'T-3', dependencies: ['T-1', 'T-2'], lock_scope: ['4.txt'] },
  );
  const outputs = [plan, result('T-1'), result('T-2'), result('T-3'), 'ok'];
  const said = outputs.map((output) => ({ kind: 'output', output: JSON.stringify(output) }) as const);
  const ready: WorkingTree['ready'] = async (_signal, place) => (place === null ? '/tree' : `/lane-${place}`);
  const { end, calls } = await driven({ config: TEAM, said, ready, root: 'trees/c' });
  expect(end).toBe('completed');
  expect(calls.filter((call) => call.startsWith('run'))).toEqual([
    ...['run 1 /tree', 'run 2 /lane-1', 'run 3 /lane-2', 'run 4 /tree', 'run 5 /tree'],
  ]);
  const order = ['keep 2 2.txt', 'merge 2', 'begin 4 first', 'clear'].map((call) => calls.indexOf(call));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(calls.indexOf('merge 3')).toBeLessThan(calls.indexOf('begin 4 first'));
});
