import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { memorializeSuggestions, memorySuggestions } from './suggestion.ts';

const MEMORY_ROWS: [Json, string[]][] = [
  [
    ['a', 1, null, true, { b: 2 }],
    ['a', '1', 'true', '{"b":2}'],
  ],
  ['a', []],
  [null, []],
];

test.each(MEMORY_ROWS)('memory_suggestions %j read as %j', (memory_suggestions, expected) => {
  expect(memorySuggestions({ memory_suggestions })).toEqual(expected);
});

const FULL = { description: 'd', body: 'b', slug: 's', type: 'atom', class: 'log', rationale: 'r' };
const AT = 'memorialize_suggestions';
const MEMORIALIZE_ROWS: [string, Json, boolean, Json[], string[]][] = [
  ['null', null, false, [], []],
  ['an object', {}, true, [], [`${AT}: expected array, got an object`]],
  ['an entry that is no object', ['x', FULL], true, [FULL], [`${AT}[0]: not an object, skipped`]],
  ['an entry without body', [FULL, { description: 'd' }], true, [FULL], [`${AT}[1]: body missing, skipped`]],
  ['an entry without anything', [{}], true, [], [`${AT}[0]: description and body missing, skipped`]],
  [
    'a type off the list',
    [{ ...FULL, type: 'idea' }],
    true,
    [{ ...FULL, type: 'idea' }],
    [`${AT}[0].type: not one of atom, decision, negative, kept as it is`],
  ],
  [
    'a class off the list',
    [{ ...FULL, class: 'x' }],
    true,
    [{ ...FULL, class: 'x' }],
    [`${AT}[0].class: not one of anchor, thread, log, kept as it is`],
  ],
  ['a type in capitals', [{ ...FULL, type: 'ATOM' }], true, [{ ...FULL, type: 'ATOM' }], []],
  ['numbers and nulls', [{ description: 1, body: 2, slug: null }], true, [{ description: '1', body: '2' }], []],
];

test.each(MEMORIALIZE_ROWS)('memorialize_suggestions: %s', (_name, given, present, suggestions, warnings) => {
  const read = memorializeSuggestions({ memorialize_suggestions: given });
  expect(read.present).toBe(present);
  expect(read.suggestions).toEqual(suggestions);
  expect(read.findings.map(({ kind, code }) => [kind, code])).toEqual(warnings.map((code) => ['warning', code]));
});
