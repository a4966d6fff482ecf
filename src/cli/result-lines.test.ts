import { expect, test } from 'vitest';
import type { TaskView } from '../app/views/tasks.ts';
import { itemLines, wrapped } from './result-lines.ts';

const item = (title: string, files?: number): TaskView => ({
  ...{ task: 'T-1', title, status: 'done', owner: 'Build', code: null, reason: '', fence: 1, isItem: true },
  ...(files === undefined ? {} : { files }),
});

test.each([80, 60, undefined])('the table of items fits a terminal of %s columns', (columns) => {
  const lines = itemLines([item('a long title '.repeat(10), 0), item('Two', 3)], columns);
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/^a long title .*… {2}done {5}changed no file$/);
  expect(lines[2]).toMatch(/^Two +done {5}3 files$/);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns ?? 90);
});

test.each<[string, number, string[]]>([
  ['short', 10, ['short']],
  ['one two three', 8, ['one two', 'three']],
  ['one two three', 7, ['one two', 'three']],
  ['onelongword', 4, ['onel', 'ongw', 'ord']],
  ['    x', 4, ['    ', 'x']],
  ['', 4, ['']],
  ['any', Number.POSITIVE_INFINITY, ['any']],
])('%j in %d columns', (line, width, pieces) => {
  expect(wrapped(line, width)).toEqual(pieces);
});
