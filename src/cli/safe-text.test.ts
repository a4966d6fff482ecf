import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oneLine, safe } from './safe-text.ts';

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
