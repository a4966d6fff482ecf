import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { infrastructureFailure } from '../kernel/cast/fault.ts';
import type { JsonObject } from '../kernel/json.ts';
import { commit, mimeBootstrap, mimeMaintain } from './cast-branch.ts';
import type { ShippedInput } from './utility.ts';
import { branchNameFor, detectVcs, detectVcsPlainly } from './vcs.ts';

vi.setConfig({ testTimeout: 60_000 });
const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-mime-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const NAMED = {
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@x',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@x',
};
beforeEach(() => {
  // No configuration of this machine takes part.
  for (const name of [...Object.keys(NAMED), 'EMAIL']) vi.stubEnv(name, undefined);
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
});
afterEach(() => vi.unstubAllEnvs());

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...NAMED },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

function repository(): string {
  const root = mkdtempSync(path.join(base, 'r-'));
  git(root, 'init', '-q', '-b', 'main');
  writeFileSync(path.join(root, 'README'), 'hello\n');
  git(root, 'add', '.');
  git(root, 'commit', '-q', '-m', 'start');
  return root;
}

const ask = (cwd: string, changes: Partial<ShippedInput> = {}): ShippedInput => ({
  cwd,
  castId: 'cast-1',
  params: {},
  state: {},
  item: { title: 'feat: greet', context: 'c' },
  ...changes,
});

type Said = { satisfied: boolean; context?: string; state: Record<string, JsonObject> };

async function said(outcome: ReturnType<typeof mimeMaintain>): Promise<Said> {
  const got = await outcome;
  if (!got.ok) throw new Error(got.reason);
  return JSON.parse(got.output) as Said;
}

test('a branch name is the same for the same cast and another for another', () => {
  const name = branchNameFor('mime', 'cast-1');
  expect(name).toMatch(/^mime\/[a-z]+-[a-z]+-[0-9a-f]{10}$/);
  expect(branchNameFor('mime', 'cast-1')).toBe(name);
  expect(branchNameFor('mime', 'cast-2')).not.toBe(name);
  expect(branchNameFor('blackbelt', 'cast-1')).toBe(name.replace('mime', 'blackbelt'));
});

test('a branch is created once, switched to when it exists, and kept when it is there', async () => {
  const root = repository();
  mkdirSync(path.join(root, 'sub'));
  const branchName = branchNameFor('mime', 'cast-1');
  const first = await said(mimeBootstrap(ask(path.join(root, 'sub'))));
  expect(first).toEqual({ satisfied: true, state: { mimeBootstrap: { ok: true, root, branchName, created: true } } });
  expect((await said(mimeBootstrap(ask(root)))).state.mimeBootstrap).toMatchObject({ branchName, created: false });
  git(root, 'switch', '-q', 'main');
  expect((await said(mimeBootstrap(ask(root)))).state.mimeBootstrap).toMatchObject({ branchName, created: false });
  expect(git(root, 'symbolic-ref', '--short', 'HEAD')).toBe(branchName);
});

test('a repository without a commit gets its branch too', async () => {
  const root = mkdtempSync(path.join(base, 'r-'));
  git(root, 'init', '-q');
  await said(mimeBootstrap(ask(root, { params: { branchName: 'work/one' } })));
  expect(git(root, 'symbolic-ref', '--short', 'HEAD')).toBe('work/one');
});

test.each<[string, (root: string) => ShippedInput, RegExp]>([
  ['no repository', () => ask(mkdtempSync(path.join(base, 'n-'))), /git init/],
  ['a name that git refuses', (root) => ask(root, { params: { branchName: 'a b' } }), /"a b"/],
  ['a name that would be an option', (root) => ask(root, { params: { branchName: '-D' } }), /"-D"/],
  [
    'a branch that cannot be switched to',
    (root) => {
      git(root, 'switch', '-q', '-c', 'other');
      writeFileSync(path.join(root, 'README'), 'other\n');
      git(root, 'commit', '-q', '-a', '-m', 'other');
      git(root, 'switch', '-q', 'main');
      writeFileSync(path.join(root, 'README'), 'not committed\n');
      return ask(root, { params: { branchName: 'other' } });
    },
    /could not switch to other: .*README/s,
  ],
])('bootstrap with %s says why not', async (_name, prepare, reason) => {
  const outcome = await mimeBootstrap(prepare(repository()));
  expect(outcome.ok || outcome.reason).toMatch(reason);
});

