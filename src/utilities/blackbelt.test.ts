import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { blackbeltBootstrap, blackbeltMaintain, commit } from './cast-branch.ts';
import type { ShippedInput } from './utility.ts';
import { branchNameFor, detectVcsPlainly, isBookmarkName } from './vcs.ts';

vi.setConfig({ testTimeout: 60_000 });
const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-blackbelt-')));
const tools = path.join(base, 'bin');
mkdirSync(tools);
afterAll(() => rmSync(base, { recursive: true, force: true }));

// Stands in for jj: a `.jj` folder holds the history as JSON, and a file named `dirty` beside it is a change.
const FAKE = `#!${process.execPath}
const fs = require('node:fs');
const args = process.argv.slice(2).filter((arg) => arg !== '--no-pager' && arg !== '--color=never');
const file = '.jj/repo.json';
const repo = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : null;
const end = (text, code = 0) => { (code ? process.stderr : process.stdout).write(text); process.exit(code); };
const save = (to) => { fs.writeFileSync(file, JSON.stringify(to)); end(''); };
const [verb, noun] = args;
if (verb === '--version') end('jj 0.0.0-fake\\n');
if (verb === 'git' && noun === 'init') { fs.mkdirSync('.jj'); save({ calls: [args], commits: [], bookmarks: {}, description: '' }); }
if (!repo) end('Error: There is no jj repo in "."\\n', 1);
repo.calls.push(args);
fs.writeFileSync(file, JSON.stringify(repo));
const isDirty = fs.existsSync('dirty') && !repo.commits.some((c) => c.holdsDirty);
if (verb === 'root') end(process.cwd() + '\\n');
if (verb === 'log' && args[3] === '@') end(isDirty ? 'changed' : 'empty');
if (verb === 'log') end(Object.keys(repo.bookmarks).some((name) => args[3] === 'bookmarks(exact:"' + name + '")') ? 'abc' : '');
if (fs.existsSync('broken-' + verb)) end('Error: ' + verb + ' is broken\\n', 1);
if (verb === 'describe') save({ ...repo, description: args[2] });
if (verb === 'bookmark' && noun === 'set') save({ ...repo, bookmarks: { ...repo.bookmarks, [args[2]]: repo.description } });
if (verb === 'new') save({ ...repo, description: '', commits: [...repo.commits, { description: repo.description, holdsDirty: !fs.existsSync('sticky') }] });
end('Error: unknown command ' + args.join(' ') + '\\n', 2);
`;

beforeEach(() => {
  writeFileSync(path.join(tools, 'jj'), FAKE);
  chmodSync(path.join(tools, 'jj'), 0o755);
  vi.stubEnv('PATH', tools);
});
afterEach(() => vi.unstubAllEnvs());

const BOOKMARK = branchNameFor('blackbelt', 'cast-1');

function folder(...files: readonly string[]): string {
  const root = mkdtempSync(path.join(base, 'r-'));
  for (const file of files) writeFileSync(path.join(root, file), '');
  return root;
}

async function repository(...files: readonly string[]): Promise<string> {
  const root = folder();
  await blackbeltBootstrap(ask(root));
  for (const file of files) writeFileSync(path.join(root, file), '');
  return root;
}

const repo = (root: string) => JSON.parse(readFileSync(path.join(root, '.jj/repo.json'), 'utf8'));

const ask = (cwd: string, changes: Partial<ShippedInput> = {}): ShippedInput => ({
  cwd,
  castId: 'cast-1',
  params: {},
  state: { blackbeltBootstrap: { ok: true, bookmarkName: BOOKMARK } },
  item: { title: 'feat: greet', context: 'c' },
  ...changes,
});

async function said(outcome: ReturnType<typeof blackbeltMaintain>) {
  const got = await outcome;
  if (!got.ok) throw new Error(got.reason);
  return JSON.parse(got.output) as { satisfied: boolean; context: string; state: Record<string, JsonObject> };
}

test('a folder with files becomes a repository, a first commit, a bookmark and an empty working copy', async () => {
  const root = folder('dirty');
  const result = await said(blackbeltBootstrap(ask(root)));
  const shared = { ok: true, root, available: true, emptyHead: true, bookmarkName: BOOKMARK };
  expect(result).toEqual({
    satisfied: true,
    state: { blackbeltBootstrap: { ...shared, initialized: true, newWorkingCommit: true } },
  });
  expect(repo(root).bookmarks).toEqual({ [BOOKMARK]: `bootstrap: ${BOOKMARK}` });
  expect(readFileSync(path.join(root, '.gitignore'), 'utf8')).toContain('node_modules/\n');
  expect(repo(root).calls[0]).toEqual(['git', 'init']);
});

