import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { initRepository } from '../../test/init-repository.ts';
import { beginWatch, endWatch } from './main-checkout.ts';

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-checkout-')));
  initRepository(dir);
  put('.gitignore', 'state\n*.log\n.claude\n');
  put('src/x.js', 'x');
  put('src/y.js', 'y');
  git('commit', '-q', '--allow-empty', '-m', 'start');
  git('add', '-A');
  git('commit', '-qm', 'first');
  put('src/y.js', 'half done');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

function put(name: string, content: string): void {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), content);
}

const file = () => join(dir, 'state', 'turns', 'c1-1.main.json');
const begin = (isFresh = true, workspace = dir) => beginWatch(file(), { top: dir, dir: workspace }, isFresh);
const end = async (workspace = dir) =>
  Object.keys(await endWatch(file(), { top: dir, dir: workspace }, join(dir, 'state')));

test.each<[string, () => void, readonly string[]]>([
  ['nothing', () => undefined, []],
  ['a tracked file', () => put('src/x.js', 'z'), ['src/x.js']],
  ['a tracked file of the same size', () => put('src/x.js', 'X'), ['src/x.js']],
  ['a new file', () => put('new.js', 'z'), ['new.js']],
  ['a file that is gone', () => rmSync(join(dir, 'src/x.js')), ['src/x.js']],
  ['uncommitted work that is overwritten', () => put('src/y.js', 'z'), ['src/y.js']],
  ['uncommitted work that git takes back', () => git('checkout', '-q', 'src/y.js'), ['src/y.js']],
  [
    'a file whose time was set back',
    () => void [put('src/x.js', 'z'), utimesSync(join(dir, 'src/x.js'), 1, 1)],
    ['src/x.js'],
  ],
  [
    'a file that git is told to take for unchanged',
    () => void [git('update-index', '--assume-unchanged', 'src/x.js'), put('src/x.js', 'z')],
    ['src/x.js'],
  ],
  [
    'a file that is removed and that git is told to take for absent',
    () => void [git('update-index', '--skip-worktree', 'src/x.js'), rmSync(join(dir, 'src/x.js'))],
    ['src/x.js'],
  ],
  ['what agent programs obey', () => put('.claude/settings.json', '{}'), ['.claude/settings.json']],
  ['a repository inside of it', () => git('init', '-q', 'sub'), ['sub']],
  ['a tracked file that is committed', () => void [put('src/x.js', 'z'), git('commit', '-qam', 'm')], ['src/x.js']],
  [
    'a new file that is committed',
    () => {
      put('new.js', 'z');
      git('add', 'new.js');
      git('commit', '-qm', 'm');
    },
    ['new.js'],
  ],
  [
    'a file that is gone by a commit',
    () => void [git('rm', '-q', 'src/x.js'), git('commit', '-qm', 'm')],
    ['src/x.js'],
  ],
  ['uncommitted work that is thrown away', () => void git('reset', '-q', '--hard'), ['src/y.js']],
  [
    'a file that is committed and put back',
    () => {
      put('src/x.js', 'z');
      git('commit', '-qam', 'm');
      put('src/x.js', 'x');
    },
    ['.git/HEAD'],
  ],
  ['a commit without files', () => git('commit', '-q', '--allow-empty', '-m', 'm'), []],
  ['uncommitted work that is committed', () => git('commit', '-qam', 'mine'), []],
  [
    'a commit that is taken back and leaves its files',
    () => {
      git('commit', '-qam', 'm');
      git('reset', '-q', 'HEAD^');
    },
    [],
  ],
  ['another branch without another file', () => git('checkout', '-q', '-b', 'other'), ['.git/HEAD']],
  ['a branch that loses its last commit', () => git('reset', '-q', '--soft', 'HEAD^'), ['.git/HEAD']],
  [
    'a commit of what nobody has in the files',
    () => {
      const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: dir, input: 'evil', encoding: 'utf8' });
      git('update-index', '--cacheinfo', `100644,${blob.trim()},src/x.js`);
      git('commit', '-qm', 'evil');
    },
    ['.git/HEAD'],
  ],
  ['a file that is saved as it was', () => put('src/y.js', 'half done'), []],
  ['an ignored file', () => put('x.log', 'z'), []],
  ['a file that is made and removed', () => void [put('z.js', 'z'), rmSync(join(dir, 'z.js'))], []],
  ['the configuration, which has a seal of its own', () => put('.baton/config.json', '{}'), []],
])('what changed while an attempt ran: %s', async (_what, change, changed) => {
  await begin();
  change();
  expect(await end()).toEqual(changed);
});

