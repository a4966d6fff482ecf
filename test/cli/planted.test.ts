// What a turn plants in `.git` is noticed and refused, and runs in none of our own calls of git.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { initRepository } from '../init-repository.ts';
import { baton, cast, put } from './baton.ts';
import { git, repository, row } from './repository.ts';

const PLANT = `
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const own = resolve(git('rev-parse', '--git-dir'));
const common = resolve(git('rev-parse', '--git-common-dir'));
const put = (file, text) => { mkdirSync(dirname(file), { recursive: true }); writeFileSync(file, text); chmodSync(file, 0o755); };
const RUN = '#!/bin/sh\\ntouch "$RAN"\\ncat\\n';
const EVIL = () => git('-c', 'user.name=x', '-c', 'user.email=x@y', 'commit-tree', 'HEAD^{tree}', '-m', 'evil');
writeFileSync('work.txt', 'work');
`;

/** A repository with a utility that runs this code in its turn, after the helpers above. */
async function plants(
  code: string,
  more: JsonObject = {},
  ...args: string[]
): Promise<{ dir: string; seen: Awaited<ReturnType<typeof cast>> }> {
  const dir = repository({ 'tools/git.conf': '' });
  mkdirSync(join(dir, 'inner'));
  initRepository(join(dir, 'inner'));
  put(dir, { 'inner/a.txt': 'a' });
  git(dir, 'config', 'include.path', '../tools/git.conf');
  git(dir, 'config', 'core.hooksPath', '.hooks/_');
  const ran = join(dir, 'ran.log');
  put(dir, { '.hooks/_/.gitignore': '*', 'plant.mjs': `${PLANT.replaceAll('$RAN', ran)}${code}\nconsole.log('{}');` });
  const utility = { type: 'utility', command: ['node', join(dir, 'plant.mjs')], parse: 'json', lockScope: ['.'] };
  const config = row({ a: utility }, ['a'], more);
  return { dir, seen: await cast(dir, config, {}, ...args) };
}

test.each<[what: string, code: string, file: string]>([
  ['a hook', `put(common + '/hooks/pre-commit', RUN);`, '.git/hooks/pre-commit'],
  ['a watcher', `put(own + '/../fs.sh', RUN); git('config', 'core.fsmonitor', own + '/../fs.sh');`, '.git/config'],
  [
    'a filter',
    `put(common + '/clean.sh', RUN); git('config', 'filter.x.clean', common + '/clean.sh'); put(common + '/info/attributes', '* filter=x\\n');`,
    '.git/info/attributes',
  ],
  [
    'a rule of what to ignore',
    `put(common + '/info/exclude', 'secret\\n'); writeFileSync('secret', 'x');`,
    '.git/info/exclude',
  ],
  [
    'a configuration of its worktree',
    `put(own + '/config.worktree', '[core]\\n\\tfsmonitor = evil\\n');`,
    'config.worktree',
  ],
  [
    'a hook where core.hooksPath leads in the project',
    `put(dirname(common) + '/.hooks/_/pre-commit', RUN);`,
    '.git/hooks/.hooks/_/pre-commit',
  ],
  [
    'a hook of a repository inside of the checkout',
    `put(dirname(common) + '/inner/.git/hooks/pre-commit', RUN);`,
    'inner/.git/hooks/pre-commit',
  ],
  ['another place of hooks', `git('config', 'core.hooksPath', 'evil');`, '.git/config'],
  ['an include', `git('config', 'include.path', '../evil');`, '.git/config'],
  ['a command in a branch section', `git('config', 'branch.x.mergeOptions', '--strategy=evil');`, '.git/config'],
  ['another object in the place of one', `git('replace', 'HEAD', EVIL());`, '.git/refs/replace/'],
  ['the same in the packed list', `git('replace', 'HEAD', EVIL()); git('pack-refs', '--all');`, '.git/refs/replace/'],
  ['a remote of the old form', `put(common + '/remotes/evil', 'URL: /tmp/evil\\n');`, '.git/remotes/evil'],
  ['a push to a folder', `git('config', 'branch.main.pushRemote', 'evil');`, '.git/config'],
  [
    'a configuration of another worktree',
    `git('worktree', 'add', '-q', '--detach', own + '-other'); put(common + '/worktrees/' + basename(own) + '-other/config.worktree', '[core]\\n\\tfsmonitor = evil\\n');`,
    '-other/config.worktree',
  ],
  [
    'another repository for another worktree',
    `put(common + '/worktrees/evil/commondir', '/tmp/evil\\n');`,
    '.git/worktrees/evil/commondir',
  ],
  ['a command of a rebase', `put(common + '/rebase-merge/git-rebase-todo', 'exec evil\\n');`, '.git/rebase-merge/'],
  [
    'a hook of a submodule of its worktree',
    `put(own + '/modules/sub/HEAD', 'x'); put(own + '/modules/sub/hooks/pre-commit', RUN);`,
    '/modules/sub/hooks/pre-commit',
  ],
  ['another repository', `writeFileSync('.git', 'gitdir: ' + common + '\\n');`, '".git"'],
])('%s is refused', async (_, code, file) => {
  const { dir, seen } = await plants(code);
  expect([seen.status, seen.code, seen.reason]).toEqual(['failed', 'SCOPE_VIOLATION', expect.stringContaining(file)]);
  expect(seen.reason).toMatch(/remove what was planted|put \.git back|puts back in/);
  await baton(dir, ['diff', String(seen.cast)]);
  await baton(dir, ['doctor']);
  expect(existsSync(join(dir, 'ran.log'))).toBe(false);
});

