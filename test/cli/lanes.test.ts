// Items that run at the same time each have a worktree; what they did is merged one after the other, and what cannot be
// merged goes back to the item it came from.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Fact } from '../../src/kernel/fact.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { envelope, result, TEAM } from '../team.ts';
import { baton, cast, json, project, put, read, start, until, untilWritten } from './baton.ts';
import { git, repository as plainRepository, worktreesOf } from './repository.ts';

vi.setConfig({ testTimeout: 240_000 });

/** Without the worklogs that are written into it. */
function repository(): string {
  return plainRepository({ '.gitignore': '.baton/state/\ncast.json\nagents.json\n*.log\n*.jsonl\n' });
}

/** A worker's turn that writes files and reports about its task. */
function works(
  id: string,
  files: Readonly<Record<string, string>>,
  over: JsonObject = {},
  more: JsonObject = {},
): Json {
  return { $turn: { output: result(id, over), write: files, ...more } };
}

async function factsOf(dir: string): Promise<readonly Fact[]> {
  return JSON.parse((await baton(dir, ['log', '--json', '--after', '0'])).stdout) as Fact[];
}

const SIDE_BY_SIDE: JsonObject = {
  Lead: [envelope({ id: 'T-1' }, { id: 'T-2' }, { id: 'T-3', dependencies: ['T-1', 'T-2'] })],
  Worker: [
    works('T-1', { 'src/T-1.ts': 'one\n' }),
    works('T-2', { 'src/T-2.ts': 'two\n' }),
    works('T-3', { 'src/T-3.ts': 'three\n' }),
  ],
  Sum: ['done'],
};

test('two at once have a worktree each, one alone works in the cast’s own, and all of it is on the cast’s branch', async () => {
  const dir = repository();
  const view = await cast(dir, { ...TEAM, worktree: { setup: ['touch', 'set.log'] } }, SIDE_BY_SIDE);
  expect([view.status, view.reason]).toEqual(['completed', 'completed']);
  const facts = await factsOf(dir);
  const places = facts.flatMap((fact) => (fact.kind === 'turn.started' && fact.lane ? [fact.place ?? null] : []));
  expect(places).toEqual([1, 2, null]);
  const merged = facts.flatMap((fact) => (fact.kind === 'turn.merged' ? [fact.commit] : []));
  const branch = `baton/${view.cast}`;
  for (const commit of merged) expect(git(dir, 'branch', '--contains', String(commit))).toContain(branch);
  expect([1, 2, 3].map((n) => git(dir, 'show', `${branch}:src/T-${n}.ts`))).toEqual(['one', 'two', 'three']);
  expect([worktreesOf(dir), git(dir, 'branch', '--list', 'baton/*.lane-*')]).toEqual([
    [resolve(dir, view.root ?? '')],
    '',
  ]);
  expect(git(resolve(dir, view.root ?? ''), 'status', '--short')).toBe('');
  expect((await baton(dir, ['merge'])).code).toBe(0);
  expect([read(dir, 'src/T-2.ts'), git(dir, 'status', '--short'), worktreesOf(dir)]).toEqual(['two\n', '', []]);
});

test('in the directory itself they share it, as their paths do not meet', async () => {
  const dir = repository();
  const view = await cast(dir, TEAM, SIDE_BY_SIDE, '--in-place');
  expect([view.status, read(dir, 'src/T-1.ts'), read(dir, 'src/T-3.ts')]).toEqual(['completed', 'one\n', 'three\n']);
  expect((await factsOf(dir)).filter(({ kind }) => kind === 'merge.awaited')).toEqual([]);
});

/** `build` and `review` for each part, two parts at a time. All of them write to one file as well. */
const PARTS: JsonObject = {
  '.baton/loadouts/parts.yaml': `steps:
  - plan: { makes: items, prompt: Plan it. }
  - each: plan
    parallel: 2
    do:
      - build: { tools: write, prompt: "Build {{item.title}}." }
      - review: { prompt: Judge it., reject: { to: build, max: 2 } }
  - summary: { prompt: Sum up. }
`,
};

