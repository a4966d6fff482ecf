import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
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
