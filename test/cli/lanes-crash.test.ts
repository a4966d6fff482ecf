// Killed anywhere on the way from an accepted item to the cast's branch: carried on, every item is in the branch once.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Fact } from '../../src/kernel/fact.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { envelope, result, TEAM } from '../team.ts';
import { baton, batonProcess, json, put, start, until } from './baton.ts';
import { deadlyGit, git, repository, worktreesOf } from './repository.ts';

vi.setConfig({ testTimeout: 240_000 });

function works(id: string, files: Readonly<Record<string, string>>, over: JsonObject = {}): Json {
  return { $turn: { output: result(id, over), write: files } };
}

const THREE: JsonObject = {
  Lead: [envelope({ id: 'T-1' }, { id: 'T-2' }, { id: 'T-3' })],
  Worker: [1, 2, 3].map((n) => works(`T-${n}`, { [`src/T-${n}.ts`]: `${n}\n`, [`src/T-${n}.ts.bak`]: 'x' })),
  Sum: ['done'],
};

const SCOPED: JsonObject = {
  ...THREE,
  Lead: [envelope(...[1, 2, 3].map((n) => ({ id: `T-${n}`, lock_scope: [`src/T-${n}.ts`, `src/T-${n}.ts.bak`] })))],
};

/** Stands before a pattern that is about the cast's own branch only. */
const NO_LANE = '*.lane-*) ;;';

