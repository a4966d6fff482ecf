// What changed between two answers of one turn.
import { expect, test } from 'vitest';
import { wordDiff } from '../../web/src/cast/word-diff.ts';

const SIGNS = { same: ' ', added: '+', removed: '-' } as const;
const shown = (before: string, after: string) => wordDiff(before, after).map(({ sort, text }) => SIGNS[sort] + text);

test.each<[string, string, string, readonly string[]]>([
  ['nothing', 'a b', 'a b', [' a b']],
  ['one word', '"satisfied": "yes"', '"satisfied": true', [' "satisfied": ', '-"yes"', '+true']],
  ['a field taken out', '{ a: 1, b: 2 }', '{ a: 1 }', [' { a: 1', '-, b: 2', '  }']],
  ['words put in', 'one three', 'one two three', [' one ', '+two ', ' three']],
  ['all', 'abc', 'xyz', ['-abc', '+xyz']],
  ['from nothing', '', 'x', ['+x']],
])('%s', (_, before, after, pieces) => {
  expect(shown(before, after)).toEqual(pieces);
});

test('both texts can be put together again from the pieces', () => {
  const before = 'The test covers one tab only.\nAdd a refresh from a second tab.\n'.repeat(40);
  const after = before.replaceAll('one tab', 'two tabs').replace('Add', 'Then add');
  const pieces = wordDiff(before, after);
  const of = (sort: 'added' | 'removed') =>
    pieces.map((piece) => (piece.sort === 'same' || piece.sort === sort ? piece.text : '')).join('');
  expect([of('removed'), of('added')]).toEqual([before, after]);
});

test('texts that are too long for words are compared by lines', () => {
  const line = (n: number) => `line ${n} ${'word '.repeat(20)}\n`;
  const before = Array.from({ length: 400 }, (_, n) => line(n)).join('');
  const after = before.replace(line(7), 'another line\n').replace(line(390), 'and another\n');
  expect(
    wordDiff(before, after)
      .filter(({ sort }) => sort !== 'same')
      .map(({ text }) => text.trimEnd()),
  ).toEqual(expect.arrayContaining(['another line', 'and another']));
});
