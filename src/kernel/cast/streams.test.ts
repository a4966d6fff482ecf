import { expect, test } from 'vitest';
import { always, exit, graph, no, notSatisfied, plan, satisfied, yes } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import type { Json, JsonObject } from '../json.ts';

type Extras = {
  readonly barrier?: string;
  readonly exits?: JsonObject[];
  readonly prelude?: boolean;
  readonly max?: number;
};

/** Plan (1), a socket that begins each stream (2), then for each item build (3) and judge (4), then sum up (5). */
function team({ barrier, exits, prelude = false, max = 2 }: Extras = {}): JsonObject {
  const parallel = { maxConcurrency: max, ...(barrier ? { barrier } : {}) };
  const sockets = {
    'Socket-1': { materia: 'Streams', edges: [always(prelude ? 'Socket-2' : 'Socket-3')] },
    ...(prelude ? { 'Socket-2': { materia: 'Ready', edges: [always('Socket-3')] } } : {}),
    'Socket-3': { materia: 'Write', edges: [always('Socket-4')] },
    'Socket-4': {
      materia: 'Judge',
      parse: 'json',
      advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
      edges: [satisfied('Socket-3'), notSatisfied('Socket-3', 1)],
    },
    'Socket-5': { materia: 'Sum' },
    'Socket-6': { materia: 'Sum' },
  };
  const loop = {
    ...{ sockets: ['Socket-3', 'Socket-4'], consumes: { from: 'Socket-1' }, parallel },
    exits: exits ?? [exit('Socket-4', 'always', 'Socket-5')],
  };
  const materia = {
    Streams: { prompt: 'Plan.', tools: 'none', generator: true, parallel: true },
    Ready: { prompt: 'Get ready.', tools: 'none', parallelSafe: true },
    Sum: { prompt: 'Sum up.', tools: 'none' },
    Write: { prompt: 'Write.', tools: 'none' },
  };
  return graph(sockets, { loops: { streams: loop }, materia });
}

const streams = (...lists: readonly (readonly number[])[]) => ({
  version: 1,
  streams: lists.map((workItemIndexes, index) => ({ name: `stream ${index}`, workItemIndexes: [...workItemIndexes] })),
});

const planned = (count: number, ...lists: readonly (readonly number[])[]): JsonObject => ({
  ...plan(count),
  parallelSchedule: streams(...lists),
});

const crew = (others: Readonly<Record<string, readonly Json[]>>) => ({
  ...{ Ready: ['ready', '$repeat'], Write: ['built', '$repeat'], Judge: [yes, '$repeat'], Sum: ['all', '$repeat'] },
  ...others,
});

const statuses = ({ state }: Play) => Object.values(state.ledger.tasks).map(({ status }) => status);
const branches = ({ cast }: Play) =>
  (cast.data.parallelFanIn as unknown as { orderedBranches: { name: string; status: string; items: JsonObject[] }[] })
    .orderedBranches;

