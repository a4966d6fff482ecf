// A value as the log gives it back.
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stored } from '../json.ts';

test.each<[string, unknown, string]>([
  ['members stand in the order of their names', { b: { d: 1, c: 2 }, a: 3 }, '{"a":3,"b":{"c":2,"d":1}}'],
  ['elements keep theirs', [3, 1, 2], '[3,1,2]'],
  ['what is undefined is not there', { a: undefined, b: 1 }, '{"b":1}'],
  ['half a character is replaced, in names too', { '\ud83d': ['x\udc00'] }, '{"\ufffd":["x\ufffd"]}'],
  ['a mended name stands where it belongs', { '\ud83d': 1, '\ue000': 2 }, '{"\ue000":2,"\ufffd":1}'],
  ['a name that means something elsewhere is a name', JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
])('%s', (_rule, value, text) => {
  expect(JSON.stringify(stored(value))).toBe(text);
});

test('there is one zero', () => {
  expect(Object.is(stored({ x: -0 }).x, 0)).toBe(true);
});

test('writing any JSON in the form of the log and reading it back changes nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const form = stored(value);
      const text = canonicalize(form) ?? '';
      expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(form));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});
