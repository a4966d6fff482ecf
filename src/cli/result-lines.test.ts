import { expect, test } from 'vitest';
import type { TaskView } from '../app/views/tasks.ts';
import { itemLines } from './result-lines.ts';

const item = (title: string, files?: number): TaskView => ({
  ...{ task: 'T-1', title, status: 'done', owner: 'Build', code: null, reason: '', fence: 1, isItem: true },
  ...(files === undefined ? {} : { files }),
});

test.each([80, 60, undefined])('the table of items fits a terminal of %s columns', (columns) => {
  const lines = itemLines([item('a long title '.repeat(10), 0), item('Two', 3)], columns).map((line) =>
    typeof line === 'string' ? line : line.text,
  );
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/^a long title .*… +done +changed no file$/);
  expect(lines[2]).toMatch(/^Two +done +3 files$/);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns ?? 90);
});