function prepared(agents: JsonObject): [string, string[]] {
  const ignored = '.baton/\nparts.yaml\ncast.json\nagents.json\n*.log\n*.jsonl\n';
  const dir = repository({ '.gitignore': ignored });
  put(dir, { 'cast.json': TEAM, 'agents.json': agents });
  return [dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it']];
}

async function factsOf(dir: string): Promise<readonly Fact[]> {
  return JSON.parse((await baton(dir, ['log', '--json', '--after', '0'])).stdout) as Fact[];
}

/** Everything that holds for a cast that came to its end, however often it was cut off. */
async function isWhole(dir: string, view: CastView, files: Readonly<Record<string, string>>): Promise<void> {
  expect([view.status, view.reason]).toEqual(['completed', 'completed']);
  const branch = `baton/${view.cast}`;
  for (const [path, text] of Object.entries(files)) expect(git(dir, 'show', `${branch}:${path}`)).toBe(text);
  expect(git(dir, 'diff', '--name-only', `main..${branch}`).split('\n')).toEqual(Object.keys(files));
  const own = resolve(dir, view.root ?? '');
  expect([worktreesOf(dir), git(own, 'status', '--short')]).toEqual([[own], '']);
  const facts = await factsOf(dir);
  const done = facts.flatMap((fact) => (fact.kind === 'task.moved' && fact.to === 'done' ? [fact.task] : []));
  expect(done.toSorted()).toEqual(['T-1', 'T-2', 'T-3']);
  // Nothing was merged twice: no commit of the branch takes back what another one brought.
  expect(git(dir, 'log', '--format=%H', '--diff-filter=D', `main..${branch}`)).toBe('');
}

const WHOLE = Object.fromEntries(
  [1, 2, 3].flatMap((n) => [
    [`src/T-${n}.ts`, `${n}`],
    [`src/T-${n}.ts.bak`, 'x'],
  ]),
);

type Kill = readonly ['before' | 'after', string];

/**
 * Runs a command and then `resume`, each to the next kill; answers how the cast stands then. Which lane is merged last differs,
 * so the last moment may not come before the cast is completed; every earlier one has to.
 */
async function killedAt(dir: string, args: readonly string[], kills: readonly Kill[]): Promise<string | undefined> {
  let next = args;
  for (const [at, [when, pattern]] of kills.entries()) {
    const ran = await batonProcess(dir, next, { env: deadlyGit(dir, when, pattern) });
    const isMissed = existsSync(join(dir, '.baton/state/deadly/armed'));
    if (isMissed && at > 0 && at === kills.length - 1 && ran.code === 0) break;
    expect([pattern, ran.code === null ? null : ran, isMissed]).toEqual([pattern, null, false]);
    next = ['resume'];
  }
  return json<{ status: string }[]>(await baton(dir, ['casts', '--json']))[0]?.status;
}

const OWN_REF = `${NO_LANE} *"update-ref -m baton refs/heads/baton/"*`;

test.each<[string, readonly Kill[]]>([
  [
    'an item is merged',
    [
      ['before', '*"merge-tree --write-tree"*'],
      ['after', '*"commit-tree"*" -p "*" -p "*'],
      ['before', OWN_REF],
      ['after', OWN_REF],
    ],
  ],
  [
    'the files follow the branch',
    [
      ['after', '*"update-ref -m baton refs/heads/baton/"*'],
      ['before', '*"read-tree -m -u"*'],
      ['after', '*"read-tree -m -u"*'],
      ['after', '*"reset -q --hard"*'],
    ],
  ],
])('killed again and again by git while %s', async (_what, kills) => {
  const [dir, args] = prepared(SCOPED);
  const status = await killedAt(dir, args, kills);
  const look = status === 'completed' ? 'show' : 'resume';
  await isWhole(dir, json<CastView>(await baton(dir, [look, '--json'])), WHOLE);
});

test('killed when it is over already, and only its worktrees are not cleared away: merging does that', async () => {
  const [dir, args] = prepared(SCOPED);
  const stands = await killedAt(dir, args, [['after', '*"worktree remove"*lane-2*']]);
  if (stands !== 'completed') await baton(dir, ['resume']);
  expect((await baton(dir, ['merge'])).code).toBe(0);
  expect([worktreesOf(dir), git(dir, 'branch', '--list', 'baton/*')]).toEqual([[], '']);
});

/** Plain items of a loop that says `parallel`: they have no packets, and each has a worktree from the start. */
const PLAIN = `steps:
  - plan: { makes: items, prompt: Plan it. }
  - each: plan
    parallel: 3
    do:
      - build: { tools: write, prompt: Build it., reject: build }
  - summary: { prompt: Sum up. }
`;

test('killed again and again by git while plain items are merged', async () => {
  const [dir, args] = prepared({
    plan: [{ workItems: ['one', 'two', 'three'].map((title) => ({ title, context: title })) }],
    build: [1, 2, 3].map((n) => ({
      $turn: { output: { satisfied: true }, write: { [`src/T-${n}.ts`]: `${n}\n`, [`src/T-${n}.ts.bak`]: 'x' } },
    })),
    summary: ['done'],
  });
  put(dir, { 'parts.yaml': PLAIN });
  const cast = args.map((arg) => (arg === 'cast.json' ? 'parts.yaml' : arg));
  const status = await killedAt(dir, cast, [
    ['before', '*"merge-tree --write-tree"*'],
    ['after', '*"commit-tree"*" -p "*" -p "*'],
    ['after', OWN_REF],
  ]);
  const look = status === 'completed' ? 'show' : 'resume';
  await isWhole(dir, json<CastView>(await baton(dir, [look, '--json'])), WHOLE);
});

const CLASH: JsonObject = {
  Lead: [
    envelope(
      { id: 'T-1', lock_scope: ['a.txt'], priority: 'high' },
      { id: 'T-2', lock_scope: ['b.txt'] },
      { id: 'T-3', lock_scope: ['a.txt'] },
    ),
  ],
  Worker: [
    works('T-1', { 'a.txt': 'half\n' }, { status: 'blocked', acceptance_check: [] }),
    works('T-2', { 'b.txt': 'b\n' }),
    works('T-3', { 'a.txt': 'three\n' }),
    works('T-1', { 'a.txt': 'one again\n' }),
    works('T-1', { 'a.txt': 'one and three\n' }),
  ],
  Sum: ['done'],
};

test('killed again and again by git while a conflict is made ready to be mended', async () => {
  const [dir, args] = prepared(CLASH);
  expect(await baton(dir, args)).toMatchObject({ code: 4 });
  await killedAt(
    dir,
    ['continue'],
    [
      ['after', '*"merge-tree --write-tree"*'],
      ['after', '*"update-ref -m baton refs/heads/baton/"*".lane-1 "*'],
      ['after', '*"read-tree -m -u"*'],
    ],
  );
  const view = json<CastView>(await baton(dir, ['resume', '--json']));
  await isWhole(dir, view, { 'a.txt': 'one and three', 'b.txt': 'b' });
  expect((await factsOf(dir)).filter(({ kind }) => kind === 'merge.refused')).toHaveLength(1);
});

/** One in the ordinary run; as many as are asked for in a long one. */
const SEEDS = Array.from({ length: Number(process.env.KILL_SEEDS ?? 1) }, (_, index) => index + 1);

test.each(SEEDS)('killed again and again at moments of seed %d, it comes to its end', async (seed) => {
  const [dir, args] = prepared(SCOPED);
  let state = seed * 7919;
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const cast = start(dir, args);
  await until('the name', () => /^cast \S+\n/.test(cast.stderr()));
  await sleep(random(2_500));
  cast.child.kill('SIGKILL');
  await cast.ended;
  for (let round = 0; round < 2; round++) {
    const again = start(dir, ['resume']);
    await sleep(400 + random(2_500));
    again.child.kill('SIGKILL');
    await again.ended;
  }
  const [listed] = json<{ status: string }[]>(await baton(dir, ['casts', '--json']));
  // Its name is told before its first entry is written: killed in between, nothing has begun.
  const again = listed === undefined ? args : [listed.status === 'completed' ? 'show' : 'resume'];
  const view = json<CastView>(await baton(dir, [...again, '--json']));
  expect([view.status, view.reason, view.accepted]).toEqual(['completed', 'completed', 5]);
  // Of items side by side each has its own order, and what they hand on is the same as if nobody had been killed.
  const visit = (socket: string, number = 1, item: string | null = null) => ({ socket, visit: number, item });
  const items = [1, 2, 3].map((n) => visit('Socket-2', n, `WI-${n}`));
  expect(view.path).toEqual([visit('Socket-1'), ...items, visit('Socket-3')]);
  const shown = json<CastView>(await baton(dir, ['show', '--json']));
  expect([shown.path, shown.data]).toEqual([view.path, view.data]);
  const results = Object.fromEntries(
    (await factsOf(dir)).flatMap((fact) =>
      fact.kind === 'turn.accepted' && fact.turn > 1 && fact.turn < 5 ? [[fact.turn, JSON.parse(fact.output)]] : [],
    ),
  );
  expect(results).toEqual({ 2: result('T-1'), 3: result('T-2'), 4: result('T-3') });
  expect((await baton(dir, ['merge', '--json'])).code).toBe(0);
  for (const [path, text] of Object.entries(WHOLE)) expect(git(dir, 'show', `HEAD:${path}`)).toBe(text);
  expect([git(dir, 'status', '--short'), worktreesOf(dir)]).toEqual(['', []]);
});
