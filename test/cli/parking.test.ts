// Parked items from outside: what a person sees and says, where the work of an item is kept, and what is left after SIGKILL.
import { expect, test, vi } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { envelope } from '../team.ts';
import { agent, always, baton, cast, json, project, put, start } from './baton.ts';
import { no, PARKING, PARKING_AGENTS, parking, plan, yes } from './parking.ts';
import { coder, deadlyGit, git, repository, writes } from './repository.ts';

vi.setConfig({ testTimeout: 240_000 });

test('in place: the cast waits with exit 4, says what is parked, and a person retries it with a note', async () => {
  const dir = project();
  const asked = await cast(dir, PARKING, PARKING_AGENTS);
  expect([asked.status, asked.code, asked.items]).toMatchObject(['waiting', 'ITEMS_PARKED', { done: 0, parked: 1 }]);
  const why = (await baton(dir, ['why'])).stdout;
  expect(why).toContain('first (WI-1) is parked. The last rejection: still bad.');
  expect(why).toMatch(/retry \S+:WI-1 --note[\s\S]*drop \S+:WI-1 --reason/);
  expect((await baton(dir, ['show'])).stdout).toMatch(
    /T-1 +first +blocked +.*PARKED: put off after 1 rejection; the last one: still bad/,
  );
  const retried = await baton(dir, ['retry', 'latest:fir', '--note', 'try harder', '--json']);
  expect([retried.code, json<CastView>(retried).status]).toEqual([0, 'completed']);
});

test.each<[string, string[], number, string]>([
  ['an item that is not parked', ['retry', 'latest:WI-9'], 1, 'these are parked: first (WI-1)'],
  ['no item', ['drop', 'latest', '--reason', 'x'], 2, 'CAST:ITEM'],
  ['no reason', ['drop', 'latest:1'], 2, '--reason'],
])('%s is not decided about', async (_what, args, code, says) => {
  const dir = project();
  await cast(dir, PARKING, PARKING_AGENTS);
  const ran = await baton(dir, args);
  expect([ran.code, `${ran.stdout}${ran.stderr}`]).toEqual([code, expect.stringContaining(says)]);
  expect(json<CastView>(await baton(dir, ['show', '--json'])).code).toBe('ITEMS_PARKED');
});

test('an agent neither retries nor drops', async () => {
  const dir = project();
  await cast(dir, PARKING, PARKING_AGENTS);
  for (const args of [
    ['retry', 'latest:1'],
    ['drop', 'latest:1', '--reason', 'x'],
  ]) {
    const ran = await baton(dir, [...args, '--json'], { env: { BATON_ATTEMPT: '1.1' } });
    expect([ran.code, json(ran).code]).toEqual([1, 'APPROVER_IS_AGENT']);
  }
});

// In a worktree.
const FILES = parking({ ...coder });
const build = (file: string, text: string): Json => writes({ [file]: text });

/** The second of three items is parked; what each wrote is in a file of its own. */
const SECOND: JsonObject = {
  Plan: [plan('first', 'second', 'third')],
  Build: [build('1.txt', '1'), build('2.txt', 'a'), build('2.txt', 'b'), build('3.txt', '3'), build('2.txt', 'c')],
  Judge: [yes, no('bad'), no('still bad'), yes, yes],
  Sum: ['all done'],
};

