import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutTo, lastColumns, oneLine, padTo, safe, widthOf, wrap } from './terminal-text.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

test.each([
  ['plain', 'plain'],
  ['two\nlines\tand a tab', 'two\nlines\tand a tab'],
  ['\u001b[2Jcleared', '\ufffd[2Jcleared'],
  ['ding\u0007 \u007f \u009b31m', 'ding\ufffd \ufffd \ufffd31m'],
  ['back\rto the start', 'back\ufffdto the start'],
  ['\u202eesrever\u2069', '\ufffdesrever\ufffd'],
  ['ÄÖÜ 日本 👩‍👩‍👧', 'ÄÖÜ 日本 👩‍👩‍👧'],
])('%j is shown as %j', (text, shown) => {
  expect(safe(text)).toBe(shown);
});

test.each([
  ['  a\n\n b\t', 80, 'a b'],
  ['abcdef', 6, 'abcdef'],
  ['abcdefg', 6, 'abcde…'],
  ['abc', 0, '…'],
])('%j on one line of %d: %j', (text, max, shown) => {
  expect(oneLine(text, max)).toBe(shown);
});

test('whatever the text, nothing in it acts, and nothing is lost', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(safe(text)).not.toMatch(/[^\P{Cc}\n\t]/u);
      expect(safe(text)).toHaveLength(text.length);
      expect(oneLine(text)).not.toContain('\n');
    }),
    { numRuns: RUNS },
  );
});

test.each([
  ['plain', 5],
  ['日本', 4],
  ['e\u0301', 1],
  ['👍', 2],
  ['\u001b[32m✓\u001b[0m', 1],
])('%j is %d columns wide', (text, width) => {
  expect(widthOf(text)).toBe(width);
});

test.each([
  ['abcdef', 6, 'abcdef', 'abcdef'],
  ['abcdefg', 6, 'abcde…', '…cdefg'],
  ['日本語', 5, '日本…', '…本語'],
  ['日本語', 4, '日…', '…語'],
  ['abc', 0, '…', '…'],
])('%j in %d columns begins %j and ends %j', (text, max, start, end) => {
  expect([cutTo(text, max), lastColumns(text, max)]).toEqual([start, end]);
});

test.each([
  ['short', 10, ['short']],
  ['two words here', 9, ['two words', 'here']],
  ['  an indent stays', 10, ['  an', '  indent', '  stays']],
  ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
  ['say `baton why latest` now', 20, ['say', '`baton why latest`', 'now']],
  ['a gap in a long line  is kept', 25, ['a gap in a long line  is', 'kept']],
  ['--agent  the program that runs', 20, ['--agent  the program', '         that runs']],
  ['It is done.  Two sentences', 20, ['It is done.  Two', 'sentences']],
  ['', 4, ['']],
])('%j in %d columns', (line, columns, pieces) => {
  expect(wrap(line, columns)).toEqual(pieces);
});

test('later pieces hang below the first', () => {
  expect(wrap('✗ review: not good enough', 16, 2)).toEqual(['✗ review: not', '  good enough']);
});

test('whatever the text, no piece is too wide, no word is lost, and colours take no room', () => {
  const word = fc.stringMatching(/^[a-z日]{1,12}$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 4, max: 40 }), (words, columns) => {
      const pieces = wrap(words.join(' '), columns);
      expect(pieces.every((piece) => widthOf(piece) <= columns)).toBe(true);
      expect(pieces.join('').replaceAll(' ', '')).toBe(words.join(''));
    }),
  );
  expect(wrap('\u001b[31mab\u001b[0m cd', 5)).toHaveLength(1);
  expect(padTo('\u001b[31mab\u001b[0m', 4)).toMatch(/ {2}$/);
});
