// A cast that may change files works in a worktree on a branch of its own, and what it did is looked at, merged or dropped.

import { chmodSync, existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { whyNoSandbox } from '../bubblewrap.ts';
import { agent, asProcesses, baton, CHECKOUT, cast, json, project, put, read, script } from './baton.ts';
import { coder, commit, git, repository, row, worktreesOf, writes } from './repository.ts';

const TWO = row({ Build: coder, Look: agent }, ['Build', 'Build', 'Look']);
const WORK = {
  'Socket-1': [writes({ 'a.txt': 'two\n', 'new.txt': 'new\n' })],
  'Socket-2': [writes({ 'sub/b.txt': 'b\n' })],
  Look: ['fine'],
};

async function worked(dir: string): Promise<CastView> {
  const view = await cast(dir, TWO, WORK);
  expect(view.status).toBe('completed');
  return view;
}

async function lines(dir: string, ...args: string[]) {
  put(dir, { 'cast.json': TWO, 'agents.json': WORK });
  return baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', ...args, 'do it']);
}

test('the work of each accepted turn is a commit on the branch of the cast, and the directory stays as it was', async () => {
  const dir = repository();
  const { cast: id, branch, root } = await worked(dir);
  expect([branch, root]).toEqual([`baton/${id}`, worktreesOf(dir)[0]]);
  expect([read(dir, 'a.txt'), existsSync(join(dir, 'new.txt')), git(dir, 'status', '--short')]).toEqual([
    'one\n',
    false,
    '',
  ]);
  expect(git(dir, 'log', '--format=%s|%an <%ae>', `main..baton/${id}`).split('\n')).toEqual([
    'Build (turn 2)|Baton <baton@localhost>',
    'Build (turn 1)|Baton <baton@localhost>',
  ]);
  const trailers = git(dir, 'log', '-1', '--format=%(trailers)', `baton/${id}`).split('\n');
  expect(trailers).toEqual([`Baton-Cast: ${id}`, 'Baton-Turn: 2', 'Baton-Socket: Socket-2']);
  expect(git(dir, 'show', `baton/${id}:sub/b.txt`)).toBe('b');
  const facts = json<JsonObject[]>(await baton(dir, ['log', '--json']));
  const accepted = facts.filter(({ kind }) => kind === 'turn.accepted');
  const touched = accepted.map((fact) => Object.keys(fact.touched ?? {}));
  expect(touched).toEqual([['a.txt', 'new.txt'], ['sub/b.txt'], []]);
});

test('where it works is told at the start, and what to do with it at the end', async () => {
  const dir = repository();
  put(dir, { 'mine.txt': 'mine', 'a.txt': 'half done' });
  const { code, stdout, stderr } = await lines(dir);
  const id = /^cast (\S+)/.exec(stderr)?.[1];
  expect(code).toBe(0);
  expect(stderr).toContain(`on branch baton/${id} from ${git(dir, 'rev-parse', '--short', 'HEAD')} of main`);
  expect(stderr).toContain('2 uncommitted files of yours are not in it');
  for (const way of [`diff ${id}`, `merge ${id}`, `undo ${id}`]) expect(stdout).toContain(way);
  expect([read(dir, 'mine.txt'), read(dir, 'a.txt')]).toEqual(['mine', 'half done']);
  expect((await baton(dir, ['casts'])).stdout).toMatch(/ branch$/m);
  expect((await baton(dir, ['show'])).stdout).toContain(`on branch baton/${id}`);
  expect((await baton(dir, ['show'])).stdout).toContain(`baton diff ${id}`);
  git(dir, 'checkout', '-q', 'a.txt');
  expect((await baton(dir, ['merge'])).code).toBe(0);
  const merged = (await baton(dir, ['show'])).stdout;
  expect(merged).toContain(`its branch baton/${id} is merged`);
  expect(merged).not.toContain(`baton diff ${id}`);
});

test.each<[string, (dir: string) => void, string[], JsonObject]>([
  ['--in-place', () => undefined, ['--in-place'], {}],
  ['worktree: false', () => undefined, [], { worktree: false }],
  ['a plain folder', (dir) => rmSync(join(dir, '.git'), { recursive: true }), [], {}],
])('%s: the cast works in the directory itself', async (_name, change, args, more) => {
  const dir = repository();
  change(dir);
  const view = await cast(dir, { ...TWO, ...more }, WORK, ...args);
  expect([view.status, view.branch, read(dir, 'a.txt')]).toEqual(['completed', undefined, 'two\n']);
  expect(existsSync(join(dir, '.baton/state/worktrees'))).toBe(false);
});

test('a repository without a commit, and a bare one, are said to be no place for a worktree', async () => {
  const dir = project();
  git(dir, 'init', '-q');
  const unborn = await lines(dir);
  expect([unborn.code, read(dir, 'a.txt')]).toEqual([0, 'two\n']);
  expect(unborn.stderr).toContain('works in the directory itself: the repository has no commit yet');
  const bare = project();
  git(bare, 'init', '-q', '--bare');
  const ran = await lines(bare);
  expect([ran.code, read(bare, 'a.txt')]).toEqual([0, 'two\n']);
  expect(ran.stderr).toContain('the repository is bare');
});

test('a cast of agents that only read gets no worktree', async () => {
  const dir = repository();
  const view = await cast(dir, row({ Look: agent }, ['Look']), { Look: ['fine'] });
  expect([view.status, view.branch, worktreesOf(dir)]).toEqual(['completed', undefined, []]);
});

test('a repository with submodules: the set-up step can check them out', async () => {
  const [dir, inner] = [repository(), repository({ 'inner.txt': 'inner' })];
  git(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'inner');
  commit(dir, 'submodule');
  const setup = ['git', '-c', 'protocol.file.allow=always', 'submodule', 'update', '--init', '-q'];
  put(dir, { 'cast.json': { ...TWO, worktree: { setup } }, 'agents.json': WORK });
  const ran = await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it']);
  expect([ran.code, ran.stderr]).toEqual([0, expect.not.stringContaining('submodules')]);
  const [tree = ''] = worktreesOf(dir);
  expect(read(tree, 'inner/inner.txt')).toBe('inner');
  expect((await baton(dir, ['merge'])).code).toBe(0);
  expect([worktreesOf(dir), existsSync(tree)]).toEqual([[], false]);
});

test('a branch that takes the name away is named before anything starts', async () => {
  const dir = repository();
  git(dir, 'branch', 'baton');
  const { code, stdout } = await lines(dir, '--json');
  expect([code, JSON.parse(stdout).code]).toEqual([1, 'WORKTREE_UNUSABLE']);
  expect(JSON.parse(stdout).reason).toContain('git branch -m baton');
});

test('a workspace below the top of its repository works at the same place of the worktree', async () => {
  const dir = repository({ 'packages/one/x.txt': 'x\n' });
  const below = join(dir, 'packages/one');
  put(below, { '.baton/config.json': TWO, 'agents.json': WORK });
  const view = json<CastView>(await baton(below, ['cast', '--agents', 'agents.json', '--json', 'do it']));
  expect([view.status, view.root]).toEqual(['completed', `${worktreesOf(dir)[0]}/packages/one`]);
  expect(git(dir, 'diff', '--name-only', `main..baton/${view.cast}`).split('\n')).toEqual([
    'packages/one/a.txt',
    'packages/one/new.txt',
    'packages/one/sub/b.txt',
  ]);
  expect((await baton(below, ['merge'])).code).toBe(0);
  expect(read(below, 'a.txt')).toBe('two\n');
});

test('the worktree is set up: ignored files are copied, programs run in it, and the rest is not', async () => {
  const dir = repository({
    'setup.mjs': `import { writeFileSync } from 'node:fs';\nwriteFileSync('set.log', process.env.BATON_WORKSPACE);\n`,
  });
  put(dir, { '.env': 'KEY=1', 'other.log': '' });
  const setup = [
    ['node', 'setup.mjs'],
    ['git', 'rev-parse', 'HEAD'],
  ];
  const view = await cast(dir, { ...TWO, worktree: { setup, copy: ['.env', 'absent.log'] } }, WORK);
  const tree = resolve(dir, view.root ?? '');
  expect([read(tree, '.env'), read(tree, 'set.log'), existsSync(join(tree, 'other.log'))]).toEqual([
    'KEY=1',
    dir,
    false,
  ]);
  expect(git(dir, 'diff', '--name-only', `main..baton/${view.cast}`)).not.toMatch(/env|log/);
});

test('a set-up step that fails lets the cast stand, says why, and is tried again, mended where it was wrong itself', async () => {
  const dir = repository();
  const first = ['sh', '-c', 'test -e ok.log || { echo no registry >&2; exit 7; }'];
  const config = (...setup: string[][]) => ({
    '.baton/config.json': { ...TWO, worktree: { setup, copy: ['ok.log'] } },
    'agents.json': WORK,
  });
  put(dir, config(first, ['flase']));
  const view = json<CastView>(await baton(dir, ['cast', '--agents', 'agents.json', '--json', 'do it']));
  expect([view.status, view.path.length]).toEqual(['paused', 0]);
  expect(view.reason).toMatch(/set-up step sh -c .* failed: exit code 7: no registry/);
  put(dir, { 'ok.log': '' });
  const wrong = json<CastView>(await baton(dir, ['continue', '--json']));
  expect([wrong.status, wrong.reason]).toEqual(['paused', expect.stringContaining('the set-up step flase')]);
  put(dir, { '.baton/config.json': '{' });
  const unread = json<CastView>(await baton(dir, ['continue', '--json']));
  expect([unread.status, unread.reason]).toEqual(['paused', expect.stringContaining('config.json:1:2')]);
  expect(unread.reason).toMatch(/^the configuration cannot be read .*; correct that, then carry on$/);
  put(dir, config(first, ['true']));
  const again = json<CastView>(await baton(dir, ['continue', '--json']));
  expect([again.status, worktreesOf(dir).length]).toEqual(['completed', 1]);
});

test('a cast whose worktree was never ready has nothing to show or merge, and can be dropped', async () => {
  const dir = repository();
  const { cast: id } = await cast(dir, { ...TWO, worktree: { setup: ['false'] } }, WORK);
  for (const verb of ['diff', 'merge']) {
    const refused = await baton(dir, [verb, '--json']);
    expect([refused.code, json(refused).code]).toEqual([1, 'WORKTREE_UNUSABLE']);
  }
  expect((await baton(dir, ['undo', id])).code).toBe(0);
  expect([worktreesOf(dir), git(dir, 'branch', '--list', 'baton/*')]).toEqual([[], '']);
  const again = json<CastView>(await baton(dir, ['recast', '--json']));
  expect([again.status, again.reason]).toEqual(['paused', expect.stringContaining('start a new cast')]);
});

test('what git would commit is not copied', async () => {
  const dir = repository();
  put(dir, { 'secret.txt': 'x' });
  const view = await cast(dir, { ...TWO, worktree: { copy: ['secret.txt'] } }, WORK);
  expect([view.status, view.reason]).toEqual(['paused', expect.stringContaining('git does not ignore secret.txt')]);
  expect(existsSync(resolve(dir, view.root ?? '', 'secret.txt'))).toBe(false);
});

test('diff shows the files and the patch, also after the merge; the patch applies', async () => {
  const dir = repository();
  const { cast: id } = await worked(dir);
  const shown = json<{ files: JsonObject[]; uncommitted: number }>(await baton(dir, ['diff', '--json']));
  const added = { status: 'added', insertions: 1, deletions: 0 };
  expect([shown.uncommitted, shown.files]).toEqual([
    0,
    [
      { path: 'a.txt', status: 'modified', insertions: 1, deletions: 1 },
      { path: 'new.txt', ...added },
      { path: 'sub/b.txt', ...added },
    ],
  ]);
  const { stdout: patch } = await baton(dir, ['diff', id]);
  put(dir, { 'x.log': patch });
  git(dir, 'apply', '--check', 'x.log');
  expect((await baton(dir, ['diff', '--stat'])).stdout).toContain('3 files changed');
  await baton(dir, ['merge']);
  expect((await baton(dir, ['diff', id])).stdout).toBe(patch);
});

test('merge brings the work into the current branch and clears worktree and branch away, once nothing is in it alone', async () => {
  const dir = repository();
  const { cast: id } = await worked(dir);
  put(dir, { 'mine.txt': 'uncommitted' });
  const [tree = ''] = worktreesOf(dir);
  put(tree, { 'made.log': 'ignored', 'own/f': 'f' });
  git(join(tree, 'own'), 'init', '-q');
  const verdict = json(await baton(dir, ['merge', id, '--json']));
  expect([verdict.allow, verdict.details]).toEqual([true, expect.objectContaining({ how: 'fast-forward', files: 3 })]);
  expect([read(dir, 'a.txt'), read(dir, 'mine.txt')]).toEqual(['two\n', 'uncommitted']);
  expect([verdict.reason, existsSync(join(tree, 'own/f'))]).toEqual([
    expect.stringMatching(/stays, for it holds .* own has 1 file not committed; .* merge \S+` clears it away/),
    true,
  ]);
  rmSync(join(tree, 'own'), { recursive: true });
  expect((await baton(dir, ['merge', id])).stdout).toContain('1 ignored file was left behind');
  expect([git(dir, 'branch', '--list', 'baton/*'), worktreesOf(dir)]).toEqual(['', []]);
  expect((await baton(dir, ['casts'])).stdout).toMatch(/ merged$/m);
  const again = await baton(dir, ['merge', id, '--json']);
  expect([again.code, json(again).code]).toEqual([1, 'NOT_ALLOWED_NOW']);
});

test('what merge locked in the project is no run: the bundle, the list and the figures are those of the cast', async () => {
  const dir = repository();
  const { cast: id } = await worked(dir);
  const before = json(await baton(dir, ['bundle']));
  expect((await baton(dir, ['merge', id])).code).toBe(0);
  expect(json(await baton(dir, ['bundle']))).toMatchObject({ run_id: before.run_id, ledger: before.ledger });
  const rows = json<JsonObject[]>(await baton(dir, ['task', 'list', '--json']));
  expect(new Set(rows.map(({ run_id }) => run_id))).toEqual(new Set([id]));
  const { runs } = json<{ runs: JsonObject[] }>(await baton(dir, ['status', '--metrics', '--json']));
  expect(runs).toHaveLength(1);
  expect((await baton(dir, ['task', 'list', '--run', `merge-${id}`])).stdout).toContain('T-1');
});

test('undo takes back all that was merged, as a commit of its own, unless work of the user would be lost', async () => {
  const dir = repository();
  const { cast: id } = await worked(dir);
  const before = git(dir, 'rev-parse', 'HEAD');
  await baton(dir, ['merge', id]);
  const merged = git(dir, 'rev-parse', 'HEAD');
  const undo = async () => json(await baton(dir, ['undo', id, '--yes', '--json']));
  const why = async () => (await baton(dir, ['why', id])).stdout;
  expect([await why(), await why()]).toEqual([
    expect.stringContaining('Its work is merged.'),
    expect.not.stringContaining('baton merge'),
  ]);
  expect((await baton(dir, ['undo', id])).code).toBe(1);
  put(dir, { 'a.txt': 'half done\n' });
  expect([(await undo()).code, read(dir, 'a.txt')]).toEqual(['MERGE_CONFLICT', 'half done\n']);
  git(dir, 'checkout', '-q', 'a.txt');
  put(dir, { 'staged.txt': 'x' });
  git(dir, 'add', 'staged.txt');
  expect((await undo()).code).toBe('NOT_ALLOWED_NOW');
  git(dir, 'rm', '-q', '--cached', 'staged.txt');
  git(dir, 'checkout', '-q', '-b', 'elsewhere', before);
  expect((await undo()).reason).toContain('it was merged into main; check that branch out');
  git(dir, 'checkout', '-q', '-');
  expect((await undo()).allow).toBe(true);
  expect([git(dir, 'rev-parse', 'HEAD^'), git(dir, 'diff', before, 'HEAD')]).toEqual([merged, '']);
  expect([read(dir, 'a.txt'), read(dir, 'staged.txt')]).toEqual(['one\n', 'x']);
  expect((await undo()).reason).toContain('taken back already');
  expect(await why()).toContain('Its work was taken back.');
});

test('what was merged is taken back on the branch it was merged into, not on another one that has it', async () => {
  const dir = repository();
  const { cast: id } = await worked(dir);
  const before = git(dir, 'rev-parse', 'HEAD');
  await baton(dir, ['merge', id]);
  const undo = async () => json(await baton(dir, ['undo', id, '--yes', '--json']));
  git(dir, 'checkout', '-q', '-b', 'feature');
  expect(await undo()).toMatchObject({ allow: false, code: 'NOT_ALLOWED_NOW', details: { into: 'main' } });
  git(dir, 'checkout', '-q', '--detach');
  expect((await undo()).code).toBe('NOT_ALLOWED_NOW');
  expect(git(dir, 'diff', 'feature', 'main')).toBe('');
  git(dir, 'checkout', '-q', 'main');
  expect((await undo()).allow).toBe(true);
  expect([git(dir, 'diff', before, 'main'), read(dir, 'a.txt')]).toEqual(['', 'one\n']);
});

test('where the branch it was merged into is gone, the one that has it now will do', async () => {
  const dir = repository();
  const { cast: id } = await worked(dir);
  const before = git(dir, 'rev-parse', 'HEAD');
  git(dir, 'checkout', '-q', '-b', 'feature');
  git(dir, 'merge', '-q', `baton/${id}`);
  expect((await baton(dir, ['merge', id])).code).toBe(0);
  git(dir, 'checkout', '-q', 'main');
  git(dir, 'merge', '-q', 'feature');
  const undo = async () => json(await baton(dir, ['undo', id, '--yes', '--json']));
  expect((await undo()).reason).toContain('it was merged into feature');
  git(dir, 'branch', '-d', 'feature');
  expect((await undo()).allow).toBe(true);
  expect(git(dir, 'diff', before, 'main')).toBe('');
});

test('merge --squash makes one commit of the person, and undo takes it back', async () => {
  const dir = repository();
  const before = git(dir, 'rev-parse', 'HEAD');
  const { cast: id } = await worked(dir);
  expect((await baton(dir, ['merge', id, '-m', 'x'])).code).toBe(2);
  const { code, details } = json(await baton(dir, ['merge', id, '--squash', '-m', 'Take it over', '--json']));
  expect([code, (details as JsonObject).how]).toEqual(['OK', 'one commit']);
  expect(git(dir, 'log', '--format=%s|%an|%P')).toBe(`Take it over|Ada|${before}\nfirst|Ada|`);
  expect([read(dir, 'a.txt'), read(dir, 'sub/b.txt'), git(dir, 'status', '--short')]).toEqual(['two\n', 'b\n', '']);
  expect(git(dir, 'branch', '--list', 'baton/*')).toBe('');
  expect((await baton(dir, ['undo', id, '--yes'])).code).toBe(0);
  expect(git(dir, 'diff', before, 'HEAD')).toBe('');
});

test('without a message it is made of the request, and a line break in it adds no trailer', async () => {
  const dir = repository();
  put(dir, { 'cast.json': TWO, 'agents.json': WORK });
  const request = 'Add it\n\nSigned-off-by: nobody';
  const { cast: id } = json(
    await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', '--json', '--', request]),
  );
  expect((await baton(dir, ['merge', '--squash'])).code).toBe(0);
  expect(git(dir, 'log', '-1', '--format=%s')).toBe('Add it Signed-off-by: nobody');
  expect(git(dir, 'log', '-1', '--format=%(trailers)')).toBe(`Baton-Cast: ${id}`);
});

test('a merge with another history makes a merge commit', async () => {
  const dir = repository();
  await worked(dir);
  put(dir, { 'other.txt': 'x' });
  commit(dir, 'other');
  const verdict = json(await baton(dir, ['merge', '--json']));
  expect(verdict.details).toMatchObject({ how: 'merge commit' });
  expect(git(dir, 'log', '-1', '--format=%P').split(' ')).toHaveLength(2);
  expect(json(await baton(dir, ['undo', '--yes', '--json'])).allow).toBe(true);
  expect([read(dir, 'a.txt'), read(dir, 'other.txt')]).toEqual(['one\n', 'x']);
});

test('a conflict is reported file by file, and nothing is changed', async () => {
  const dir = repository();
  const { cast: id } = await worked(dir);
  put(dir, { 'a.txt': 'mine\n', 'new.txt': 'mine too\n' });
  const head = commit(dir, 'mine');
  put(dir, { 'half.txt': 'uncommitted' });
  const ran = await baton(dir, ['merge', '--json']);
  expect([ran.code, json(ran)]).toEqual([
    1,
    expect.objectContaining({
      code: 'MERGE_CONFLICT',
      details: expect.objectContaining({ files: ['a.txt', 'new.txt'] }),
    }),
  ]);
  expect([git(dir, 'rev-parse', 'HEAD'), git(dir, 'status', '--short'), read(dir, 'half.txt')]).toEqual([
    head,
    '?? half.txt',
    'uncommitted',
  ]);
  expect(git(dir, 'branch', '--list', `baton/${id}`)).not.toBe('');
});

test('a merge that would overwrite uncommitted work is refused', async () => {
  const dir = repository();
  await worked(dir);
  put(dir, { 'a.txt': 'half done\n' });
  const ran = await baton(dir, ['merge', '--json']);
  expect([ran.code, json(ran).code, read(dir, 'a.txt')]).toEqual([1, 'NOT_ALLOWED_NOW', 'half done\n']);
});

test('a merge takes the locks of the directory itself, and gives them back', async () => {
  const dir = repository();
  const { cast: id } = await worked(dir);
  const lock = (paths: string[]): JsonObject => ({
    schema_version: '1.0.0',
    run_id: '7d5f0c5e-2a51-4cf3-9d3f-6f0f3a1b2c3d',
    packet_type: 'assignment',
    global_objective: 'g',
    task: {
      task_id: 'T-1',
      title: 't',
      type: 'parallelizable',
      dependencies: [],
      lock_scope: paths,
      forbidden_scope: [],
      acceptance_criteria: ['done'],
      worklog_path: 'worklogs/w.jsonl',
      timeout_seconds: 600,
      heartbeat_interval_seconds: 60,
      priority: 'normal',
    },
    active_locks: [],
    context_package: [],
    required_output_schema: 'subagent_result_v1',
  });
  put(dir, { 'task.log': lock(['sub']) });
  expect((await baton(dir, ['task', 'create', 'task.log'])).code).toBe(0);
  expect((await baton(dir, ['task', 'claim', 'T-1', '--owner', 'bob'])).code).toBe(0);
  const refused = await baton(dir, ['merge', id, '--json']);
  expect([refused.code, json(refused).code, read(dir, 'a.txt')]).toEqual([1, 'LOCK_CONFLICT', 'one\n']);
  await baton(dir, ['task', 'move', 'T-1', 'canceled', '--reason', 'over', '--run', '7d5f']);
  expect((await baton(dir, ['merge', id])).code).toBe(0);
  expect(json<unknown[]>(await baton(dir, ['lock', 'list', '--json']))).toEqual([]);
});

test('undo drops worktree and branch once a person says so, and keeps to what was merged', async () => {
  const dir = repository();
  const { cast: id } = await worked(dir);
  const unsure = await baton(dir, ['undo', id, '--json']);
  expect([unsure.code, json(unsure).reason]).toEqual([1, expect.stringContaining('2 unmerged commits')]);
  expect(worktreesOf(dir)).toHaveLength(1);
  const tip = git(dir, 'rev-parse', `baton/${id}`);
  const sure = json(await baton(dir, ['undo', id, '--yes', '--json']));
  expect([sure.allow, (sure.details as JsonObject).tip]).toEqual([true, tip]);
  expect([git(dir, 'branch', '--list', 'baton/*'), worktreesOf(dir), read(dir, 'a.txt')]).toEqual(['', [], 'one\n']);
  expect(json(await baton(dir, ['undo', id, '--json'])).allow).toBe(true);
  expect((await baton(dir, ['casts'])).stdout).toMatch(/ undone$/m);
});

test('merged by hand, the rest is cleared away without a question', async () => {
  const dir = repository();
  const { cast: id } = await worked(dir);
  git(dir, 'merge', '-q', `baton/${id}`);
  expect((await baton(dir, ['undo', id])).code).toBe(0);
  expect([worktreesOf(dir), read(dir, 'a.txt')]).toEqual([[], 'two\n']);
});

test('undo in place takes back what it can, also what was never committed: not what was changed since', async () => {
  const dir = repository({ 'old.txt': 'old\n' });
  put(dir, { 'dirty.txt': 'before\n' });
  commit(dir, 'dirty');
  put(dir, { 'dirty.txt': 'uncommitted\n' });
  const files = { 'a.txt': 'two\n', 'new/n.txt': 'n\n', 'dirty.txt': 'by the cast\n', 'old.txt': 'by the cast\n' };
  await cast(dir, row({ Build: coder }, ['Build']), { Build: [writes(files)] }, '--in-place');
  put(dir, { 'old.txt': 'by me\n' });
  const shown = json<{ files: { path: string; status: string }[] }>(await baton(dir, ['diff', '--json']));
  expect(shown.files.map(({ path, status }) => `${status} ${path}`)).toEqual([
    'modified a.txt',
    'modified dirty.txt',
    'added new/n.txt',
    'modified old.txt',
  ]);
  expect((await baton(dir, ['undo'])).code).toBe(1);
  const verdict = json(await baton(dir, ['undo', '--yes', '--json']));
  expect(verdict.details).toMatchObject({
    restored: ['a.txt', 'dirty.txt'],
    removed: ['new/n.txt'],
    left: ['old.txt'],
  });
  expect(verdict).toMatchObject({ allow: false, code: 'UNDO_INCOMPLETE' });
  expect([read(dir, 'a.txt'), read(dir, 'dirty.txt'), read(dir, 'old.txt')]).toEqual([
    'one\n',
    'uncommitted\n',
    'by me\n',
  ]);
  expect(existsSync(join(dir, 'new'))).toBe(false);
});

test('a turn outside of its scope is not committed, and not merged', async () => {
  const dir = repository();
  const config = row({ Build: { ...coder, lockScope: ['src'] } }, ['Build', 'Build']);
  const outside = writes({ 'src/x.txt': 'x', 'a.txt': 'outside' });
  const view = await cast(dir, config, {
    'Socket-1': [writes({ 'src/ok.txt': 'ok' })],
    'Socket-2': [outside, outside],
  });
  expect([view.status, view.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
  expect(git(dir, 'diff', '--name-only', `main..baton/${view.cast}`)).toBe('src/ok.txt');
  expect((await baton(dir, ['merge', '--json'])).code).toBe(1);
  expect((await baton(dir, ['merge', '--yes'])).code).toBe(0);
  expect([read(dir, 'src/ok.txt'), read(dir, 'a.txt'), worktreesOf(dir).length]).toEqual(['ok', 'one\n', 1]);
});

test('a repair turn keeps what was done before; a recast begins from where the turn began and puts the rest aside', async () => {
  const dir = repository();
  const config = row({ Build: { ...coder, parse: 'json' } }, ['Build', 'Build']);
  const bad = (files: Record<string, string>) => writes(files, { output: 'no json' });
  const good = (files: Record<string, string>) => writes(files, { output: '{}' });
  const repaired = await cast(dir, config, {
    'Socket-1': [bad({ 'first.txt': '1' }), good({})],
    'Socket-2': [bad({ 'wrong.txt': '2' }), bad({ 'worse.txt': '3' }), good({ 'right.txt': '4' })],
  });
  expect([repaired.status, repaired.code]).toEqual(['failed', 'CONTRACT_VIOLATION']);
  const branch = `baton/${repaired.cast}`;
  expect(git(dir, 'diff', '--name-only', `main..${branch}`)).toBe('first.txt');
  const again = json<CastView>(await baton(dir, ['recast', '--json']));
  expect(again.status).toBe('completed');
  expect(git(dir, 'diff', '--name-only', `main..${branch}`).split('\n')).toEqual(['first.txt', 'right.txt']);
  const [aside = ''] = git(dir, 'for-each-ref', '--format=%(refname)', 'refs/baton/').split('\n');
  expect(git(dir, 'ls-tree', '--name-only', aside).split('\n')).toEqual(
    expect.arrayContaining(['wrong.txt', 'worse.txt']),
  );
  await baton(dir, ['undo', '--yes']);
  expect(git(dir, 'for-each-ref', 'refs/baton/')).toBe('');
});

test('an agent that commits itself is fine, wherever it commits', async () => {
  const dir = repository({
    'agent.mjs': `import { execFileSync } from 'node:child_process'; import { writeFileSync } from 'node:fs';
const git = (...args) => execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args]);
writeFileSync('own.txt', 'own'); git('add', '-A'); git('checkout', '-q', '--detach'); git('commit', '-q', '-m', 'my own');
writeFileSync('rest.txt', 'rest'); console.log('{}');`,
  });
  const tool = { ...script('agent.mjs'), lockScope: ['.'] };
  const view = await cast(dir, row({ Tool: tool }, ['Tool']), {});
  expect(view.status).toBe('completed');
  expect(git(dir, 'log', '--format=%s', `main..baton/${view.cast}`).split('\n')).toContain('my own');
  expect(git(dir, 'diff', '--name-only', `main..baton/${view.cast}`).split('\n')).toEqual(['own.txt', 'rest.txt']);
  expect(git(resolve(dir, view.root ?? ''), 'symbolic-ref', '--short', 'HEAD')).toBe(`baton/${view.cast}`);
  const facts = json<JsonObject[]>(await baton(dir, ['log', '--json']));
  const digests = Object.values(facts.find(({ kind }) => kind === 'turn.accepted')?.touched ?? {});
  expect(digests).toEqual([expect.stringMatching(/^sha256:/), expect.stringMatching(/^sha256:/)]);
});

test('what governs the agents is sealed in the directory and in the worktree', async () => {
  for (const isMain of [false, true]) {
    const dir = repository({ '.baton/prompts/x.md': 'as written' });
    const where = JSON.stringify(join(isMain ? dir : '', '.baton/prompts/x.md'));
    const code = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${where}, 'mine');\nconsole.log('{}');`;
    put(dir, { 'agent.mjs': code });
    commit(dir, 'agent');
    const view = await cast(dir, row({ Tool: { ...script('agent.mjs'), lockScope: ['.'] } }, ['Tool']), {});
    expect([view.status, view.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
    expect(git(dir, 'rev-parse', `baton/${view.cast}`)).toBe(git(dir, 'rev-parse', 'main'));
  }
});

test('baton finds its workspace from inside the worktree, and casts there do not wait for each other', async () => {
  const dir = repository({
    'agent.mjs': `import { execFileSync } from 'node:child_process'; import { writeFileSync } from 'node:fs';
const baton = (...args) => JSON.parse(execFileSync(process.env.BATON_BIN, args, { encoding: 'utf8' }));
const casts = baton('casts', '--json').map(({ cast }) => cast);
const { BATON_CAST, BATON_TASK, BATON_FENCE } = process.env;
const beat = baton('heartbeat', BATON_TASK, '--owner', 'Tool', '--fence', BATON_FENCE, '--run', BATON_CAST);
writeFileSync('seen.txt', 'x');
console.log(JSON.stringify({ state: { casts, cwd: process.cwd(), cast: BATON_CAST, beat: beat.allow } }));`,
  });
  put(dir, { 'cast.json': row({ Tool: { ...script('agent.mjs'), lockScope: ['.'] } }, ['Tool']) });
  const env = { BATON_BIN: join(CHECKOUT, 'bin', 'baton') };
  const ran = await asProcesses(() =>
    Promise.all([1, 2].map(() => baton(dir, ['cast', '--file', 'cast.json', '--json', 'x'], { env }))),
  );
  for (const each of ran) {
    const { status, data, cast: id, root } = json<CastView & { data: JsonObject }>(each);
    expect([status, data.cwd, data.cast, data.beat]).toEqual(['completed', resolve(dir, root ?? ''), id, true]);
    expect(data.casts).toContain(id);
    expect(each.stderr).not.toContain('postponed');
  }
  expect(worktreesOf(dir)).toHaveLength(2);
});

test('agents side by side have a worktree each: what they did is merged item by item, strays are taken away', async () => {
  const dir = repository();
  const team = join(CHECKOUT, 'examples/team');
  const args = ['--file', join(team, 'config.json'), '--agents', join(team, 'agents.json'), 'Greet every visitor'];
  const view = json<CastView>(await baton(dir, ['cast', '--json', ...args]));
  expect([view.status, view.reason]).toEqual(['completed', 'completed']);
  const log = git(dir, 'log', '--reverse', '--no-merges', '--name-only', '--format=%x00%s', `main..baton/${view.cast}`);
  const commits = log
    .split('\0')
    .slice(1)
    .map((part) => part.trim().split(/\n+/));
  const byTitle = Object.fromEntries(
    commits.map(([title = '', ...files]) => [/: (.*) \(turn/.exec(title)?.[1], files]),
  );
  expect(byTitle).toEqual({
    'Agree on the wording': ['src/wording.txt'],
    'Write the page': ['src/page/index.txt'],
    'Write the styles': ['src/styles/main.txt'],
    'Greet by name': ['src/greeting.txt'],
    'Describe it': ['docs/guide.txt'],
    'Note the release': ['docs/releases.txt'],
  });
  const [aside = ''] = git(dir, 'for-each-ref', '--format=%(refname)', 'refs/baton/').split('\n');
  expect(git(dir, 'diff', '--name-only', `baton/${view.cast}`, aside).split('\n')).toContain('src/page/index.txt');
  expect([worktreesOf(dir).length, git(dir, 'branch', '--list', 'baton/*').split('\n').length]).toEqual([1, 1]);
});

test.skipIf(whyNoSandbox() !== null)('in a sandbox a program changes its worktree and nothing else', async () => {
  const dir = repository();
  const attempts = { [`${dir}/a.txt`]: 'main', 'a.txt': 'tree', [`${dir}/.baton/state/x`]: 'state' };
  put(dir, {
    'agent.mjs': `import { writeFileSync } from 'node:fs'; const done = [];
for (const [file, text] of Object.entries(${JSON.stringify(attempts)})) try { writeFileSync(file, text); done.push(text); } catch {}
console.log(JSON.stringify({ state: { done } }));`,
  });
  commit(dir, 'agent');
  const tool = { ...script('agent.mjs'), lockScope: ['.'], sandbox: 'bwrap' };
  const view = await cast(dir, row({ Tool: tool }, ['Tool']), {});
  expect([view.status, view.data]).toEqual(['completed', { done: ['tree'] }]);
  expect([read(dir, 'a.txt'), git(dir, 'show', `baton/${view.cast}:a.txt`)]).toEqual(['one\n', 'tree']);
});

test('a turn starts git only as often as it has to ask something new', async () => {
  const dir = repository();
  const calls = join(dir, 'git.log');
  const real = (process.env.PATH ?? '').split(':').find((folder) => existsSync(join(folder, 'git'))) ?? '';
  put(dir, { 'bin/git': `#!/bin/sh\necho "$@" >> ${calls}\nexec ${real}/git "$@"\n` });
  chmodSync(join(dir, 'bin/git'), 0o755);
  commit(dir, 'a git that counts');
  put(dir, { 'cast.json': row({ Build: coder }, ['Build', 'Build']), 'agents.json': WORK });
  const args = ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it'];
  const ran = await baton(dir, args, { env: { PATH: `${join(dir, 'bin')}:${process.env.PATH}` } });
  expect(ran.code).toBe(0);
  const count = read(dir, 'git.log').trim().split('\n').length;
  expect(count).toBeGreaterThan(20);
  expect(count).toBeLessThanOrEqual(50);
});

/** The most that a cast of two turns may ask of git. Each run takes its time in every cast of every user; the value is only lowered. */
const GIT_RUNS_MAX = 45;

test('a cast of two turns asks git no more than it has to', async () => {
  const dir = repository();
  const line = `#!/bin/sh\necho "$*" >> '${dir}/runs.log'\nPATH=\${PATH#*:} exec git "$@"\n`;
  put(dir, { 'bin.log/git': line });
  chmodSync(join(dir, 'bin.log/git'), 0o755);
  const turn = { prompt: 'Do it.', tools: 'coding', runner: 'command', command: ['sh', '-c', 'echo w >> w; echo k'] };
  put(dir, { 'cast.json': row({ A: turn, B: turn }, ['A', 'B']) });
  const env = { PATH: `${join(dir, 'bin.log')}:${process.env.PATH}` };
  expect((await baton(dir, ['cast', '--file', 'cast.json', 'hi'], { env })).code).toBe(0);
  const runs = read(dir, 'runs.log').trimEnd().split('\n');
  expect(runs.length, runs.join('\n')).toBeLessThanOrEqual(GIT_RUNS_MAX);
});
