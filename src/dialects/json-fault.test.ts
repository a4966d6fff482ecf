import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findFault } from './json-fault.ts';

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 500) };
const timeout = 10_000 + 3 * runs.numRuns;

test.each([
  ['', 0, 'the text is empty'],
  ['{', 1, 'ends before an object is closed'],
  ['{"a"', 4, 'ends before an object is closed'],
  ['{"a":', 5, 'ends before an object is closed'],
  ['{"a":1', 6, 'ends before an object is closed'],
  ['{"a":[1', 7, 'ends before an array is closed'],
  ['[', 1, 'ends before an array is closed'],
  ['{"a":"b', 5, 'string is not closed'],
  ['{a:1}', 1, 'expected a key in double quotes'],
  ["{'a':1}", 1, 'expected a key in double quotes'],
  ['{"a":1,}', 7, 'comma before a closing brace'],
  ['[1,]', 3, 'comma before a closing bracket'],
  ['{"a" 1}', 5, 'expected a colon'],
  ['{"a":1 "b":2}', 7, 'expected a comma or a closing brace'],
  ['[1 2]', 3, 'expected a comma or a closing bracket'],
  ['{"a":}', 5, 'expected a value'],
  ['[,1]', 1, 'expected a value'],
  ['{"a":True}', 5, 'expected a value'],
  ['{"a":\'b\'}', 5, 'double quotes'],
  ['{"a":-}', 5, 'number'],
  ['{"a":.5}', 5, 'number'],
  ['{"a":01}', 6, 'expected a comma'],
  ['{"a":1e999}', 5, 'too large'],
  ['{"a":"x\ny"}', 7, 'must be escaped'],
  ['{"a":"\\x"}', 6, 'no known escape'],
  ['{"a":"\\u12g4"}', 6, 'no known escape'],
  ['{} {}', 3, 'more text after the end'],
])('%j has a fault of syntax at %i', (text, offset, words) => {
  expect(findFault(text)).toMatchObject({ kind: 'syntax', offset });
  expect(findFault(text)?.message).toContain(words);
});

test.each([
  ['{"__proto__":1}', 'forbidden_key', 1],
  ['{"\\u005f_proto__":1}', 'forbidden_key', 1],
  ['[{"a":{"constructor":{"prototype":1}}}]', 'forbidden_key', 22],
  ['{"a":1,"a":2}', 'duplicate_key', 7],
  ['{"a":1,"\\u0061":2}', 'duplicate_key', 7],
  ['[{"b":{"a":1,"c":{},"a":2}}]', 'duplicate_key', 20],
  ['{"a":1,"a":2,}', 'syntax', 13],
])('%s is refused as %s at %i', (text, kind, offset) => {
  expect(findFault(text)).toMatchObject({ kind, offset });
});

test.each([
  '{"a":{"a":1},"b":[{"a":1},{"a":2}]}',
  '{"constructor":1,"prototype":{}}',
  '{"a":[{"prototype":1}]}',
  '"a"',
  ' [ ] ',
])('%s has no fault', (text) => {
  expect(findFault(text)).toBeNull();
});

test(
  'a fault of syntax is found in exactly the texts that JSON.parse refuses',
  () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b\\n"',
      '"',
      '\\',
      '1',
      '-0.5e2',
      '01',
      'true',
      'nul',
      'null',
      ' ',
      '\n',
      '\u0001',
    ];
    const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((parts) => parts.join(''));
    const near = fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...pieces)).map(([json, at, piece]) => {
      const cut = at % (json.length + 1);
      return json.slice(0, cut) + piece + json.slice(cut + 1);
    });
    fc.assert(
      fc.property(fc.oneof(soup, near), (text) => {
        const fault = findFault(text);
        // What comes after a number that is too large was not looked at.
        if (fault?.message.includes('too large')) return;
        expect(fault?.kind === 'syntax').toBe(!isJson(text));
        if (fault) expect(fault.offset).toBeLessThanOrEqual(text.length);
      }),
      runs,
    );
  },
  timeout,
);

test(
  'a text with a line break before it has the same fault, one place further on',
  () => {
    // A text without escapes and control characters is read faster; the break in front takes it the long way.
    const pieces = [' ', ...'{ } [ ] " "a" "a": , : 1 - true x "__proto__": "é":'.split(' ')];
    const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((parts) => parts.join(''));
    const cut = fc.tuple(fc.json(), fc.nat()).map(([json, at]) => json.slice(0, at % (json.length + 1)));
    fc.assert(
      fc.property(fc.oneof(soup, cut), (text) => {
        const fault = findFault(text);
        expect(findFault(`\n${text}`)).toEqual(fault && { ...fault, offset: fault.offset + 1 });
      }),
      runs,
    );
  },
  timeout,
);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([2, 16, 17, 18, 300])(
  'a key that is written twice among %i is found, the first and the last alike',
  (count) => {
    const members = Array.from({ length: count }, (_, index) => `"k${index}":0`);
    expect(findFault(`{${members.join(',')}}`)).toBeNull();
    for (const key of ['k0', `k${count - 1}`]) {
      const text = `{${members.join(',')},"${key}":1}`;
      expect(findFault(text)).toMatchObject({ kind: 'duplicate_key', offset: text.lastIndexOf(`"${key}"`) });
    }
  },
);
