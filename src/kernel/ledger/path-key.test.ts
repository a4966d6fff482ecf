import { expect, test } from 'vitest';
import { coverOf, pathKey } from './path.ts';

test.each([
  ['src/a.ts', false, 'src/a.ts'],
  ['Src/A.ts', false, 'Src/A.ts'],
  ['Src/A.ts', true, 'src/a.ts'],
  ['cafe\u0301', false, 'café'],
  ['CAFE\u0301', true, 'café'],
  ['.', true, '.'],
])('%s, folded: %s, is %s', (path, foldCase, key) => {
  expect(pathKey(path, foldCase)).toBe(key);
});

test.each([
  [['src'], 'src', true],
  [['src'], 'src/a/b.ts', true],
  [['src'], 'src2', false],
  [['src/a'], 'src', false],
  [['.'], 'src/a', true],
  [['.'], '/opt', false],
  [['/'], 'src', true],
  [['/'], '/opt/x', true],
  [['/opt'], '/opt/x', true],
  [['/opt'], 'opt/x', false],
  [[], '.', false],
])('%j cover %s: %s', (paths, asked, expected) => {
  expect(coverOf(paths)(asked)).toBe(expected);
});