function prepared(agents: JsonObject = SECOND): [string, string[]] {
  const dir = repository();
  put(dir, { 'cast.json': FILES, 'agents.json': agents });
  return [dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it', '--json']];
}

const shown = async (dir: string) => json<CastView>(await baton(dir, ['show', '--json']));
const filesIn = (dir: string, name: string) =>
  git(dir, 'ls-tree', '--name-only', name)
    .split('\n')
    .filter((file) => /^\d/.test(file));
const refsOf = (dir: string) => git(dir, 'for-each-ref', '--format=%(refname)', 'refs/baton/');

async function isParked(dir: string): Promise<CastView> {
  const view = await shown(dir);
  expect([view.status, view.code, view.items]).toMatchObject(['waiting', 'ITEMS_PARKED', { done: 2, parked: 1 }]);
  const ref = `refs/baton/${view.cast}/parked/WI-2`;
  expect([filesIn(dir, `baton/${view.cast}`), refsOf(dir)]).toEqual([['1.txt', '3.txt'], ref]);
  expect([filesIn(dir, ref), git(dir, 'show', `${ref}:2.txt`)]).toEqual([['1.txt', '2.txt'], 'b']);
  return view;
}

async function isWhole(dir: string): Promise<void> {
  const view = await shown(dir);
  expect([view.status, view.items]).toMatchObject(['completed', { done: 3, parked: 0 }]);
  expect([filesIn(dir, `baton/${view.cast}`), refsOf(dir)]).toEqual([['1.txt', '2.txt', '3.txt'], '']);
  expect(git(dir, 'show', `baton/${view.cast}:2.txt`)).toBe('c');
}

test('in a worktree the work of a parked item is kept beside the branch, and merged back when it is retried', async () => {
  const [dir, args] = prepared();
  expect((await baton(dir, args)).code).toBe(4);
  const { cast } = await isParked(dir);
  expect((await baton(dir, ['why'])).stdout).toContain(`kept as refs/baton/${cast}/parked/WI-2`);
  const ran = await baton(dir, ['retry', 'latest:2', '--json']);
  expect([ran.code, ran.stderr]).toEqual([0, expect.not.stringContaining('INTERNAL')]);
  await isWhole(dir);
});

test('kept work that clashes with what was done since is rework for its agent', async () => {
  const same = (text: string) => build('same.txt', text);
  const Build = [same('1'), same('2a'), same('2b'), same('3'), same('both')];
  const [dir, args] = prepared({ ...SECOND, Build });
  await baton(dir, args);
  const ran = json<CastView>(await baton(dir, ['retry', 'latest:2', '--json', '--turns']));
  expect([ran.status, git(dir, 'show', `baton/${ran.cast}:same.txt`), refsOf(dir)]).toEqual(['completed', 'both', '']);
  const brief = ran.turns?.filter(({ socket, item }) => socket === 'Socket-2' && item === 'WI-2').at(-1)?.brief;
  expect(brief).toContain('MERGE_CONFLICT');
  expect(brief).toContain('same.txt');
});

// Side by side: which item is parked depends on which lane comes first.
const LANES = `steps:
  - plan: { makes: items, prompt: Plan. }
  - each: plan
    parallel: 3
    do:
      - build: { tools: write, prompt: Build. }
      - review: { tools: run, prompt: Review., reject: { to: build, max: 1, then: park } }
  - sum: { prompt: Sum up. }
`;
const BESIDE: JsonObject = {
  plan: [plan('first', 'second', 'third')],
  build: [build('same.txt', 'x'), '$repeat'],
  sum: ['all done'],
};
// The one that is sent back while the others are at work is rejected again.
const slowly: Json = { $turn: { output: yes, delayMs: 1_500 } };
const SIDE_BY_SIDE = [no('bad'), slowly, slowly, no('still bad'), yes];
const IN_TURNS = [yes, no('bad'), no('still bad'), yes, yes];
const asked = async (dir: string, args: readonly string[]) => {
  const ran = await baton(dir, args);
  return [ran.code, (await shown(dir)).items, (await shown(dir)).status] as const;
};

test.each<[string, readonly string[], readonly Json[]]>([
  ['in worktrees', [], SIDE_BY_SIDE],
  ['in place', ['--in-place'], IN_TURNS],
])(
  'lanes %s: the others go on, and each decision about the parked item ends the cast',
  async (_where, more, review) => {
    for (const [command, counts, status] of [
      [['retry', 'latest:1', '--note', 'try harder'], { done: 3, parked: 0 }, 'completed'],
      [['drop', 'latest:1', '--reason', 'not needed'], { done: 2, parked: 0 }, 'completed'],
      [['abort', 'latest'], { done: 2, parked: 1 }, 'aborted'],
    ] as const) {
      const dir = repository({ '.baton/loadouts/team.yaml': LANES, 'agents.json': { ...BESIDE, review } });
      const args = ['cast', ...more, '--agents', 'agents.json', 'do it', '--json'];
      expect(await asked(dir, args)).toEqual([4, expect.objectContaining({ done: 2, parked: 1 }), 'waiting']);
      const { code, tasks = [] } = await shown(dir);
      const parked = tasks.find((task) => task.status === 'blocked');
      expect([code, parked?.code]).toEqual(['ITEMS_PARKED', 'PARKED']);
      expect(refsOf(dir).includes('/parked/')).toBe(more.length === 0);
      const item = `latest:${parked?.title}`;
      const decision = command.map((word) => (word === 'latest:1' ? item : word));
      expect(await asked(dir, decision)).toEqual([0, expect.objectContaining(counts), status]);
      const left = (await shown(dir)).tasks?.find(({ task }) => task === parked?.task);
      expect(left?.status).toBe({ retry: 'done', drop: 'canceled', abort: 'blocked' }[command[0]]);
    }
  },
);

/** An orchestrator assigns four tasks, of which two wait for the first; it is rejected twice while the fourth is at work. */
function assigned(then: 'park' | 'ask'): string {
  const sockets = {
    'Socket-1': { materia: 'Lead', contract: 'operator', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Build', parse: 'text', edges: [always('Socket-3')] },
    'Socket-3': {
      materia: 'Judge',
      parse: 'json',
      advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
      edges: [
        { when: 'satisfied', to: 'Socket-2' },
        { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 1, then },
      ],
    },
    'Socket-4': { materia: 'Sum', parse: 'text' },
  };
  const exits = [{ id: 'done', from: 'Socket-3', condition: 'always', targetSocketId: 'Socket-4' }];
  const work = {
    ...{
      sockets: ['Socket-2', 'Socket-3'],
      consumes: { from: 'Socket-1', output: 'workItems' },
      exits,
      parallel: { maxConcurrency: 2 },
    },
  };
  const materia = { Lead: { ...agent, generator: true }, Build: agent, Judge: agent, Sum: agent };
  const lead = envelope(
    { id: 'T-1' },
    { id: 'T-2', dependencies: ['T-1'] },
    { id: 'T-3', dependencies: ['T-2'] },
    { id: 'T-4' },
  );
  const slow = { $turn: { output: 'built', delayMs: 2_000 } };
  return repository({
    '.baton/config.json': { materia, loadouts: { L: { entry: 'Socket-1', sockets, loops: { work } } } },
    'agents.json': {
      ...{ Lead: [lead], Build: ['built', slow, ...Array<string>(8).fill('built')], Sum: ['all done'] },
      Judge: [no('bad'), no('still bad'), yes, '$repeat'],
    },
  });
}
const RUN_ASSIGNED = ['cast', '--agents', 'agents.json', 'do it', '--json'];

test('what depends on a dropped item is named first, and dropped with it where a person agrees', async () => {
  const dir = assigned('park');
  expect(await asked(dir, RUN_ASSIGNED)).toEqual([4, expect.objectContaining({ done: 1, parked: 1 }), 'waiting']);
  const refused = await baton(dir, ['drop', 'latest:T-1', '--reason', 'not needed']);
  const said = 'T-2 (Task T-2), T-3 (Task T-3) depend on WI-1, and are dropped with it; say so with --yes';
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(said)]);
  expect((await shown(dir)).status).toBe('waiting');
  const drop = ['drop', 'latest:T-1', '--reason', 'not needed', '--yes'];
  expect(await asked(dir, drop)).toEqual([0, expect.objectContaining({ done: 1, parked: 0 }), 'completed']);
  expect((await shown(dir)).tasks?.map(({ status }) => status)).toEqual(['canceled', 'canceled', 'canceled', 'done']);
});