const wrote = (files: Readonly<Record<string, string>>): Json => ({ $turn: { output: 'built', write: files } });

test('plain items of a loop with `parallel` are built side by side, and a clash between them is mended by its item', async () => {
  const dir = repository();
  put(dir, {
    ...PARTS,
    'agents.json': {
      plan: [{ workItems: ['one', 'two'].map((title) => ({ title, context: title })) }],
      build: [
        wrote({ 'src/one.ts': 'one\n', 'list.txt': 'one\n' }),
        wrote({ 'src/two.ts': 'two\n', 'list.txt': 'two\n' }),
        wrote({ 'list.txt': 'one\ntwo\n' }),
      ],
      review: [{ satisfied: true }, '$repeat'],
      summary: ['done'],
    },
  });
  git(dir, 'add', '-A');
  git(dir, 'commit', '-qm', 'team');
  const view = json<CastView>(await baton(dir, ['cast', '-l', 'parts', '--agents', 'agents.json', '--json', 'do it']));
  expect([view.status, view.reason]).toEqual(['completed', 'completed']);
  const facts = await factsOf(dir);
  expect(facts.flatMap((fact) => (fact.kind === 'turn.started' && fact.place ? [fact.place] : []))).toEqual([1, 2]);
  expect(facts.flatMap((fact) => (fact.kind === 'merge.refused' ? [fact.files] : []))).toEqual([['list.txt']]);
  const branch = `baton/${view.cast}`;
  const files = ['src/one.ts', 'src/two.ts', 'list.txt'];
  expect(files.map((file) => git(dir, 'show', `${branch}:${file}`))).toEqual(['one', 'two', 'one\ntwo']);
  expect([worktreesOf(dir), git(dir, 'branch', '--list', 'baton/*.lane-*')]).toEqual([
    [resolve(dir, view.root ?? '')],
    '',
  ]);
});

/** T-1 gives up and lets its paths go; T-3 changes the same file meanwhile; then T-1 goes on from where it began. */
const CLASH: JsonObject = {
  Lead: [
    envelope(
      { id: 'T-1', lock_scope: ['a.txt'], priority: 'high' },
      { id: 'T-2', lock_scope: ['b.txt'] },
      { id: 'T-3', lock_scope: ['a.txt'] },
    ),
  ],
  Worker: [
    works(
      'T-1',
      { 'a.txt': 'half\n' },
      { status: 'blocked', notes_for_orchestrator: ['no key'], acceptance_check: [] },
    ),
    works('T-2', { 'b.txt': 'b\n' }),
    works('T-3', { 'a.txt': 'three\n' }),
    works('T-1', { 'a.txt': 'one again\n' }),
    works('T-1', { 'a.txt': 'one and three\n' }),
  ],
  Sum: ['done'],
};

