// Loadouts and materia one after the other in one cast, one materia alone, and a cast that goes on from an earlier one.
import { expect, test, vi } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { always, exit, notSatisfied, plan, satisfied, yes } from '../loadouts.ts';
import { baton, batonProcess, environment, json, project, put, start, until } from './baton.ts';

vi.setConfig({ testTimeout: 120_000 });

const agent = (prompt: string, more: JsonObject = {}): JsonObject => ({ prompt, tools: 'none', ...more });

/** Ends inside its loop: only its exits, which it has none of, could lead on. */
const LOOPED: JsonObject = {
  entry: 'Socket-1',
  sockets: {
    'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
    'Socket-2': {
      materia: 'Do',
      parse: 'json',
      advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
      edges: [always('Socket-2', 5)],
    },
  },
  loops: { items: { sockets: ['Socket-2'], consumes: { from: 'Socket-1' } } },
};

const JUDGED: JsonObject = {
  entry: 'Socket-2',
  sockets: {
    'Socket-2': { materia: 'Write', parse: 'text', edges: [always('Socket-7')] },
    'Socket-7': { materia: 'Judge', parse: 'json', edges: [notSatisfied('Socket-2', 2), satisfied('end')] },
  },
};

const CONFIG: JsonObject = {
  activeLoadout: 'looped',
  materia: {
    Plan: agent('Plan.', { generator: true }),
    Do: agent('Do it.'),
    Write: agent('Write.'),
    Judge: agent('Judge.'),
    both: agent('Both.'),
  },
  loadouts: { looped: LOOPED, judged: JUDGED, both: JUDGED },
};

const AGENTS: JsonObject = {
  Plan: [plan(2), '$repeat'],
  Do: [yes, '$repeat'],
  Write: ['written', '$repeat'],
  Judge: [{ satisfied: false, context: 'no' }, yes, '$repeat'],
  both: ['alone'],
};

const here = (agents: JsonObject = AGENTS, more: Readonly<Record<string, Json>> = {}) =>
  project({ '.baton/config.json': CONFIG, 'agents.json': agents, ...more });

const link = (dir: string, ...words: readonly string[]) =>
  baton(dir, ['link', '--agents', 'agents.json', '--json', ...words]);

const pathOf = ({ path }: CastView) =>
  path.map(({ socket, item }) => `${socket.slice(7)}${item === null ? '' : ` ${item}`}`).join(', ');

test.each<[string, readonly string[], string]>([
  ['a loadout that ends inside its loop', ['looped', 'judged'], '1, 2 WI-1, 2 WI-2, 3, 4, 3, 4'],
  ['the same one twice', ['looped', 'looped'], '1, 2 WI-1, 2 WI-2, 3, 4 WI-1, 4 WI-2'],
  ['one that ends by an edge', ['judged', 'materia:Write'], '1, 2, 1, 2, 3'],
  ['a materia in front', ['materia:Write', 'looped'], '1, 2, 3 WI-1, 3 WI-2'],
  ['one alone', ['loadout:both'], '1, 2, 1, 2'],
])('%s leads on to the next one', async (_what, targets, path) => {
  const ran = await link(here(), ...targets, '--', 'do', 'it');
  const cast = json<CastView>(ran);
  expect([ran.code, cast.status, cast.request, pathOf(cast)]).toEqual([0, 'completed', 'do it', path]);
});

test('a loop without items, and the exits that a loop has, lead on as well', async () => {
  const exits = [exit('Socket-2', 'satisfied', 'Socket-3')];
  const sum = { ...LOOPED, sockets: { ...(LOOPED.sockets as JsonObject), 'Socket-3': { materia: 'Write' } } };
  const loops = { items: { ...(LOOPED.loops as { items: JsonObject }).items, exits } };
  const config = { ...CONFIG, loadouts: { summed: { ...sum, loops }, judged: JUDGED } };
  const dir = project({ '.baton/config.json': config, 'agents.json': { ...AGENTS, Plan: [plan(0), plan(1)] } });
  expect(pathOf(json<CastView>(await link(dir, 'summed', 'judged', '--', 'it')))).toBe('1, 4, 5, 4, 5');
  put(dir, { 'agents.json': { ...AGENTS, Plan: [plan(1)], Judge: [yes] } });
  expect(pathOf(json<CastView>(await link(dir, 'summed', 'judged', '--', 'it')))).toBe('1, 2 WI-1, 3, 4, 5');
});

