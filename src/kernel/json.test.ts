import { expect, test } from 'vitest';
import { canonicalJson } from './json.ts';

test('the order of members does not matter, and everything else does', () => {
  expect(canonicalJson({ b: [1, { d: null, c: 'x"\n' }], a: true })).toBe(
    '{"a":true,"b":[1,{"c":"x\\"\\n","d":null}]}',
  );
  expect(canonicalJson({ a: 1, b: 2 })).toBe(canonicalJson({ b: 2, a: 1 }));
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  expect(canonicalJson('1')).not.toBe(canonicalJson(1));
});
