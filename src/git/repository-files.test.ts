import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { initRepository } from '../../test/init-repository.ts';
import { branchAt, commitOfRef, withoutBranches } from './repository-files.ts';

const CORE = '[core]\n\tbare = false\n[remote "origin"]\n\turl = x';

test.each<[what: string, text: string, left: string]>([
  ['a branch', `${CORE}\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main`, CORE],
  ['what follows a branch', `[branch "main"]\n\tremote = origin\n${CORE}`, CORE],
  ['two sections in one line', '[branch "x"][core]\n\tfsmonitor = evil', '[branch "x"][core]\n\tfsmonitor = evil'],
  ['options of a merge', '[branch "x"]\n\tmergeOptions = -s evil', '\tmergeOptions = -s evil'],
  ['a value that goes on', '[branch "x"]\n\tremote = a\\\n[core]', '\tremote = a\\\n[core]'],
  ['a branch of this repository', '[branch "x"]\n\tremote = .\n\tmerge = refs/heads/main', ''],
  ['a folder in the place of a remote', `${CORE}\n[branch "x"]\n\tpushRemote = evil`, `${CORE}\n\tpushRemote = evil`],
  ['an address', `${CORE}\n[branch "x"]\n\tremote = https://evil/x`, `${CORE}\n\tremote = https://evil/x`],
  ['a section behind a value', '[branch "x"]\n\tremote = a [core]', '\tremote = a [core]'],
])('of %s only what can run nothing is left out', (_, text, left) => {
  expect(withoutBranches(text)).toBe(left);
});

type Git = (...args: readonly string[]) => string;
const commit = (git: Git) => void git('commit', '-q', '--allow-empty', '-m', 'one');
const NAMES = ['HEAD', 'MERGE_HEAD', 'refs/heads/main', 'refs/heads/other', 'refs/heads/none'];
const ASKED = ['HEAD~1', 'refs/tags/v1', 'main', 'refs/heads/a..b', 'refs/heads/main^', '0'.repeat(40)];
const OF_MAIN = ['HEAD', 'refs/heads/main'];

test.each<[state: string, make: (git: Git, dir: string) => void, from: string, onlyGitKnows: readonly string[]]>([
  ['no commit yet', () => undefined, '', []],
  ['a branch', commit, '', []],
  ['a detached HEAD', (git) => [commit(git), git('checkout', '-q', '--detach')], '', []],
  ['packed refs', (git) => [commit(git), git('pack-refs', '--all', '--prune')], '', []],
  ['a packed branch that moved', (git) => [commit(git), git('pack-refs', '--all'), commit(git)], '', []],
  ['a merge that is under way', (git, dir) => [commit(git), mergeIn(dir, git)], '', []],
  ['a worktree', (git) => [commit(git), git('worktree', 'add', '-q', '-b', 'other', 'tree')], 'tree', []],
  ['a folder below', (git, dir) => [commit(git), mkdirSync(join(dir, 'sub'))], 'sub', []],
  ['a folder that is gone', commit, 'gone', NAMES],
  ['an empty branch', (git, dir) => [commit(git), writeFileSync(join(dir, '.git/refs/heads/main'), '')], '', OF_MAIN],
  ['no HEAD', (git, dir) => [commit(git), rmSync(join(dir, '.git/HEAD'))], '', NAMES],
  ['refs in a table', (git) => [commit(git), git('config', 'extensions.refStorage', 'reftable')], '', NAMES],
])('%s: the commit of a ref is what git says, or left to git', (_, make, from, onlyGitKnows) => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-refs-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  initRepository(dir);
  make((...args) => execFileSync('git', args, { cwd: dir, encoding: 'utf8', stdio: 'pipe' }), dir);
  const folder = join(dir, from);
  const saysGit = (...asked: string[]) => {
    const { status, stdout } = spawnSync('git', ['rev-parse', '-q', ...asked], {
      cwd: folder,
      encoding: 'utf8',
    });
    return status === 0 ? stdout.trim() : null;
  };
  const expected = NAMES.map((name) => [
    name,
    onlyGitKnows.includes(name) ? undefined : saysGit('--verify', `${name}^{commit}`),
  ]);
  expect(NAMES.map((name) => [name, commitOfRef(folder, name)])).toEqual(expected);
  if (commitOfRef(folder, 'HEAD')) expect(branchAt(folder) ?? 'HEAD').toBe(saysGit('--symbolic-full-name', 'HEAD'));
  expect(ASKED.map((name) => commitOfRef(folder, name))).toEqual(ASKED.map(() => undefined));
});

function mergeIn(dir: string, git: Git): void {
  writeFileSync(join(dir, 'a.txt'), 'a');
  git('checkout', '-q', '-b', 'other');
  git('add', '-A');
  git('commit', '-q', '-m', 'a');
  git('checkout', '-q', 'main');
  git('merge', '-q', '--no-ff', '--no-commit', 'other');
}