test('a short form and what comes with Baton are linked, and materia of one name keep their own prompts', async () => {
  const own = { Build: agent('My own build.') };
  const dir = project({
    '.baton/config.json': { ...CONFIG, materia: { ...(CONFIG.materia as JsonObject), ...own } },
    '.baton/loadouts/short.yaml': 'steps:\n  - draft: { prompt: Draft it. }\n',
    'agents.json': { draft: ['drafted'], Build: ['own'], 't3-Build': ['bundled'], 'Socket-4': [plan(1)] },
  });
  put(dir, {
    'agents.json': {
      ...{ draft: ['drafted'], Build: ['own'], 'Auto-Plan': [plan(1)], 't3-Build': ['bundled'] },
      ...{ 'Auto-Eval': [yes], Maintain: [yes], Narrate: ['told'] },
    },
  });
  const ran = await baton(dir, [
    'link',
    '--agents',
    'agents.json',
    '--json',
    '--turns',
    'short',
    'Build',
    'Full-Auto',
    '--',
    'it',
  ]);
  const { status, turns = [] } = json<CastView>(ran);
  expect(status).toBe('completed');
  const briefs = turns.map(({ materia, brief }) => [materia, brief.split('\n')[0]]);
  expect(briefs).toContainEqual(['Build', 'My own build.']);
  expect(briefs).toContainEqual(['t3-Build', expect.stringContaining('You are the builder')]);
});

test.each<[string, readonly string[], RegExp]>([
  [
    'a name that is a loadout and a materia',
    ['both', '--', 'it'],
    /both is a loadout and a materia; write loadout:both/,
  ],
  ['a name that nothing has', ['loped', '--', 'it'], /no loadout or materia loped; did you mean looped\?/],
  ['a materia that is a loadout', ['materia:looped', '--', 'it'], /no materia looped/],
  ['nothing behind a kind', ['materia:', '--', 'it'], /names nothing/],
  ['no --', ['looped', 'it'], /link TARGET… -- REQUEST/],
  ['nothing behind --', ['looped', '--', ' '], /what the cast shall do/],
  ['no target', ['--', 'it'], /./],
  ['too many', [...Array(13).fill('looped'), '--', 'it'], /at most 12|12/],
  ['a cast that is not there', ['--from', '2099', 'looped', '--', 'it'], /no cast/],
])('link refuses %s before anything starts', async (_what, words, reason) => {
  const dir = here();
  const ran = await baton(dir, ['link', '--agents', 'agents.json', ...words]);
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringMatching(reason)]);
  expect(json(await baton(dir, ['casts', '--json']))).toEqual([]);
});

test('one materia alone, and the same grammar as an option', async () => {
  const dir = here();
  const run = async (...args: readonly string[]) =>
    json<CastView>(await baton(dir, ['cast', '--agents', 'agents.json', '--json', ...args, 'it']));
  expect(await run('--materia', 'both')).toMatchObject({
    status: 'completed',
    loadout: 'both',
    path: [{ socket: 'Socket-1' }],
  });
  expect(pathOf(await run('--link', 'materia:"Write" judged'))).toBe('1, 2, 3, 2, 3');
  const other = {
    'other.json': { ...CONFIG, materia: { Alone: agent('Alone.') }, loadouts: {} },
    'alone.json': { Alone: ['x'] },
  };
  put(dir, other);
  const named = ['cast', '--file', 'other.json', '--materia', 'Alone', '--agents', 'alone.json', '--json', 'it'];
  expect(json<CastView>(await baton(dir, named))).toMatchObject({ status: 'completed', loadout: 'Alone' });
  const two = await baton(dir, ['cast', '--materia', 'Plan', '-l', 'looped', '--agents', 'agents.json', 'it']);
  expect([two.code, two.stderr]).toEqual([2, expect.stringContaining('not several of them')]);
});