const NOTES = `
const turns = process.env.BATON_HOME + '/turns';
put(common + '/hooks/pre-commit', RUN);
const digest = 'run-sha256:' + createHash('sha256').update(RUN).digest('hex');
const rewrite = (change) => {
  for (const name of readdirSync(turns)) {
    const noted = JSON.parse(readFileSync(turns + '/' + name));
    change(noted);
    writeFileSync(turns + '/' + name, JSON.stringify(noted));
  }
};
`;

test.each<[what: string, code: string, ...args: string[]]>([
  ['removes', `${NOTES} rmSync(turns, { recursive: true });`],
  ['removes in place', `${NOTES} rmSync(turns, { recursive: true });`, '--in-place'],
  ['rewrites', `${NOTES} rewrite(({ commands }) => { if (commands) commands['.git/hooks/pre-commit'] = digest; });`],
  [
    'shifts',
    `put(dirname(common) + '/a.txt', 'x'); ${NOTES.replace('put(', '(() => {})(')} rewrite(({ windows }) => { if (windows) windows.length = 0; });`,
  ],
  [
    'calls a file the output of Baton in',
    `const stray = dirname(common) + '/stray.txt'; put(stray, 'x');
     const { dev, ino } = statSync(stray); const noted = { dev, ino, size: 0, noted: 0 };
     put(process.env.BATON_HOME + '/outputs/' + dev + '-' + ino, JSON.stringify({ ...noted, output: noted, mac: '' }));`,
  ],
])('a turn that %s what Baton noted before it is refused', async (_, code, ...args) => {
  const { seen } = await plants(code, {}, ...args);
  expect([seen.status, seen.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
});

test('a hook that the branch shows is work like any file', async () => {
  const code = `put('.hooks/_/pre-commit', RUN); execFileSync('git', ['add', '-f', '.hooks/_/pre-commit']);`;
  const { seen } = await plants(code, {}, '--in-place');
  expect([seen.status, seen.reason]).toEqual(['completed', 'completed']);
});

test('what git notes about branches, and its samples of hooks, are no plants', async () => {
  const code = `git('config', 'branch.feature.remote', '.'); git('config', 'branch.feature.merge', 'refs/heads/feature');
    put(common + '/hooks/x.sample', RUN); git('gc', '-q');`;
  const { seen } = await plants(code);
  expect([seen.status, seen.reason]).toEqual(['completed', 'completed']);
});

const NESTED = `execFileSync('git', ['init', '-q', 'sub']); writeFileSync('sub/a.txt', 'a');`;

test.each<[what: string, code: string, file: string]>([
  ['a hook', `put(common + '/hooks/pre-commit', RUN);`, '.git/hooks/pre-commit'],
  ['a hook where core.hooksPath leads', `put('.hooks/_/pre-commit', RUN);`, '.git/hooks/.hooks/_/pre-commit'],
  ['a setting in a file that is included', `put('tools/git.conf', '[core]\\n\\tpager = evil\\n');`, '.git/config'],
  ['a hook of a nested repository', `${NESTED} put('sub/.git/hooks/pre-commit', RUN);`, 'sub/.git/hooks/pre-commit'],
  ['a watcher of one', `${NESTED} git('-C', 'sub', 'config', 'core.fsmonitor', 'evil');`, 'sub/.git/config'],
  [
    'a remote of one that runs a command',
    `${NESTED} git('-C', 'sub', 'remote', 'add', 'x', 'ext::evil');`,
    'sub/.git/config',
  ],
])('in the directory itself, %s is refused too', async (_, code, file) => {
  const { seen } = await plants(code, {}, '--in-place');
  expect([seen.status, seen.code, seen.reason]).toEqual(['failed', 'SCOPE_VIOLATION', expect.stringContaining(file)]);
});

test('a nested repository as git makes it is no plant in the directory itself', async () => {
  const code = `${NESTED} git('-C', 'sub', 'remote', 'add', 'x', 'https://example.org/x.git');`;
  const { seen } = await plants(code, {}, '--in-place');
  expect([seen.status, seen.reason]).toEqual(['completed', 'completed']);
});