test('a conflict goes back to its item with the files named, and is merged once it is mended', async () => {
  const dir = repository();
  const stands = await cast(dir, TEAM, CLASH);
  expect([stands.status, stands.code]).toEqual(['waiting', 'MISSING_REQUIRED_INPUT']);
  const branch = `baton/${stands.cast}`;
  expect(git(dir, 'show', `${branch}:a.txt`)).toBe('three');
  const shown = json<{ lanes: JsonObject[]; files: { path: string }[] }>(await baton(dir, ['diff', '--json']));
  expect(shown.lanes).toEqual([{ lane: 1, task: 'T-1', branch: `${branch}.lane-1`, commits: 0, uncommitted: 1 }]);
  expect(shown.files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
  expect((await baton(dir, ['diff', '--lane', '1'])).stdout).toContain('+half');
  expect((await baton(dir, ['diff', '--lane', '7'])).code).toBe(2);

  const view = json<CastView>(await baton(dir, ['continue', '--json', '--turns']));
  expect([view.status, view.reason]).toEqual(['completed', 'completed']);
  const facts = await factsOf(dir);
  expect(facts.flatMap((fact) => (fact.kind === 'merge.refused' ? [fact.files] : []))).toEqual([['a.txt']]);
  const brief = view.turns?.filter(({ socket }) => socket === 'Socket-2').at(-1)?.brief;
  for (const word of ['MERGE_CONFLICT', 'a.txt']) expect(brief).toContain(word);
  expect([git(dir, 'show', `${branch}:a.txt`), git(dir, 'show', `${branch}:b.txt`)]).toEqual(['one and three', 'b']);
  // What it had left before it gave up is kept.
  const [aside = ''] = git(dir, 'for-each-ref', '--format=%(refname)', 'refs/baton/').split('\n');
  expect(git(dir, 'show', `${aside}:a.txt`)).toBe('half');
  expect(worktreesOf(dir)).toHaveLength(1);
});

test('what waits in the worktree of an item is told by undo, and goes with it', async () => {
  const dir = repository();
  const { cast: id } = await cast(dir, TEAM, CLASH);
  const merged = json<{ allow: boolean; details: { lanes: unknown[] } }>(
    await baton(dir, ['merge', '--yes', '--json']),
  );
  expect([merged.allow, merged.details.lanes.length, read(dir, 'a.txt'), worktreesOf(dir).length > 1]).toEqual([
    ...[true, 1, 'three\n', true],
  ]);
  const asked = await baton(dir, ['undo', id, '--json']);
  expect([asked.code, json(asked).reason]).toEqual([1, expect.stringContaining('1 uncommitted file')]);
  expect((await baton(dir, ['undo', id, '--yes'])).code).toBe(0);
  expect([worktreesOf(dir), git(dir, 'branch', '--list', 'baton/*')]).toEqual([[], '']);
  expect(existsSync(join(dir, '.baton/state/worktrees', `${id}.lane-1.json`))).toBe(false);
});

type Swept = { branch: string; removed: boolean; why: string | null };

test('gc clears worktrees of casts that are over away, and none with work that is nowhere else', async () => {
  const dir = repository();
  const gc = async (...args: string[]) =>
    json<{ details: { worktrees: Swept[] } }>(await baton(dir, ['gc', '--json', ...args])).details.worktrees;
  const waiting = await cast(dir, TEAM, CLASH);
  const done = await cast(dir, TEAM, SIDE_BY_SIDE);
  const branches = [`baton/${waiting.cast}.lane-1`, `baton/${waiting.cast}.lane-2`, `baton/${waiting.cast}`];
  const rows = await gc('--worktrees');
  expect(rows.filter(({ removed }) => removed)).toEqual([]);
  expect(rows.map(({ branch }) => branch)).toEqual(
    expect.arrayContaining([...branches.slice(0, 1), `baton/${done.cast}`]),
  );
  expect(rows.find(({ branch }) => branch === `baton/${done.cast}`)?.why).toContain('unmerged commit');
  expect(rows.find(({ branch }) => branch === branches[0])?.why).toBe('its cast is waiting');

  git(dir, 'merge', '-q', `baton/${done.cast}`);
  expect((await gc('--worktrees', '--dry-run')).filter(({ removed }) => removed)).toHaveLength(1);
  expect((await gc('--older-than', '0m')).find(({ branch }) => branch === `baton/${done.cast}`)?.removed).toBe(true);
  expect(git(dir, 'branch', '--list', `baton/${done.cast}`)).toBe('');

  await baton(dir, ['abort', waiting.cast]);
  expect((await gc('--worktrees')).every(({ removed }) => !removed)).toBe(true);
  const stopped = await gc('--worktrees', '--stopped');
  expect(stopped.find(({ branch }) => branch === branches[0])?.why).toContain('1 uncommitted file');
  expect(worktreesOf(dir).length).toBeGreaterThan(0);
  expect((await baton(dir, ['gc', '--force'])).code).toBe(2);
  await gc('--worktrees', '--stopped', '--force');
  expect([worktreesOf(dir), git(dir, 'branch', '--list', 'baton/*')]).toEqual([[], '']);
});

test('a set-up step that fails for an item pauses the cast, and it goes on from there', async () => {
  const dir = repository();
  put(dir, {
    'set.mjs': `import { existsSync } from 'node:fs';
if (process.env.BATON_LANE === '2' && !existsSync(process.env.BATON_WORKSPACE + '/go.log')) process.exit(3);`,
  });
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '-m', 'step');
  const stands = await cast(dir, { ...TEAM, worktree: { setup: ['node', 'set.mjs'] } }, SIDE_BY_SIDE);
  expect([stands.status, stands.reason]).toEqual(['paused', expect.stringContaining('exit code 3')]);
  put(dir, { 'go.log': '' });
  const view = json<CastView>(await baton(dir, ['continue', '--json']));
  expect([view.status, git(dir, 'show', `baton/${view.cast}:src/T-2.ts`)]).toEqual(['completed', 'two']);
});

