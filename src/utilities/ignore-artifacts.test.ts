import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { ensureIgnored, ignoreArtifacts } from './ignore-artifacts.ts';

const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-ignore-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

function folder(...marks: readonly string[]): string {
  const root = mkdtempSync(path.join(base, 'r-'));
  for (const mark of marks) mkdirSync(path.join(root, mark), { recursive: true });
  return root;
}

async function run(cwd: string, params: JsonObject) {
  const outcome = await ignoreArtifacts({ cwd, castId: 'c', params, state: {}, item: null });
  return outcome.ok ? JSON.parse(outcome.output).state.artifactIgnore : outcome.reason;
}

test('patterns are added once, and the second run adds nothing', async () => {
  const root = folder('.git');
  const params = { patterns: ['dist/', ' *.log ', 'dist/'] };
  const patterns = ['dist/', '*.log'];
  const first = await run(root, params);
  expect(first).toEqual({ ok: true, root, file: '.gitignore', patterns, added: patterns, unchanged: [] });
  expect(await run(root, params)).toMatchObject({ added: [], unchanged: patterns });
  expect(readFileSync(path.join(root, '.gitignore'), 'utf8')).toBe('dist/\n*.log\n');
});

test.each([
  ['an empty file', '', 'a\nb\n'],
  ['a file that ends in a line break', 'x\n', 'x\na\nb\n'],
  ['a file that does not', 'x', 'x\na\nb\n'],
  ['a pattern that is there with spaces', '  a  \r\n', '  a  \r\nb\n'],
  ['a pattern that is only in a comment', '# a\n', '# a\na\nb\n'],
])('%s', async (_name, before, after) => {
  const root = folder('.git');
  writeFileSync(path.join(root, '.gitignore'), before);
  await run(root, { patterns: ['a', 'b'] });
  expect(readFileSync(path.join(root, '.gitignore'), 'utf8')).toBe(after);
});

test.each<[string, readonly string[], string, JsonObject, string, string]>([
  ['the nearest git repository', ['.git', 'sub/deep'], 'sub/deep', {}, '.', '.gitignore'],
  ['a jj repository', ['.jj', 'sub'], 'sub', {}, '.', '.gitignore'],
  ['a git repository inside of a jj one', ['.jj', 'sub/.git'], 'sub', {}, 'sub', '.gitignore'],
  ['a given root', ['.git', 'sub/deep'], 'sub', { root: 'deep' }, 'sub/deep', '.gitignore'],
  ['a given file', ['.git', '.git/info'], '.', { file: '.git/info/exclude' }, '.', '.git/info/exclude'],
])('%s is where they go', async (_name, marks, cwd, params, root, file) => {
  const top = folder(...marks);
  const result = await run(path.join(top, cwd), { ...params, patterns: ['a'] });
  expect(result).toMatchObject({ root: path.join(top, root), file });
  expect(readFileSync(path.join(top, root, file), 'utf8')).toBe('a\n');
});

test.each<[string, JsonObject, RegExp]>([
  ['no patterns', {}, /at least one pattern/],
  ['an empty list', { patterns: [] }, /at least one pattern/],
  ['a blank pattern', { patterns: ['a', ' '] }, /not blank/],
  ['a number', { patterns: [1] }, /not blank/],
  ['a comment', { patterns: ['#a'] }, /#a/],
  ['two lines in one', { patterns: ['a\nb'] }, /several lines/],
  ['a file outside', { patterns: ['a'], file: '../x' }, /inside/],
  ['no file', { patterns: ['a'], file: '.' }, /inside/],
])('%s is refused', async (_name, params, reason) => {
  expect(await run(folder('.git'), params)).toMatch(reason);
});

test('the built-in gives the same on top', async () => {
  const root = folder('.git');
  const input = { cwd: root, castId: 'c', params: { patterns: ['a'] }, state: {}, item: null };
  const outcome = await ensureIgnored(input);
  expect(JSON.parse(outcome.ok ? outcome.output : 'null')).toMatchObject({ ok: true, root, added: ['a'] });
  expect(await ensureIgnored({ ...input, params: {} })).toMatchObject({ ok: false });
});

/** A real repository: git itself is asked. */
function repository(files: Readonly<Record<string, string>>): string {
  const root = folder();
  git(root, 'init', '-q');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}

function git(cwd: string, ...args: readonly string[]): void {
  const who = ['-c', 'user.name=n', '-c', 'user.email=e@example.com'];
  execFileSync('git', [...who, ...args], { cwd, stdio: 'ignore' });
}

test.each<[string, Readonly<Record<string, string>>, string, boolean]>([
  ['an ignore file further down', { '.baton/.gitignore': 'state/\n' }, '.baton/state/', true],
  ['a rule that covers more', { '.gitignore': '.baton/\n' }, '.baton/state/', true],
  ['the folder itself', { '.baton/state/.gitignore': '*\n' }, '.baton/state/', true],
  ['the settings of the repository', { '.git/info/exclude': 'dist/\n' }, 'dist/', true],
  ['the same wildcard elsewhere', { '.git/info/exclude': '*.log\n' }, '*.log', true],
  ['another wildcard', { '.gitignore': '?.log\n' }, '*.log', false],
  ['a rule for the root only', { '.gitignore': '/dist/\n' }, 'dist/', false],
  ['a rule that is taken back', { '.gitignore': 'dist/*\n!dist/example\n' }, 'dist/', false],
  ['no rule', {}, 'dist/', false],
])('git ignores by %s', async (_name, files, pattern, isIgnored) => {
  const root = repository(files);
  const expected = isIgnored ? { added: [], unchanged: [pattern] } : { added: [pattern], unchanged: [] };
  expect(await run(root, { patterns: [pattern] })).toMatchObject(expected);
  expect(existsSync(path.join(root, '.gitignore'))).toBe(!isIgnored || files['.gitignore'] !== undefined);
});

test.each([
  ['the workspace', ''],
  ['a workspace below the root', 'sub'],
])('in a worktree git is asked about the state of %s in the main working tree', async (_name, below) => {
  const root = repository({ [path.join(below, 'a.txt')]: 'a' });
  git(root, 'add', '.');
  git(root, 'commit', '-qm', 'first');
  mkdirSync(path.join(root, below, '.baton'), { recursive: true });
  writeFileSync(path.join(root, below, '.baton/.gitignore'), 'state/\n');
  const tree = path.join(base, `tree${below}`);
  git(root, 'worktree', 'add', '-q', tree);
  expect(await run(path.join(tree, below), { patterns: ['.baton/state/'] })).toMatchObject({ added: [] });
  expect(await run(path.join(tree, below), { patterns: ['dist/'] })).toMatchObject({ added: ['dist/'] });
});