test('side by side `ask` lets the other items finish, then waits; continue allows as many rounds again', async () => {
  const dir = assigned('ask');
  expect(await asked(dir, RUN_ASSIGNED)).toEqual([4, expect.objectContaining({ done: 1, total: 4 }), 'waiting']);
  expect((await shown(dir)).code).toBe('EDGE_BUDGET_EXHAUSTED');
  expect((await baton(dir, ['why'])).stdout).toMatch(
    /Judge on Task T-1 .* may not go back to Build again[\s\S]*To allow 1 more round:\n.* continue /,
  );
  expect(await asked(dir, ['continue', 'latest', '--json'])).toEqual([
    0,
    expect.objectContaining({ done: 4 }),
    'completed',
  ]);
});

test.each<[string, string[]]>([
  ['dropped', ['drop', 'latest:2', '--reason', 'not needed']],
  ['left as it is', ['show']],
])('merge and undo of a cast whose parked item was %s say where its work is', async (_how, args) => {
  const [dir, start] = prepared();
  await baton(dir, start);
  const { cast } = await isParked(dir);
  await baton(dir, args);
  const merged = await baton(dir, ['merge', '--yes']);
  expect([merged.code, merged.stdout]).toEqual([0, expect.stringContaining(`refs/baton/${cast}/parked/WI-2`)]);
  expect(filesIn(dir, 'HEAD')).toEqual(['1.txt', '3.txt']);
  const undone = await baton(dir, ['undo', '--yes']);
  expect(undone.code).toBe(0);
  expect(git(dir, 'show', `refs/baton/${cast}/parked/WI-2:2.txt`)).toBe('b');
});

test('undo of a cast with a parked item keeps the work of the item and says where', async () => {
  const [dir, start] = prepared();
  await baton(dir, start);
  const { cast } = await isParked(dir);
  const undone = await baton(dir, ['undo', '--yes']);
  expect([undone.code, undone.stdout]).toEqual([0, expect.stringContaining(`refs/baton/${cast}/parked/WI-2`)]);
});

const PARK = '*update-ref*/parked/*';
test.each<['before' | 'after', string]>([
  ['before', PARK],
  ['after', PARK],
  ['before', '*read-tree*-m*'],
  ['after', '*read-tree*-m*'],
])('killed %s git does %s while an item is parked: carried on, it is parked once', async (when, pattern) => {
  const [dir, args] = prepared();
  const running = start(dir, args, { env: deadlyGit(dir, when, pattern) });
  await running.ended;
  expect((await shown(dir)).status).toBe('running');
  expect((await baton(dir, ['resume', '--json'])).code).toBe(4);
  await isParked(dir);
  await baton(dir, ['retry', 'latest:2']);
  await isWhole(dir);
});

test.each<['before' | 'after', string]>([
  ['before', '*merge-tree*'],
  ['after', '*commit-tree*'],
  ['before', '*read-tree*-m*'],
  ['after', '*read-tree*-m*'],
  ['before', '*update-ref*-d*/parked/*'],
  ['after', '*update-ref*-d*/parked/*'],
])('killed %s git does %s while its work is merged back: carried on, it is whole', async (when, pattern) => {
  const [dir, args] = prepared();
  await baton(dir, args);
  await isParked(dir);
  const running = start(dir, ['retry', 'latest:2', '--json'], { env: deadlyGit(dir, when, pattern) });
  await running.ended;
  expect((await shown(dir)).status).toBe('running');
  expect((await baton(dir, ['resume', '--json'])).code).toBe(0);
  await isWhole(dir);
});