/** A cast that hangs is noticed sooner than by the limit of the others. */
const IN_A_MINUTE = { timeout: 60_000 };

/** The first time T-3 gives up, and the others work until they are ended. */
const CROWDED = `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
const [, task] = /"task_id": ?"(T-\\d)"/.exec(readFileSync(0, 'utf8'));
const at = process.argv[2] + '/';
const isFirst = !existsSync(at + 'recast');
appendFileSync(at + (isFirst ? 'before.txt' : 'after.txt'), task + ' ');
if (isFirst && task !== 'T-3') setInterval(() => undefined, 1000);
else console.log(readFileSync(at + (isFirst ? 'gives-up-' : 'done-') + task + '.json', 'utf8'));
`;

test(
  'a cast ends although all its places were taken by turns that give way to a task without a place',
  IN_A_MINUTE,
  async () => {
    const wishes = [
      { id: 'T-1', type: 'serial', lock_scope: ['src'], priority: 'low' },
      { id: 'T-2', lock_scope: ['src'], priority: 'low' },
      { id: 'T-3', lock_scope: ['src'], priority: 'critical' },
      { id: 'T-4', lock_scope: ['docs'], priority: 'low' },
      { id: 'T-5', lock_scope: ['test/y'], priority: 'high' },
    ];
    const runs = (...command: string[]) => ({ runner: 'command', command });
    // What the workers note is no change of the project.
    const notes = project({
      'plan.json': envelope(...wishes),
      'work.mjs': CROWDED,
      ...Object.fromEntries(wishes.map(({ id }) => [`done-${id}.json`, result(id)])),
      'gives-up-T-3.json': result('T-3', { status: 'blocked', acceptance_check: [] }),
    });
    const materia = {
      Lead: { prompt: 'Assign it.', tools: 'readOnly', generator: true, ...runs('cat', join(notes, 'plan.json')) },
      Worker: { prompt: 'Do it.', tools: 'coding', ...runs('node', join(notes, 'work.mjs'), notes) },
      Sum: { prompt: 'Sum up.', tools: 'none', ...runs('echo', 'done') },
    };
    const dir = project({ 'c.json': { ...TEAM, materia } });
    const first = start(dir, ['cast', '--file', 'c.json', '--in-place', '--json', 'x']);
    const ran = async (when: string) => (await untilWritten(notes, `${when}.txt`)).trim().split(' ');
    await ran('before');
    await until('four workers', () => read(notes, 'before.txt').length === 'T-n '.length * 4);
    expect((await ran('before')).toSorted()).toEqual(['T-2', 'T-3', 'T-4', 'T-5']);
    expect((await baton(dir, ['abort', '--reason', 'enough'])).code).toBe(0);
    expect(json(await first.ended)).toMatchObject({ status: 'aborted' });

    put(notes, { recast: '' });
    const view = json<CastView>(await baton(dir, ['recast', '--json']));
    expect([view.status, view.reason]).toEqual(['completed', 'completed']);
    const after = await ran('after');
    expect([after[0], after.toSorted()]).toEqual(['T-1', ['T-1', 'T-2', 'T-3', 'T-4', 'T-5']]);
    const tasks = json<{ status: string }[]>(await baton(dir, ['task', 'list', '--json', '--run', view.cast]));
    expect(tasks.map(({ status }) => status)).toEqual(Array(5).fill('done'));
  },
);
