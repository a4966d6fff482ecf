import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../kernel/json.ts';
import { jsonDocument, patchedJson, prettyJson } from './json-text.ts';

const TEXT = `{
  // why
  "a": { "b": 1, "c": [1, 2, 3] },
  "list": [
    { "when": "satisfied", "to": "x" }, // first
    { "when": "always", "to": "y" }
  ],
  "x_note": "kept" /* too */
}
`;

test.each<[string, (value: { a: JsonObject; list: JsonObject[] }) => Json, string, string]>([
  ['nothing', (value) => value, '', ''],
  ['one value', (value) => ({ ...value, a: { b: 2, c: [1, 2, 3] } }), '"b": 1', '"b": 2'],
  [
    'a member behind another',
    (value) => ({ ...value, a: { b: 1, z: true, c: [1, 2, 3] } }),
    '"b": 1,',
    '"b": 1, "z": true,',
  ],
  ['a member less', (value) => ({ ...value, a: { b: 1 } }), ', "c": [1, 2, 3]', ''],
  ['an entry less', (value) => ({ ...value, a: { b: 1, c: [1, 3] } }), '[1, 2, 3]', '[1, 3]'],
  [
    'an entry more, on a line of its own',
    (value) => ({ ...value, list: [...value.list, { when: 'always', to: 'z' }] }),
    '"to": "y" }',
    '"to": "y" },\n    { "when": "always", "to": "z" }',
  ],
  ['a member at the end', (value) => ({ ...value, last: 1 }), '"x_note": "kept"', '"x_note": "kept",\n  "last": 1'],
  ['a member first', (value) => ({ zero: 0, ...value }), '  "a": {', '  "zero": 0,\n  "a": {'],
])('only what differs is written: %s', (_, change, before, written) => {
  const next = change(parse(TEXT));
  expect(patchedJson(TEXT, next)).toBe(before === '' ? TEXT : TEXT.replace(before, written));
});

describe('any value', () => {
  const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
  const object = fc.dictionary(
    fc.string({ maxLength: 4 }).filter((key) => key !== '__proto__'),
    json,
    { maxKeys: 6 },
  );

  test('is what the text then holds, in the same order', () => {
    fc.assert(
      fc.property(object, object, fc.boolean(), (before, next, isWide) => {
        const text = isWide ? JSON.stringify(before, null, 2) : jsonDocument(before as JsonObject);
        const patched = patchedJson(text, next as JsonObject) ?? '';
        expect(JSON.stringify(JSON.parse(patched))).toBe(JSON.stringify(JSON.parse(JSON.stringify(next))));
      }),
      { numRuns: 2_000 },
    );
  });

  test('a value next to it changes a member and nothing else', () => {
    fc.assert(
      fc.property(object, fc.string({ maxLength: 3 }), json, (before, key, value) => {
        fc.pre(key !== '__proto__');
        const text = `// remark\n${JSON.stringify({ first: { deep: [1, { x: 1 }] }, ...before }, null, 4)} // end\n`;
        const next = JSON.parse(JSON.stringify({ ...(parse(text) as JsonObject), [key]: value }));
        const patched = patchedJson(text, next) ?? '';
        expect(parse(patched)).toEqual(next);
        expect(patched.startsWith('// remark\n') && patched.endsWith(' // end\n')).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

test('what ships is written as it is formatted', () => {
  const text = readFileSync(new URL('../bundled/config.json', import.meta.url), 'utf8');
  const config = JSON.parse(text);
  expect(patchedJson(text, config)).toBe(text);
  const { sockets } = config.loadouts['Full-Auto'];
  expect(text).toContain(prettyJson(sockets['Socket-5'], '        ', 20));
});
