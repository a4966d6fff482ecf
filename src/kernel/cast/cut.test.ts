import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstBytes, lastChars, truncate, wellFormed } from '../text.ts';

test.each([
  ['short', 5, 'short'],
  ['longer', 5, 'long…'],
  ['ab😀cd', 5, 'ab😀…'],
  ['abc😀d', 5, 'abc…'],
])('%j cut to %i is %j', (text, max, shortened) => {
  expect(truncate(text, max)).toBe(shortened);
});

test.each([
  ['short', 5, 'short'],
  ['longer', 5, 'onger'],
  ['a😀bc', 3, 'bc'],
  ['a😀bc', 4, '😀bc'],
])('the newest of %j in %i is %j', (text, max, tail) => {
  expect(lastChars(text, max)).toBe(tail);
});

test.each([
  ['abc', 3, 'abc'],
  ['aä', 2, 'a'],
  ['aä', 3, 'aä'],
  ['a漢', 3, 'a'],
  ['a😀', 4, 'a'],
  ['a😀', 5, 'a😀'],
  ['a', 0, ''],
])('the first bytes of %j in %i are %j', (text, max, start) => {
  expect(firstBytes(text, max)).toBe(start);
});

test.each([
  ['whole 😀', 'whole 😀'],
  ['high \ud83d', 'high \ufffd'],
  ['\ude00 low', '\ufffd low'],
  ['\ude00\ud83d', '\ufffd\ufffd'],
])('%j with whole characters is %j', (text, whole) => {
  expect(wellFormed(text)).toBe(whole);
});

test('whatever is cut stays in its bound and whole', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 40 }), (text, max) => {
      const parts = [truncate(text, max), lastChars(text, max)];
      for (const part of parts) expect(part.length).toBeLessThanOrEqual(max);
      expect(Buffer.byteLength(firstBytes(text, max))).toBeLessThanOrEqual(max);
      for (const part of [...parts, firstBytes(text, max)]) expect(part.isWellFormed()).toBe(true);
      expect([text.endsWith(lastChars(text, max)), text.startsWith(firstBytes(text, max))]).toEqual([true, true]);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});