test('another branch brings other files, and they count', async () => {
  otherBranch();
  await begin();
  git('checkout', '-q', 'other');
  expect(await end()).toEqual(['.git/HEAD', 'src/more.js', 'src/x.js']);
  git('checkout', '-q', 'main');
  expect(await end()).toEqual([]);
});

test('another branch between two attempts does not count, not even the files that it removes', async () => {
  otherBranch();
  git('checkout', '-q', 'other');
  await begin();
  rmSync(join(dir, 'src/y.js'));
  expect(await end()).toEqual(['src/y.js']);
  await sleep(250);
  git('checkout', '-q', 'main');
  await sleep(250);
  await begin(false);
  rmSync(join(dir, 'src/x.js'));
  expect(await end()).toEqual(['src/x.js', 'src/y.js']);
});

function otherBranch(): void {
  git('stash', '-q');
  git('checkout', '-q', '-b', 'other');
  put('src/x.js', 'other');
  put('src/more.js', 'more');
  git('add', '-A');
  git('commit', '-qm', 'other');
  git('checkout', '-q', 'main');
}

test('a first commit is compared too', async () => {
  rmSync(join(dir, '.git'), { recursive: true });
  initRepository(dir);
  await begin();
  put('src/x.js', 'z');
  git('add', '-A');
  git('commit', '-qm', 'first');
  expect(await end()).toEqual(['src/x.js']);
});

test('where the commit of before is gone, all that changed meanwhile still counts', async () => {
  await sleep(250);
  await begin();
  put('src/x.js', 'z');
  git('checkout', '-q', '--orphan', 'new');
  git('commit', '-qam', 'one');
  git('branch', '-q', '-D', 'main');
  git('reflog', 'expire', '--expire=now', '--all');
  git('gc', '-q', '--prune=now');
  expect(await end()).toEqual(['.git/HEAD', 'src/x.js']);
});

test('a submodule: what is checked out in it counts, and a commit of that does not', async () => {
  const { GIT_ALLOW_PROTOCOL } = process.env;
  process.env.GIT_ALLOW_PROTOCOL = 'file';
  const other = join(dir, 'state', 'other');
  git('init', '-q', other);
  const inOther = (...args: string[]) => git('-C', other, '-c', 'user.name=x', '-c', 'user.email=x@y', ...args);
  inOther('commit', '-q', '--allow-empty', '-m', 'one');
  inOther('commit', '-q', '--allow-empty', '-m', 'two');
  git('submodule', '--quiet', 'add', other, 'sub');
  if (GIT_ALLOW_PROTOCOL === undefined) delete process.env.GIT_ALLOW_PROTOCOL;
  else process.env.GIT_ALLOW_PROTOCOL = GIT_ALLOW_PROTOCOL;
  git('commit', '-qam', 'sub');
  git('-C', 'sub', 'checkout', '-q', 'HEAD^');
  await begin();
  git('commit', '-qam', 'older');
  expect(await end()).toEqual([]);
  git('-C', 'sub', 'checkout', '-q', '@{-1}');
  expect(await end()).toEqual(['sub']);
});

test('what is changed between two attempts of a turn does not count, what was changed in the first one does', async () => {
  await begin();
  put('src/x.js', 'z');
  expect(await end()).toEqual(['src/x.js']);
  await sleep(250);
  put('mine.js', 'mine');
  await sleep(250);
  await begin(false);
  put('theirs.js', 'theirs');
  expect(await end()).toEqual(['src/x.js', 'theirs.js']);
  put('src/x.js', 'x');
  rmSync(join(dir, 'theirs.js'));
  expect(await end()).toEqual([]);
});

test('a turn that begins again from its first state is compared with the checkout of that moment', async () => {
  await begin();
  put('src/x.js', 'z');
  await begin();
  expect(await end()).toEqual([]);
});

test('a workspace below the top of its repository: all of the checkout counts, by paths from the workspace', async () => {
  mkdirSync(join(dir, 'src/.claude'));
  const below = join(dir, 'src');
  await begin(true, below);
  put('src/x.js', 'z');
  put('top.js', 'z');
  put('src/.claude/settings.json', '{}');
  expect((await end(below)).sort()).toEqual(['../top.js', '.claude/settings.json', 'x.js']);
});
