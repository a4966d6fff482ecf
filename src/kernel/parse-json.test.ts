import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from './json.ts';

test.each<[before: string, after: string, names: readonly string[]]>([
  [String.raw`{"x":1,"\\":2}`, String.raw`{"x":1,"\"":2}`, ['x', '"']],
  [String.raw`{"x":1,"a\\":2}`, String.raw`{"x":1,"a\n":2}`, ['x', 'a\n']],
  [String.raw`{"q":1,"\\\"":2}`, String.raw`{"q":1,"\"a":2}`, ['q', '"a']],
])('after %s the names of %s are read as they stand there', (before, after, names) => {
  parseJson(before);
  expect(Object.keys(parseJson(after) as object)).toEqual(names);
});

const JSON_VALUES = fc.jsonValue({ depthSize: 'small' });
const NAMES = fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'a', '\uE000', '0', ':'), maxLength: 3 });
const named = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, JSON_VALUES, NAMES, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc.dictionary(NAMES, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));

test('what was written is read again, whatever its names are', () => {
  fc.assert(
    fc.property(named.object, (value) => {
      const text = JSON.stringify(value);
      expect(JSON.stringify(parseJson(text))).toBe(text);
    }),
  );
});

test.each(['{"a\\"', '{"a\\n":}', '"\\', ''])('text that is no JSON throws: %j', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('a name is data, also the one of the prototype', () => {
  const read = parseJson(String.raw`{"__proto__":{"a\"":1},"b\"":2}`) as object;
  expect([Object.keys(read), Object.getPrototypeOf(read)]).toEqual([['__proto__', 'b"'], Object.prototype]);
});
