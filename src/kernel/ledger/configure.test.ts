import { expect, test } from 'vitest';
import { openBook } from './fixtures/book.ts';

test('where capitals do not count, paths that differ in them only are in each other’s way', () => {
  const book = openBook();
  book.create('T-1', { lock_scope: ['src/Button.ts'] });
  book.create('T-2', { lock_scope: ['src/button.ts'] });
  book.create('T-3', { lock_scope: ['SRC/BUTTON.TS'] });
  book.start('T-1');
  expect(book.ask({ kind: 'task.claim', task: 'T-2', owner: 'bob' }).code).toBe('OK');
  const facts = book.facts.length;
  expect(book.ask({ kind: 'ledger.configure', foldCase: false }).allow).toBe(true);
  expect(book.facts.length).toBe(facts);
  book.ask({ kind: 'ledger.configure', foldCase: true });
  expect(book.facts.at(-1)?.fact).toEqual({ kind: 'ledger.configured', foldCase: true });
  // What is held stays held; whoever comes now is compared the new way.
  expect(book.ask({ kind: 'task.claim', task: 'T-3', owner: 'eve' }).code).toBe('LOCK_CONFLICT');
});