test('all changes are committed under the title, and then there is nothing to commit', async () => {
  const root = repository();
  mkdirSync(path.join(root, 'sub'));
  writeFileSync(path.join(root, 'sub', 'new'), 'x');
  rmSync(path.join(root, 'README'));
  const cwd = path.join(root, 'sub');
  const item = { title: ' #1 --amend\n"quoted" $(touch ran) ', context: 'c' };
  const message = '#1 --amend "quoted" $(touch ran)';
  const first = await said(mimeMaintain(ask(cwd, { item })));
  expect(first).toMatchObject({
    satisfied: true,
    state: { mimeMaintain: { ok: true, root, committed: true, message } },
  });
  expect(first.state.mimeMaintain?.commit).toBe(git(root, 'rev-parse', 'HEAD'));
  expect(git(root, 'log', '-1', '--format=%B')).toBe(message);
  expect([git(root, 'status', '--porcelain'), git(root, 'rev-list', '--count', 'HEAD')]).toEqual(['', '2']);
  expect(existsSync(path.join(cwd, 'ran'))).toBe(false);
  const again = await said(mimeMaintain(ask(cwd, { item: null })));
  expect(again).toMatchObject({
    satisfied: true,
    context: '',
    state: { mimeMaintain: { ok: true, committed: false } },
  });
});

test.each<[string, JsonObject, readonly string[], Record<string, string>, string]>([
  ['nobody is configured', {}, [], {}, 'Baton <baton@localhost>'],
  ['nobody is configured but the materia names one', { userName: 'Bo', userEmail: 'bo@x' }, [], {}, 'Bo <bo@x>'],
  [
    'somebody is configured',
    { userName: 'Bo', userEmail: 'bo@x' },
    ['user.name', 'user.email'],
    {},
    'user.name <user.email>',
  ],
  ['only a name is configured', { userName: 'Bo', userEmail: 'bo@x' }, ['user.name'], {}, 'user.name <bo@x>'],
  [
    'the name is configured and the address is in the environment',
    { userName: 'Bo', userEmail: 'bo@x' },
    ['user.name'],
    { EMAIL: 'eve@x' },
    'user.name <eve@x>',
  ],
  [
    'only an address is in the environment',
    { userName: 'Bo', userEmail: 'bo@x' },
    [],
    { EMAIL: 'eve@x' },
    'Bo <eve@x>',
  ],
  ['the environment names somebody', { userName: 'Bo', userEmail: 'bo@x' }, [], NAMED, 'Ann <ann@x>'],
])('who commits when %s', async (_name, params, configured, env, author) => {
  const root = repository();
  for (const key of configured) git(root, 'config', key, key);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  writeFileSync(path.join(root, 'new'), 'x');
  await said(mimeMaintain(ask(root, { params })));
  expect(git(root, 'log', '-1', '--format=%an <%ae>')).toBe(author);
});

test.each([false, true])('our own log is never committed, ignored or not: %s', async (isIgnored) => {
  const root = repository();
  mkdirSync(path.join(root, '.baton/state'), { recursive: true });
  writeFileSync(path.join(root, '.baton/state/log'), 'x');
  if (isIgnored) writeFileSync(path.join(root, '.gitignore'), '.baton/state/\n');
  writeFileSync(path.join(root, 'new'), 'x');
  expect(await said(mimeMaintain(ask(root)))).toMatchObject({ satisfied: true });
  expect(git(root, 'ls-files').split('\n')).toEqual([...(isIgnored ? ['.gitignore'] : []), 'README', 'new']);
  expect((await said(mimeMaintain(ask(root)))).state.mimeMaintain).toMatchObject({ committed: false });
});

test.each<[string, (root: string) => ShippedInput, RegExp]>([
  ['no repository', () => ask(mkdtempSync(path.join(base, 'n-'))), /git init/],
  [
    'a merge that is not finished',
    (root) => {
      git(root, 'switch', '-q', '-c', 'other');
      writeFileSync(path.join(root, 'README'), 'other\n');
      git(root, 'commit', '-q', '-a', '-m', 'other');
      git(root, 'switch', '-q', 'main');
      writeFileSync(path.join(root, 'README'), 'main\n');
      git(root, 'commit', '-q', '-a', '-m', 'main');
      expect(() => git(root, 'merge', '-q', 'other')).toThrow();
      return ask(root);
    },
    /unmerged/,
  ],
  [
    'no title',
    (root) => {
      writeFileSync(path.join(root, 'new'), 'x');
      return ask(root, { item: { title: ' ' } });
    },
    /title/,
  ],
])('maintain with %s reports a failure that ends the cast', async (_name, prepare, reason) => {
  const result = await said(mimeMaintain(prepare(repository())));
  expect(result).toMatchObject({ satisfied: false, state: { mimeMaintain: { ok: false, committed: false } } });
  expect(infrastructureFailure(result)).toMatch(reason);
});

