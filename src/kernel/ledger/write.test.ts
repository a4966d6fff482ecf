import { expect, test } from 'vitest';
import { openBook } from './fixtures/book.ts';
import { mayWriteNow, taskWith } from './scope.ts';

function atWork() {
  const book = openBook();
  book.create('T-1', { lock_scope: ['src'], forbidden_scope: ['src/gen'], worklog_path: 'worklogs/T-1.jsonl' });
  book.create('T-2', { lock_scope: ['.'] });
  book.start('T-1');
  return book;
}

test.each<[string, number, readonly string[], string]>([
  ['a fence that nobody has', 9, ['src/a'], 'CONCURRENCY_CONFLICT'],
  ['outside', 1, ['src/a', 'srcs/a'], 'SCOPE_VIOLATION'],
  ['forbidden', 1, ['src/gen/a'], 'SCOPE_VIOLATION'],
  ['inside', 1, ['src/a', 'src/b/c'], 'OK'],
  ['its worklog', 1, ['worklogs/T-1.jsonl'], 'OK'],
])('writing with %s: fence %i, %j: %s', (_, fence, paths, code) => {
  expect(mayWriteNow(atWork().ledger, fence, paths).code).toBe(code);
});

test('a claim that is over allows nothing any more', () => {
  const book = atWork();
  book.move('T-1', 'blocked');
  expect(mayWriteNow(book.ledger, 1, ['src/a']).code).toBe('CONCURRENCY_CONFLICT');
  expect(taskWith(book.ledger, 1)).toBeUndefined();
});

test.each<[string, string, string]>([
  ['.', 'src/a.ts', 'OK'],
  ['.', '.baton/config.json', 'SCOPE_VIOLATION'],
  ['.', '.batons/x', 'OK'],
])('whoever claims %s may write %s: %s', (scope, path, code) => {
  const book = openBook();
  book.create('T-1', { lock_scope: [scope] });
  expect(mayWriteNow(book.ledger, book.start('T-1'), [path]).code).toBe(code);
});