test('a stream is a chain of tasks, and streams run side by side', () => {
  const cast = play({ config: team(), agents: crew({ Streams: [planned(4, [0, 2], [1, 3])] }) });
  expect(cast.cast.status).toBe('completed');
  const tasks = Object.values(cast.state.ledger.tasks);
  expect(tasks.map(({ id, dependencies }) => [id, dependencies])).toEqual([
    ['T-1', []],
    ['T-2', []],
    ['T-3', ['T-1']],
    ['T-4', ['T-2']],
  ]);
  expect(cast.path.slice(0, 3)).toEqual(['Socket-1', 'Socket-3 WI-1', 'Socket-3 WI-2']);
  expect(cast.path.indexOf('Socket-3 WI-3')).toBeGreaterThan(cast.path.indexOf('Socket-4 WI-1'));
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('what the streams came to is handed on in the order of the streams', () => {
  const cast = play({ config: team(), agents: crew({ Streams: [planned(3, [2], [0, 1])] }) });
  expect(cast.cast.data.parallelFanIn).toMatchObject({ version: 1, loopId: 'streams', satisfied: true });
  expect(branches(cast).map(({ name, status, items }) => [name, status, items.map(({ key }) => key)])).toEqual([
    ['stream 0', 'accepted', ['WI-3']],
    ['stream 1', 'accepted', ['WI-1', 'WI-2']],
  ]);
});

test('the sockets before the loop run once for each stream, within its lane', () => {
  const config = team({ prelude: true });
  const cast = play({ config, agents: crew({ Streams: [planned(3, [0, 1], [2])] }) });
  expect(cast.path).toEqual([
    ...['Socket-1', 'Socket-2 WI-1', 'Socket-2 WI-3', 'Socket-3 WI-1', 'Socket-3 WI-3', 'Socket-4 WI-1'],
    ...['Socket-4 WI-3', 'Socket-3 WI-2', 'Socket-4 WI-2', 'Socket-5'],
  ]);
  expect([cast.cast.status, statuses(cast)]).toEqual(['completed', ['done', 'done', 'done']]);
});

test('a plan without items runs nothing of the region', () => {
  const agents = crew({ Streams: [planned(0)] });
  expect(play({ config: team({ prelude: true }), agents }).path).toEqual(['Socket-1', 'Socket-5']);
});

test.each<[string, Json]>([
  ['no schedule', plan(3)],
  ['an item that is missing', planned(3, [0], [2])],
  ['an item that is there twice', planned(3, [0, 1], [1, 2])],
  ['a place without an item', planned(3, [0, 1, 2, 3])],
  ['an empty stream', planned(3, [0, 1, 2], [])],
  [
    'two streams of one name',
    {
      ...plan(2),
      parallelSchedule: { version: 1, streams: [0, 1].map((at) => ({ name: ' a', workItemIndexes: [at] })) },
    },
  ],
  ['a stream without items to do', planned(0, [0])],
  ['another version', { ...plan(1), parallelSchedule: { ...streams([0]), version: 2 } }],
  ['a list', { ...plan(1), parallelSchedule: [] }],
])('a schedule with %s goes back once, and no lane is started', (_what, answer) => {
  const cast = play({ config: team(), agents: crew({ Streams: [answer, planned(1, [0])] }) });
  const [refused] = cast.all('attempt.refused');
  expect([refused?.repair, JSON.stringify(refused?.verdict.details)]).toEqual([
    true,
    expect.stringContaining('$.parallelSchedule'),
  ]);
  expect(cast.cast.status).toBe('completed');
});

test('the brief of the planner asks for the streams', () => {
  const cast = play({ config: team(), agents: crew({ Streams: [planned(1, [0])] }) });
  expect(cast.briefs('Socket-1')[0]).toContain(
    '"parallelSchedule":{"version":1,"streams":[{"name":"<name of the stream>"',
  );
});

/** The second stream breaks its contract twice; the first goes on. */
const oneFails = (more: Readonly<Record<string, readonly Json[]>> = {}) =>
  crew({ Streams: [planned(4, [0, 2], [1, 3])], Judge: [yes, 'no', 'never', yes, '$repeat'], ...more });

test('all: a failed lane lets the others finish, nothing is joined, and a recast runs only the failed one', () => {
  const cast = play({ config: team(), agents: oneFails() });
  expect([cast.cast.status, cast.cast.code, statuses(cast)]).toEqual([
    'failed',
    'CONTRACT_VIOLATION',
    ['done', 'blocked', 'done', 'todo'],
  ]);
  expect(cast.cast.reason).toContain('T-2 (Item 2) failed; 2 of 4 items are done');
  expect(cast.cast.data.parallelFanIn).toBeUndefined();
  const before = cast.path.length;
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect(cast.path.slice(before)).toEqual(['Socket-3 WI-4', 'Socket-4 WI-4', 'Socket-5']);
  expect([cast.cast.status, statuses(cast)]).toEqual(['completed', ['done', 'done', 'done', 'done']]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('settled: the loop is left with what was done; what depends on the failed item is not begun', () => {
  const cast = play({ config: team({ barrier: 'settled' }), agents: oneFails() });
  expect([cast.cast.status, statuses(cast)]).toEqual(['completed', ['done', 'failed', 'done', 'canceled']]);
  expect(cast.path.at(-1)).toBe('Socket-5');
  expect(branches(cast).map(({ status, items }) => [status, items.map((item) => [item.status, item.code])])).toEqual([
    [
      'accepted',
      [
        ['done', undefined],
        ['done', undefined],
      ],
    ],
    [
      'failed',
      [
        ['failed', 'CONTRACT_VIOLATION'],
        ['canceled', 'LEFT_EARLY'],
      ],
    ],
  ]);
  expect(cast.briefs('Socket-5')[0]).toContain('Item 2');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test.each([
  [
    'not_satisfied',
    [exit('Socket-4', 'not_satisfied', 'Socket-6'), exit('Socket-4', 'always', 'Socket-5')],
    'Socket-6',
  ],
  ['always', [exit('Socket-4', 'satisfied', 'Socket-5'), exit('Socket-4', 'always', 'Socket-5')], 'Socket-5'],
  ['satisfied, because something was done', [exit('Socket-4', 'satisfied', 'Socket-5')], 'Socket-5'],
])('settled with a failed lane is left by %s', (_what, exits, target) => {
  const cast = play({ config: team({ barrier: 'settled', exits }), agents: oneFails() });
  expect([cast.cast.status, cast.path.at(-1)]).toEqual(['completed', target]);
});

test.each<[string, readonly Json[], string]>([
  ['an agent that fails', [{ $turn: { fail: 'timeout' } }, '$repeat'], 'TASK_TIMEOUT'],
  ['an edge that is spent', [no('again'), '$repeat'], 'EDGE_BUDGET_EXHAUSTED'],
])('settled: %s ends its own lane', (_what, judge, code) => {
  const config = team({ barrier: 'settled', max: 1 });
  const cast = play({ config, agents: crew({ Streams: [planned(1, [0])], Judge: judge }) });
  expect([cast.cast.status, statuses(cast)]).toEqual(['completed', ['failed']]);
  expect(branches(cast)[0]?.items[0]).toMatchObject({ status: 'failed', code });
});

test('a loop that says nothing of a barrier still ends the cast with its first failure', () => {
  const { materia, ...config } = team() as { materia: JsonObject };
  const plain = { ...config, materia: { ...materia, Streams: { prompt: 'Plan.', tools: 'none', generator: true } } };
  const agents = crew({ Streams: [plan(2)], Judge: ['no', 'never', '$repeat'] });
  const cast = play({ config: plain as JsonObject, agents });
  expect([cast.cast.status, cast.cast.code]).toEqual(['failed', 'CONTRACT_VIOLATION']);
  expect(cast.path.filter((step) => step.startsWith('Socket-4'))).toHaveLength(2);
});

test('a spent edge of a lane: revive gives it as many traversals again', () => {
  const agents = crew({ Streams: [planned(2, [0], [1])], Judge: [yes, no('1'), no('2'), yes, '$repeat'] });
  const cast = play({ config: team(), agents });
  expect([cast.cast.status, cast.cast.code]).toEqual(['failed', 'EDGE_BUDGET_EXHAUSTED']);
  cast.say({ kind: 'cast.revive', cast: 'c' });
  expect([cast.cast.status, statuses(cast)]).toEqual(['completed', ['done', 'done']]);
  expect(cast.all('edge.extended')).toHaveLength(1);
});

test('rounds without an end in one lane end that lane', () => {
  const config = team({ barrier: 'settled' });
  const judge = (config.loadouts as { Flow: { sockets: { 'Socket-4': { edges: Json[] } } } }).Flow.sockets['Socket-4'];
  judge.edges = [satisfied('Socket-3'), notSatisfied('Socket-3')];
  const agents = crew({ Streams: [planned(1, [0])], Judge: [no('again'), '$repeat'] });
  const cast = play({ config, agents });
  expect([cast.cast.status, branches(cast)[0]?.items[0]?.code]).toEqual(['completed', 'NO_PROGRESS']);
});
