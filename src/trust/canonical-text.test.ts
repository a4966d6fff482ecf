import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../kernel/json.ts';
import { canonicalTexts } from './canonical.ts';

test.each<[string, unknown, string | undefined]>([
  ['members in the order of their names', { b: 1, a: { d: 2, c: 3 } }, '{"a":{"c":3,"d":2},"b":1}'],
  ['names that are numbers', { 10: 1, 9: 2, a: 3 }, '{"10":1,"9":2,"a":3}'],
  ['many names', Object.fromEntries([...'zyxwvutsrqponmlkjihg'].map((name) => [name, 0])), undefined],
  ['a name that reaches for a prototype', JSON.parse('{"b":1,"__proto__":2}'), '{"__proto__":2,"b":1}'],
  ['characters with escapes', { a: 'say "so"\\\n\u0007\u007f' }, '{"a":"say \\"so\\"\\\\\\n\\u0007\u007f"}'],
  ['characters beyond the first plane', { '👍': 'é', ﬀ: 1 }, '{"👍":"é","ﬀ":1}'],
  ['numbers', [-0, 1e21, 1e-7, 0.1, 100], '[0,1e+21,1e-7,0.1,100]'],
  ['empty lists and objects', [{}, [], null, true], '[{},[],null,true]'],
  ['an object of a class', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
  ['what JSON leaves out', { a: undefined, b: [() => 1] }, '{"b":[null]}'],
])('%s', (_name, value, text) => {
  const { whole } = canonicalTexts(value as Json, null);
  expect(whole).toBe(canonicalize(value));
  if (text !== undefined) expect(whole).toBe(text);
});

const cyclic: Record<string, unknown> = {};
cyclic.self = [cyclic, cyclic];

test.each<[string, unknown]>([
  ['half a character', { a: '\ud800' }],
  ['half a character in a name', { '\udc00': 1 }],
  ['a number without bounds', [Number.POSITIVE_INFINITY]],
  ['a big integer', [1n]],
  ['a value that contains itself', cyclic],
  ['nothing', undefined],
])('%s has no canonical text', (_name, value) => {
  expect(canonicalTexts(value as Json, null)).toMatchObject({ whole: undefined, part: undefined });
});

test('the text of a part is the text it has alone', () => {
  const part = { b: ['"'], a: 1 };
  expect(canonicalTexts({ z: 1, y: [part, 2] }, part)).toMatchObject({
    whole: '{"y":[{"a":1,"b":["\\""]},2],"z":1}',
    part: '{"a":1,"b":["\\""]}',
  });
  expect(canonicalTexts({ z: new Date(0) as unknown as Json, y: part }, part).part).toBe('{"a":1,"b":["\\""]}');
  expect(canonicalTexts({ z: 1 }, part).part).toBeUndefined();
  const around = [part, 2];
  expect(canonicalTexts({ z: 1, y: around }, part, false, around).around).toBe('[{"a":1,"b":["\\""]},2]');
});

test('agrees with the library on any value', { timeout: 600_000 }, () => {
  const name = fc.oneof(fc.string({ unit: 'grapheme' }), fc.nat(20).map(String), fc.constantFrom('context', '"', '\\'));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.double(), fc.boolean()),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 5 }),
    ),
  }));
  fc.assert(
    fc.property(value, (json) => {
      let expected: string | undefined;
      try {
        expected = canonicalize(json);
      } catch {
        expected = undefined;
      }
      expect(canonicalTexts(json as Json, null).whole).toBe(expected);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});
