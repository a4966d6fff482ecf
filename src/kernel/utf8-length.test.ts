import fc from 'fast-check';
import { expect, test } from 'vitest';
import { utf8Length } from './text.ts';

test.each([
  ['', 0],
  ['a', 1],
  ['\u007f', 1],
  ['\u0080', 2],
  ['\u07ff', 2],
  ['\u0800', 3],
  ['\uffff', 3],
  ['😀', 4],
  ['\ud83d', 3],
  ['\ude00', 3],
  ['\ude00\ud83d', 6],
  ['\ud83dx', 4],
  ['\ud83d😀', 7],
])('%j takes %i bytes', (text, bytes) => {
  expect(utf8Length(text)).toBe(bytes);
});

test('it says what the encoder says, for any text, halves of characters included', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), fc.string({ unit: 'binary' }), (units, text) => {
      for (const each of [String.fromCharCode(...units), text]) expect(utf8Length(each)).toBe(Buffer.byteLength(each));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});
