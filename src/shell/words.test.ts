// A line becomes words only where a shell would make exactly these words of it.
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { argvOf, plainWords, shellLine } from './programs.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

test.each<[string, readonly string[]]>([
  ['ls', ['ls']],
  ['  ls\t-la  ', ['ls', '-la']],
  ["echo 'a b'", ['echo', 'a b']],
  ['echo "a b"', ['echo', 'a b']],
  ['echo a\\ b', ['echo', 'a b']],
  ['echo \'a\'"b"c', ['echo', 'abc']],
  ["echo ''", ['echo', '']],
  ["echo '$HOME; rm *'", ['echo', '$HOME; rm *']],
  ['kubectl get pods -n x=y', ['kubectl', 'get', 'pods', '-n', 'x=y']],
  ['echo caf\u00e9', ['echo', 'caf\u00e9']],
])('%s is one plain command', (line, words) => {
  expect(plainWords(line)).toEqual(words);
  expect(argvOf(line)).toEqual(words);
});

test.each([
  ...[
    '',
    '  ',
    'a | b',
    'a > b',
    'a < b',
    'a; b',
    'a && b',
    'a &',
    'a\nb',
    '(a)',
    '{ a; }',
    '! a',
    'a $X',
    'a "$X"',
    'a `b`',
  ],
  ...[
    'a $(b)',
    'a *',
    'a ?',
    'a [b]',
    'a {b,c}',
    'ls ~',
    '~/x',
    'X=1 a',
    'a #b',
    'cd x',
    'eval x',
    'time a',
    'if a',
    '. a',
    'a "b\\"c"',
  ],
  ...["a 'b", 'a "b', 'a \\', 'export X', 'a <<E', 'source x', `a ${'b'.repeat(70_000)}`, 'a "b!c"'],
])('%j takes a shell', (line) => {
  expect(plainWords(line)).toBe(null);
  expect(argvOf(line)).toEqual(['bash', '-c', line]);
});

test('whatever words there are, their line is split into them again', () => {
  const word = fc.string({
    unit: fc.constantFrom(...'ab-/ \'"\\$`!*;|&<>(){}[]~#=\u00e9\u200b\t'.split('')),
    maxLength: 8,
  });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      expect(plainWords(shellLine(['x', ...words]))).toEqual(['x', ...words]);
    }),
    { numRuns: RUNS },
  );
});

test('a real shell makes the same words of a plain line', () => {
  const pieces = [
    'a',
    "'b c'",
    '"d e"',
    '\\f',
    ' ',
    '-g',
    "''",
    '=',
    '\\ ',
    "'$h'",
    '/',
    '\u00e9',
    "'!'",
    '"#"',
    '~',
    'x#y',
    '%',
    '^',
  ];
  const lines = fc
    .sample(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 }), { numRuns: 400, seed: 7 })
    .map((some) => `x ${some.join('')}`)
    .filter((line) => plainWords(line) !== null);
  expect(lines.length).toBeGreaterThan(100);
  const script = lines.map((line) => `printf '%s\\0' ${line}; printf '\\1\\0'`).join('\n');
  const { stdout } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  const found = stdout
    .split('\u0001\0')
    .slice(0, -1)
    .map((part) => part.split('\0').slice(0, -1));
  expect(found).toEqual(lines.map((line) => plainWords(line)));
});
