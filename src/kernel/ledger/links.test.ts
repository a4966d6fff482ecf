// Paths through links are compared by where they lead.
import { expect, test } from 'vitest';
import { openBook } from './fixtures/book.ts';
import { followLinks } from './path.ts';

const LINKS = { lnk: 'src', 'src/deep': 'docs', up: '.', out: '/elsewhere', 'a/b': 'a' };

test.each([
  ['lnk', 'src'],
  ['lnk/a', 'src/a'],
  ['lnk/deep/x', 'docs/x'],
  ['lnk2/a', 'lnk2/a'],
  ['src/a', 'src/a'],
  ['up/lnk/a', 'src/a'],
  ['out/x', '/elsewhere/x'],
  ['a/b/c', 'a/c'],
  ['.', '.'],
  ['/lnk/a', '/lnk/a'],
])('%s leads to %s', (path, place) => {
  expect(followLinks(path, LINKS)).toBe(place);
});

test('a circle of links ends', () => {
  expect(followLinks('a/x', { a: 'b', b: 'a' })).toMatch(/^[ab]\/x$/);
});

const linked = (links: Readonly<Record<string, string>>, root = 'main') => {
  const book = openBook();
  book.ask({ kind: 'ledger.link', root, links });
  return book;
};

test.each([
  ['src/a', 'lnk/a', 'LOCK_CONFLICT'],
  ['lnk/a', 'src/a', 'LOCK_CONFLICT'],
  ['lnk', 'src/a', 'LOCK_CONFLICT'],
  ['.', 'lnk/a', 'LOCK_CONFLICT'],
  ['lnk/a', 'src/b', 'OK'],
  ['src/a', 'out/a', 'SCOPE_VIOLATION'],
  ['src/a', 'rules/x', 'SCOPE_VIOLATION'],
])('%s is held, %s is wanted: %s', (held, wanted, code) => {
  const book = linked({ lnk: 'src', out: '/elsewhere', rules: '.baton' });
  book.create('T-1', { lock_scope: [held] });
  const created = book.create('T-2', { lock_scope: [wanted] });
  book.start('T-1');
  expect(created.allow ? book.claim('T-2', 'bob').code : created.code).toBe(code);
});

test('the links of one root say nothing about another', () => {
  const book = linked({ lnk: 'src' }, 'other');
  book.create('T-1', { lock_scope: ['src/a'] });
  book.create('T-2', { lock_scope: ['lnk/a'] });
  book.start('T-1');
  expect(book.claim('T-2', 'bob').code).toBe('OK');
});

test('a link that becomes known while locks are held counts for them, and one that is gone does not', () => {
  const book = openBook();
  book.create('T-1', { lock_scope: ['lnk/a'] });
  book.create('T-2', { lock_scope: ['src/a'] });
  const fence = book.start('T-1');
  book.ask({ kind: 'ledger.link', root: 'main', links: { lnk: 'src' } });
  expect(book.claim('T-2', 'bob').code).toBe('LOCK_CONFLICT');
  book.ask({ kind: 'ledger.link', root: 'main', links: {} });
  expect(book.claim('T-2', 'bob').code).toBe('OK');
  book.move('T-1', 'canceled');
  expect(fence).toBe(1);
  expect(Object.keys(book.ledger.locks.held)).toEqual([`${book.task('T-2').run}/T-2`]);
});
