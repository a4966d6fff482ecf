import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { changesBetween, snapshotOf } from './changes.ts';
import { type Before, beforeOf, planRestoring, restoreFiles } from './restore-files.ts';

function git(dir: string, ...args: string[]): void {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'protocol.file.allow=always'];
  execFileSync('git', [...who, ...args], { cwd: dir, stdio: 'pipe' });
}

function put(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
}

/** With the submodules `lib`, which is checked out, and `far`, which is not. */
function repository(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-restore-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const [dir, other] = [join(home, 'main'), join(home, 'other')];
  for (const folder of [dir, other]) {
    put(folder, { 'one.txt': '1' });
    git(folder, 'init', '-q');
    git(folder, 'add', '-A');
    git(folder, 'commit', '-qm', 'one');
  }
  for (const name of ['lib', 'far']) git(dir, 'submodule', '--quiet', 'add', other, name);
  git(dir, 'commit', '-qm', 'two');
  git(dir, 'submodule', '--quiet', 'deinit', 'far');
  return dir;
}

test('what a cast changed in the directory is taken back, and of what stays the reason is told', async () => {
  const dir = repository();
  const since = await snapshotOf(dir);
  put(dir, { 'one.txt': '2', 'new.txt': 'n', 'again.txt': 'a', 'lib/new.h': 'l', 'far/new.h': 'f' });
  const changes = changesBetween(since, await snapshotOf(dir, { since }));
  put(dir, { 'again.txt': 'b' });
  const before = Object.fromEntries(changes.map(({ path }): [string, Before] => [path, beforeOf(since, path)]));
  const left = Object.fromEntries(changes.map(({ path, digest }) => [path, { digest, remark: null }]));
  const plan = await planRestoring(dir, before, left);
  expect(plan).toMatchObject([
    { path: 'again.txt', what: 'leave', why: 'it was changed again since' },
    { path: 'far/new.h', what: 'remove' },
    { path: 'lib', what: 'leave', why: 'what was changed in a submodule is taken back there: git -C lib status' },
    { path: 'new.txt', what: 'remove' },
    { path: 'one.txt', what: 'restore' },
  ]);
  await restoreFiles(dir, plan);
  expect([existsSync(join(dir, 'new.txt')), readdirSync(join(dir, 'far'))]).toEqual([false, []]);
});
