import { expect, test } from 'vitest';
import { isTaskStatus, isTerminal, mayMove, moveOf, TASK_STATUSES } from './state.ts';

// Columns: todo, in_progress, blocked, done, failed, canceled.
test.each([
  ['todo', '-', 'm', 'm', '-', 'm', 'm'],
  ['in_progress', '-', '-', 'm', 'm', 'm', 'm'],
  ['blocked', 'm', 'm', '-', '-', 'm', 'm'],
  ['done', '-', '-', '-', 'r', '-', '-'],
  ['failed', '-', '-', '-', '-', 'r', '-'],
  ['canceled', '-', '-', '-', '-', '-', 'r'],
] as const)('the moves from %s', (from, ...cells) => {
  const short = { move: 'm', replay: 'r', illegal: '-' };
  expect(TASK_STATUSES.map((to) => short[moveOf(from, to)])).toEqual(cells);
});

test.each([
  ['todo', 'done', 'INVALID_TRANSITION'],
  ['blocked', 'done', 'INVALID_TRANSITION'],
  ['done', 'failed', 'INVALID_TRANSITION'],
  ['in_progress', 'in_progress', 'INVALID_TRANSITION'],
  ['blocked', 'todo', 'OK'],
  ['done', 'done', 'OK'],
] as const)('%s → %s: %s', (from, to, code) => {
  expect(mayMove(from, to).code).toBe(code);
});

test('a refusal lists the moves that are possible, and a replay says that it is one', () => {
  expect(mayMove('todo', 'done').details).toEqual({
    from: 'todo',
    to: 'done',
    allowed: ['in_progress', 'blocked', 'failed', 'canceled'],
  });
  expect(mayMove('failed', 'failed').details.replay).toBe(true);
  expect(mayMove('todo', 'blocked').details.replay).toBe(false);
});

test('only the last three statuses are final', () => {
  expect(TASK_STATUSES.filter(isTerminal)).toEqual(['done', 'failed', 'canceled']);
  expect(['Todo', 'cancelled', '', null, 3, ['todo']].some(isTaskStatus)).toBe(false);
});