test('what is linked is frozen: graph and show know it when the files are gone', async () => {
  const dir = here();
  const cast = json<CastView>(await link(dir, 'looped', 'judged', '--', 'it'));
  put(dir, { '.baton/config.json': { materia: {}, loadouts: {} } });
  const drawn = (await baton(dir, ['graph', 'latest'])).stdout;
  expect(drawn.split('\n')[0]).toBe('looped + judged');
  expect(drawn.indexOf('when all are done → Write')).toBeGreaterThan(0);
  expect(json<CastView>(await baton(dir, ['show', '--json']))).toMatchObject({
    cast: cast.cast,
    loadout: 'looped + judged',
  });
});

test('a cast that goes on from another one is told its results, once', async () => {
  const dir = here();
  const first = json<CastView>(await link(dir, 'judged', '--', 'the first'));
  const ran = await baton(dir, [
    'link',
    '--from',
    'latest',
    '--agents',
    'agents.json',
    '--json',
    '--turns',
    'judged',
    '--',
    'go on',
  ]);
  const { data, turns = [] } = json<CastView>(ran);
  expect((data as JsonObject).previousCastContext).toMatchObject({
    ...{ cast: first.cast, loadout: 'judged', request: 'the first', status: 'completed' },
    results: expect.arrayContaining([{ step: 'Write', output: 'written' }]),
  });
  const told = turns.map(({ brief }) => brief.includes('## What an earlier cast came to'));
  expect(told).toEqual([true, false, false, false]);
});

test('killed in the first and in the second part and resumed, a linked cast comes to the same', async () => {
  const slow = (output: Json): Json => ({ $turn: { output, delayMs: 700 } });
  const agents = { ...AGENTS, Do: [slow(yes), slow(yes)], Write: [slow('written'), slow('written')] };
  const dir = here(agents);
  const kill = async (args: readonly string[], step: RegExp) => {
    const run = start(dir, args, { env: environment(dir) });
    await until('the step', () => step.test(run.stderr()));
    run.child.kill('SIGKILL');
    await run.ended;
  };
  await kill(['link', '--agents', 'agents.json', 'looped', 'judged', '--', 'it'], /▸ Do · 2\/2/);
  await kill(['resume'], /▸ Write/);
  const ran = await batonProcess(dir, ['resume', '--json']);
  const cast = json<CastView>(ran);
  expect([cast.status, pathOf(cast)]).toEqual(['completed', '1, 2 WI-1, 2 WI-2, 3, 4, 3, 4']);
});

test('in the background it is the same cast', async () => {
  const dir = here();
  const begun = json<CastView>(await link(dir, '--detach', 'looped', 'materia:Write', '--', 'it'));
  await until(
    'its end',
    async () => json<CastView>(await baton(dir, ['show', begun.cast, '--json'])).status === 'completed',
  );
  expect(pathOf(json<CastView>(await baton(dir, ['show', begun.cast, '--json'])))).toBe('1, 2 WI-1, 2 WI-2, 3');
});

test.each([
  ['nothing like it', 'qqqqqq', /^baton: there is no loadout or materia qqqqqq; loadouts: looped, .*; materia: Plan, /],
  ['a materia called a loadout', 'loadout:Write', /there is no loadout Write; say materia:Write/],
  ['a misspelt loadout', 'loopd', /did you mean looped\?/],
])('%s is no target, and the loadouts and the materia are told apart', async (_what, target, words) => {
  const { code, stderr } = await baton(here(), ['link', target, '--', 'x']);
  expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
});