test('maintain runs no hook of the repository', async () => {
  const root = repository();
  writeFileSync(path.join(root, '.git/hooks/pre-commit'), '#!/bin/sh\ntouch ran\nexit 1\n');
  chmodSync(path.join(root, '.git/hooks/pre-commit'), 0o755);
  writeFileSync(path.join(root, 'new'), 'x');
  const result = await said(mimeMaintain(ask(root)));
  expect(result).toMatchObject({ satisfied: true, state: { mimeMaintain: { ok: true, committed: true } } });
  expect(existsSync(path.join(root, 'ran'))).toBe(false);
});

test('git works on the folder it is asked about, not on the one a hook points it at', async () => {
  const [root, other] = [repository(), repository()];
  vi.stubEnv('GIT_DIR', path.join(other, '.git'));
  vi.stubEnv('GIT_WORK_TREE', other);
  expect((await said(mimeBootstrap(ask(root)))).state.mimeBootstrap).toMatchObject({ root });
});

test.each<[string, readonly string[], string, string, string | null]>([
  ['a git repository', ['.git', 'sub'], 'sub', 'git', '.'],
  ['a jj repository', ['.jj', 'sub'], 'sub', 'jj', '.'],
  ['both', ['.jj', '.git'], '.', 'jj', '.'],
  ['git within jj', ['.jj', 'sub/.git'], 'sub', 'git', 'sub'],
  ['neither', ['sub'], 'sub', 'none', null],
])('%s is detected by its marks', async (_name, marks, cwd, kind, root) => {
  const top = mkdtempSync(path.join(base, 'd-'));
  for (const mark of marks) mkdirSync(path.join(top, mark), { recursive: true });
  vi.stubEnv('PATH', path.join(base, 'nothing-here'));
  const expected = { kind, root: root === null ? null : path.join(top, root), available: { jj: false, git: false } };
  const result = await said(detectVcs(ask(path.join(top, cwd))));
  expect(result).toEqual({ satisfied: true, state: { vcs: expected } });
  expect(await said(detectVcsPlainly(ask(path.join(top, cwd))))).toEqual(expected);
});

test('the programs that answer are available, and git is asked where there is no mark', async () => {
  const [root, outside] = [repository(), mkdtempSync(path.join(base, 'o-'))];
  expect((await said(detectVcs(ask(root)))).state.vcs).toMatchObject({ kind: 'git', root, available: { git: true } });
  expect((await said(detectVcs(ask(outside)))).state.vcs).toMatchObject({ kind: 'none', root: null });
});

test('without git the reason says so', async () => {
  const root = repository();
  vi.stubEnv('PATH', path.join(base, 'nothing-here'));
  const outcome = await mimeBootstrap(ask(root));
  expect(outcome.ok || outcome.reason).toMatch(/install git/);
});

test.each(['\n\n', '\r\n\r\n', '\n \n', '\u2028\u2028', '\u0085\u0085', '\0'])(
  'a title with %j in it adds no trailer to the commit',
  async (gap) => {
    const root = repository();
    writeFileSync(path.join(root, 'new.txt'), 'x');
    const item = { title: `feat: greet${gap}Signed-off-by: Mallory <m@x>`, context: 'c' };
    expect((await said(mimeMaintain(ask(root, { item })))).satisfied).toBe(true);
    expect(git(root, 'log', '-1', '--format=%B')).toBe('feat: greet Signed-off-by: Mallory <m@x>');
    expect(git(root, 'log', '-1', '--format=%(trailers)')).toBe('');
  },
);

test.each<[string, Partial<ShippedInput>, string]>([
  ['the title of its item', {}, 'feat: greet'],
  ['a message of its own', { params: { message: 'chore:\n tidy ' } }, 'chore: tidy'],
  ['the id of the cast, without an item', { item: null }, 'Work of cast cast-1'],
])('Commit records every change under %s', async (_name, changes, message) => {
  const root = repository();
  writeFileSync(path.join(root, 'new.txt'), 'new');
  const { satisfied, state } = await said(commit(ask(root, changes)));
  expect([satisfied, state.commit]).toMatchObject([true, { ok: true, root, committed: true, message }]);
  expect(git(root, 'log', '-1', '--format=%s')).toBe(message);
  expect((await said(commit(ask(root, changes)))).state.commit).toMatchObject({ ok: true, committed: false });
});

test('where nothing can be recorded, Commit fails', async () => {
  const { satisfied, state } = await said(commit(ask(mkdtempSync(path.join(base, 'no-')))));
  expect([satisfied, state.commit?.ok, state.commit?.error]).toEqual([
    false,
    false,
    expect.stringContaining('git init'),
  ]);
});
