// What a path or a word is bound as, and where binding ends: a command that names more than can be bound is refused.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { digestAt, programFor } from './bound-parts.ts';
import { matchesOf } from './files-read.ts';
import { filesNamedBy } from './named-by.ts';

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-bound-')));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function put(name: string, mode = 0o644): string {
  const file = join(dir, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, name);
  chmodSync(file, mode);
  return file;
}

function many(folder: string, count: number): string {
  mkdirSync(join(dir, folder));
  for (let n = 0; n < count; n++) symlinkSync('x', join(dir, folder, `f${n}`));
  return join(dir, folder);
}

for (const name of ['a.txt', 'b.txt', 'axtxt', 'sub/c.txt', 'sub/d.md']) put(`glob/${name}`);

test.each<[string, readonly string[] | null]>([
  ['*.txt', ['a.txt', 'b.txt']],
  ['?.txt', ['a.txt', 'b.txt']],
  ['[ax].txt', ['a.txt', 'b.txt']],
  ['*/*.txt', ['sub/c.txt']],
  ['/sub//*', ['sub/c.txt', 'sub/d.md']],
  ['none*', []],
  ['a.txt/*', []],
  ['{a,b}', ['a.txt', 'axtxt', 'b.txt', 'sub']],
  ['a*.*t*x*', ['a.txt']],
  ['q*q*q*q*q*', ['a.txt', 'axtxt', 'b.txt', 'sub']],
  ['a.txt', null],
])('the pattern %s matches %j', (pattern, names) => {
  expect(matchesOf(`${dir}/glob/${pattern}`)).toEqual(names?.map((name) => join(dir, 'glob', name)) ?? null);
});

test('a pattern that is not absolute matches nothing that could be bound', () => {
  expect(matchesOf('*')).toBe(null);
  expect(matchesOf('/[e]tc')).toContain('/etc');
});

test.each<[string, number, boolean]>([
  ['f*', 512, true],
  ['f*', 513, false],
  ['f1', 4_095, true],
  ['f1', 4_096, false],
])('of %s among %i files all matches are found: %s', (name, count, isFound) => {
  const folder = many(`many-${name.length}-${count}`, count);
  const matches = matchesOf(name === 'f*' ? `${folder}/f*` : `${folder}/[f]1`);
  expect(matches !== null).toBe(isFound);
});

test('a program is the first file on the path that can be run', () => {
  put('first/tool');
  mkdirSync(join(dir, 'second/tool'), { recursive: true });
  const tool = put('third/tool', 0o755);
  symlinkSync(tool, join(dir, 'link'));
  const path = ['first', 'second', join(dir, 'third')].join(':');
  expect(programFor('tool', dir, path)).toEqual({ path: tool, digest: digestAt(tool) });
  expect(programFor('./link', dir, '')?.path).toBe(tool);
  expect([programFor('tool', dir, 'first:second'), programFor('./first/tool', dir, path)]).toEqual([null, null]);
  expect(programFor('./second/tool', dir, '')).toBe(null);
});

test.each<[string, string, string | RegExp]>([
  ['a file', 'glob/a.txt', /^sha256:[0-9a-f]{64}$/],
  ['a folder', 'glob', 'folder'],
  ['a device', '/dev/null', 'device'],
  ['nothing', 'nowhere', 'absent'],
  ['a name that no file can have', 'x'.repeat(5_000), 'absent'],
  ['a pattern with matches', 'glob/*.txt', /^list:[0-9a-f]{64}$/],
  ['a pattern without', 'glob/*.none', 'absent'],
])('%s is bound as such', (_, name, digest) => {
  const bound = digestAt(name.startsWith('/') ? name : join(dir, name));
  expect(bound).toEqual(typeof digest === 'string' ? digest : expect.stringMatching(digest));
});

test('each list of matches is another one', () => {
  const before = digestAt(join(dir, 'glob/*.txt'));
  put('glob/e.txt');
  expect(digestAt(join(dir, 'glob/*.txt'))).not.toBe(before);
  rmSync(join(dir, 'glob/e.txt'));
});

const numbered = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

test.each<[string, readonly string[], boolean]>([
  ['some files', ['cat', ...numbered(100, 'f')], true],
  ['more files than can be bound', ['cat', ...numbered(600, 'f')], false],
  ['a list in a word', ['cat', numbered(6, 'f').join(',')], true],
  ['a long list in a word', ['cat', numbered(40, 'f').join(',')], false],
  ['a few folders', ['bash', '-c', `${numbered(3, 'cd d').join('; ')}; cat x`], true],
  ['many folders', ['bash', '-c', `${numbered(40, 'cd d').join('; ')}; cat x`], false],
  ['a pattern', ['bash', '-c', 'cat glob/*.txt'], true],
  ['a pattern with too many matches', ['bash', '-c', 'cat many-2-513/f*'], false],
  ['more outputs than can be bound', ['bash', '-c', `tee ${numbered(600, 'o').join(' ')}`], false],
])('a command with %s is bound as a whole: %s', (_, argv, isWhole) => {
  expect(filesNamedBy(argv, dir, dir, []).isWhole).toBe(isWhole);
});

test('what is written and read is an input; what is only written is an output', () => {
  const { inputs, outputs } = filesNamedBy(['bash', '-c', 'cp in.txt out.txt; cat both > both'], dir, dir, []);
  const at = (name: string) => join(dir, name);
  expect([inputs.includes(at('in.txt')), inputs.includes(at('both'))]).toEqual([true, true]);
  expect(inputs).not.toContain(at('out.txt'));
  expect([outputs.includes(at('out.txt')), outputs.includes(at('both'))]).toEqual([true, false]);
});

test.each<[string, string]>([
  ['git -C sub/x add a', 'sub/x/a'],
  ['make -Csub all', 'sub/all'],
  ['tar --directory=sub -xf a.tar', 'sub/a.tar'],
  ['tar --directory sub -xf a.tar', 'sub/a.tar'],
  ['pushd sub; cat a', 'sub/a'],
  ['cd sub; cd in; cat a', 'sub/in/a'],
  ['cat ~/a', 'home/a'],
  ['curl -d @a.json x', 'a.json'],
  ['aws --body file://a.json', 'a.json'],
  ['tool -fa.cfg', 'a.cfg'],
  ['tool --config=a.cfg', 'a.cfg'],
])('%s names %s', (line, name) => {
  const { inputs } = filesNamedBy(['bash', '-c', line], dir, join(dir, 'home'), []);
  expect(inputs).toContain(join(dir, name));
});