test('a clean repository only gets the bookmark', async () => {
  const root = await repository();
  const result = await said(blackbeltBootstrap(ask(root, { params: { bookmarkName: 'mine' } })));
  const expected = { initialized: false, newWorkingCommit: false, emptyHead: true, bookmarkName: 'mine' };
  expect(result.state.blackbeltBootstrap).toMatchObject(expected);
  expect(repo(root).commits).toEqual([]);
  expect(Object.keys(repo(root).bookmarks)).toEqual([BOOKMARK, 'mine']);
});

test('a git repository is shared with jj', async () => {
  const root = folder();
  mkdirSync(path.join(root, '.git'));
  await said(blackbeltBootstrap(ask(root)));
  expect(repo(root).calls[0]).toEqual(['git', 'init', '--colocate']);
});

test.each<[string, readonly string[], JsonObject, RegExp]>([
  ['a name that is none', [], { bookmarkName: 'a"b' }, /not a name/],
  ['a command that fails', ['dirty', 'broken-describe'], {}, /jj describe failed: Error: describe is broken/],
  ['a working copy that stays dirty', ['dirty', 'sticky'], {}, /not empty after bootstrapping/],
])('bootstrap with %s says why not', async (_name, files, params, reason) => {
  const outcome = await blackbeltBootstrap(ask(folder(...files), { params }));
  expect(outcome.ok || outcome.reason).toMatch(reason);
});

test('without jj bootstrap fails and touches nothing, and maintain is not satisfied', async () => {
  vi.stubEnv('PATH', path.join(base, 'nothing-here'));
  const root = folder('dirty');
  const outcome = await blackbeltBootstrap(ask(root));
  expect(outcome.ok || outcome.reason).toMatch(/install Jujutsu/);
  expect(existsSync(path.join(root, '.gitignore'))).toBe(false);
  const result = await said(blackbeltMaintain(ask(root)));
  expect(result).toEqual({ satisfied: false, context: expect.stringMatching(/install Jujutsu/) });
});

test('a change becomes a commit under the title, the bookmark moves, and then there is nothing to record', async () => {
  const root = await repository('dirty');
  expect(await said(blackbeltMaintain(ask(root)))).toEqual({ satisfied: true, context: 'Recorded: feat: greet' });
  expect(repo(root).commits).toMatchObject([{ description: 'feat: greet' }]);
  expect(repo(root).bookmarks).toEqual({ [BOOKMARK]: 'feat: greet' });
  expect(await said(blackbeltMaintain(ask(root, { item: null })))).toEqual({ satisfied: true, context: '' });
  expect(repo(root).commits).toHaveLength(1);
});

test.each<[string, readonly string[], Partial<ShippedInput>, RegExp]>([
  ['no repository', ['no'], {}, /not known: .*no jj repo/],
  ['no bookmark in the state', ['dirty'], { state: {} }, /bookmarkName is missing/],
  [
    'a bookmark that is none',
    ['dirty'],
    { state: { blackbeltBootstrap: { bookmarkName: '") | all("' } } },
    /is missing/,
  ],
  ['no title', ['dirty'], { item: null }, /title/],
  [
    'a bookmark that is gone',
    ['dirty'],
    { state: { blackbeltBootstrap: { bookmarkName: 'gone' } } },
    /gone does not exist/,
  ],
  ['a command that fails', ['dirty', 'broken-new'], {}, /jj new failed/],
])('maintain with %s is not satisfied', async (_name, files, changes, context) => {
  const root = files[0] === 'no' ? folder() : await repository(...files);
  expect(await said(blackbeltMaintain(ask(root, changes)))).toEqual({
    satisfied: false,
    context: expect.stringMatching(context),
  });
});

test('an installed jj is available and wins', async () => {
  const root = await repository();
  mkdirSync(path.join(root, '.git'));
  const expected = { kind: 'jj', root, available: { jj: true, git: false } };
  expect(await said(detectVcsPlainly(ask(root)))).toEqual(expected);
});

test.each([
  ['a/b-c.d', true],
  ['-a', false],
  ['a b', false],
  ['a"b', false],
  ['a..b', false],
  ['a/', false],
  ['a.lock', false],
])('%j as a bookmark: %s', (name, fits) => {
  expect(isBookmarkName(name)).toBe(fits);
});

test('Commit describes the working copy of a jj repository and begins a new one', async () => {
  const root = await repository('dirty');
  const result = await said(commit(ask(root)));
  expect(result).toMatchObject({
    satisfied: true,
    state: { commit: { ok: true, committed: true, message: 'feat: greet' } },
  });
  expect(repo(root).commits).toMatchObject([{ description: 'feat: greet' }]);
  expect(await said(commit(ask(root)))).toMatchObject({ state: { commit: { committed: false } } });
});
