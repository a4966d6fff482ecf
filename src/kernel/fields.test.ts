import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeField, exampleOf, jsonSchemaOf, messageOf, withDefaults } from './field-schema.ts';
import { codeOf, type Field, isRefusal, mismatches, type ValueOf } from './fields.ts';
import type { Json } from './json.ts';

const CHECK = {
  type: 'object',
  unknown: 'warned',
  extensions: true,
  fields: {
    criterion: { type: 'text', required: true, means: 'the criterion, word for word', charsMax: 20 },
    status: { type: 'choice', of: ['pass', 'fail'], required: true, code: 'STATUS' },
    evidence: { type: 'text', code: { blank: 'NO_EVIDENCE' }, hint: 'Quote the output.' },
    passed: { type: 'flag', obsolete: 'Write it in `status`.' },
    count: { type: 'count', min: 1, max: 9, default: 1 },
    score: { type: 'number', nullable: true },
    files: { type: 'list', itemsMin: 1, itemsMax: 3, unique: true },
    by: { type: 'map', names: { type: 'text', form: '^[a-z]+$' }, of: { type: 'count' }, entriesMax: 2 },
    how: {
      type: 'oneOf',
      of: [{ type: 'flag' }, { type: 'object', fields: { tool: { type: 'text', required: true } } }],
    },
    version: { type: 'const', value: 1 },
    old: { type: 'json', ignored: true },
    place: { type: 'path', inside: true, charsMax: 9 },
    beat: { type: 'count', below: 'count' },
    words: { type: 'list', whole: true },
  },
} as const satisfies Field;

const GOOD: ValueOf<typeof CHECK> = { criterion: 'it works', status: 'pass' };

test.each<[string, object, string | null]>([
  ['what is required is enough', {}, null],
  ['a required field is missing', { criterion: undefined }, 'criterion: is missing: the criterion, word for word'],
  ['null is no absence', { criterion: null }, 'criterion: must be a string that is not blank'],
  ['a text is blank', { criterion: ' \n' }, 'criterion: must not be blank'],
  ['a text has just enough characters, each of two code units', { criterion: '😀'.repeat(20) }, null],
  ['a text is too long', { criterion: 'x'.repeat(21) }, 'criterion: has 21 characters; at most 20 are allowed'],
  ['a choice is unknown', { status: 'maybe' }, 'status: must be one of pass, fail'],
  ['a choice is of another type', { status: true }, 'status: must be one of pass, fail'],
  ['a hint is said', { evidence: 1 }, 'evidence: must be a string that is not blank. Quote the output.'],
  ['a field is obsolete', { passed: true }, 'passed: is no longer understood. Write it in `status`.'],
  ['a field is ignored', { old: [1] }, null],
  ['a number is no whole one', { count: 1.5 }, 'count: must be a whole number from 1 to 9'],
  ['a number is out of its range', { count: 10 }, 'count: must be a whole number from 1 to 9'],
  ['null fits where it is allowed', { score: null }, null],
  ['a number is none', { score: '1' }, 'score: must be a number, or null'],
  ['a list has too few entries', { files: [] }, 'files: must be a list of strings with 1 to 3 entries'],
  [
    'a list has too many entries',
    { files: ['a', 'b', 'c', 'd'] },
    'files: must be a list of strings with 1 to 3 entries',
  ],
  ['an entry is wrong', { files: ['a', 2] }, 'files.1: must be a string that is not blank'],
  ['an entry is there twice', { files: ['a', 'a'] }, 'files.1: is in the list twice'],
  ['a name of a map is wrong', { by: { A: 1 } }, 'by.A: is no name here; a name is a string that is not blank'],
  ['an entry of a map is wrong', { by: { a: -1 } }, 'by.a: must be a whole number, 0 or above'],
  ['a map has too many entries', { by: { a: 1, b: 1, c: 1 } }, 'by: must have at most 2 entries'],
  ['an alternative fits', { how: { tool: 'hammer' } }, null],
  ['none of the type fits', { how: 'hammer' }, 'how: must be true or false, or an object'],
  ['the alternative of the type does not fit', { how: {} }, 'how.tool: is missing: a string that is not blank'],
  ['a constant differs', { version: 2 }, 'version: must be 1'],
  ['a path is inside', { place: './a/../b' }, null],
  ['a path leads out', { place: 'a/../..' }, 'place: leads out of the workspace; stay inside it'],
  ['a path names none', { place: '//' }, 'place: names no path; give a path such as src/api.ts'],
  ['a path is too long', { place: 'a/b/c/d/e/f' }, 'place: has 11 characters; at most 9 are allowed'],
  ['a number is below another', { beat: 4, count: 5 }, null],
  ['a number without the other', { beat: 4 }, null],
  ['a number is not below another', { beat: 5, count: 5 }, 'beat: must be smaller than count'],
  ['a value is wrong inside, and is judged as a whole', { words: ['a', ''] }, 'words: must be a list of strings'],
  [
    'a name is misspelt',
    { staus: 'pass' },
    'staus: is not known; did you mean status? there are: criterion, status, evidence, count, score, files, by, how, version, place, beat, words',
  ],
  ['an extension is free', { x_note: 1 }, null],
])('%s', (_case, changes, message) => {
  const found = mismatches({ ...GOOD, ...changes }, CHECK);
  expect(found.map((each) => `${each.path.join('.')}: ${messageOf(each)}`)).toEqual(message === null ? [] : [message]);
});

test('everything is found, in the order of the table, unknown members last', () => {
  const found = mismatches({ more: 1, files: [3], status: 'no', evidence: '' }, CHECK);
  expect(found.map(({ rule, path }) => [rule, path.join('.')])).toEqual([
    ['missing', 'criterion'],
    ['choice', 'status'],
    ['blank', 'evidence'],
    ['type', 'files.0'],
    ['unknown', 'more'],
  ]);
  expect(found.map((each) => codeOf(each, 'USUAL'))).toEqual(['USUAL', 'STATUS', 'NO_EVIDENCE', 'USUAL', 'USUAL']);
  expect(found.map(isRefusal)).toEqual([true, true, true, true, false]);
});

test('what is missing is named together where the table says so, and the other members wait', () => {
  const found = mismatches([{ more: 1, status: 'no' }], { type: 'list', of: { ...CHECK, together: true } });
  expect(found.map((each) => `${each.path.join('.')}: ${messageOf(each)}`)).toEqual([
    '0: lacks criterion',
    expect.stringContaining('0.more: is not known'),
  ]);
});

test.each<[string, Field, unknown, string[]]>([
  [
    'an unknown member is refused unless the table says otherwise',
    { type: 'object', fields: {} },
    { a: 1 },
    ['unknown'],
  ],
  ['a free object takes anything', { type: 'object', unknown: 'free', fields: {} }, { a: 1 }, []],
  ['an extension has to be allowed', { type: 'object', fields: {} }, { x_a: 1 }, ['unknown']],
  [
    'null counts as absent',
    { type: 'object', nullIsAbsent: true, fields: { a: { type: 'flag' }, b: { type: 'flag', required: true } } },
    { a: null, b: null },
    ['missing'],
  ],
  ['a form decides about blank texts', { type: 'text', form: '^ *$' }, '  ', []],
  ['a blank text that its form refuses is blank', { type: 'text', form: '^a$' }, ' ', ['blank']],
  ['a wrong value ends the walk', { type: 'object', fields: { a: { type: 'flag', required: true } } }, [], ['type']],
])('%s', (_case, field, value, rules) => {
  expect(mismatches(value, field).map(({ rule }) => rule)).toEqual(rules);
});

test.each<[Field, string]>([
  [{ type: 'text', mayBeEmpty: true }, 'a string'],
  [{ type: 'text', wants: 'a time in UTC' }, 'a time in UTC'],
  [{ type: 'count', noun: 'sequence number' }, 'a sequence number'],
  [{ type: 'number', min: 0 }, 'a number, 0 or above'],
  [{ type: 'number', max: 2 }, 'a number, 2 or below'],
  [{ type: 'choice', of: ['one'] }, '"one"'],
  [{ type: 'list', of: { type: 'count' }, itemsMax: 2 }, 'a list with at most 2 entries'],
  [{ type: 'list', itemsMin: 1 }, 'a list of strings with at least 1 entry'],
  [{ type: 'json', nullable: true }, 'any value, or null'],
  [{ type: 'path' }, 'the name of a file or folder'],
])('%j wants %s', (field, words) => {
  expect(describeField(field)).toBe(words);
});

test('defaults are filled in at every depth and change nothing else', () => {
  const limits: Field = { type: 'object', fields: { turns: { type: 'count', default: 3 }, bytes: { type: 'count' } } };
  const table: Field = {
    type: 'object',
    fields: {
      limits: { ...limits, default: {} },
      by: { type: 'map', of: limits },
      list: { type: 'list', of: limits },
      either: { type: 'oneOf', of: [{ type: 'flag' }, limits] },
      left: limits,
    },
  };
  expect(withDefaults({ by: { a: { turns: 1 }, b: {} }, list: [{}], either: {}, x: null }, table)).toEqual({
    limits: { turns: 3 },
    by: { a: { turns: 1 }, b: { turns: 3 } },
    list: [{ turns: 3 }],
    either: { turns: 3 },
    x: null,
  });
});

test('the example shows what is required or has an example, or a placeholder for each', () => {
  const table: Field = {
    type: 'object',
    fields: {
      ok: { type: 'flag', required: true },
      files: {
        type: 'list',
        of: { type: 'object', fields: { name: { type: 'text', required: true } } },
        required: true,
      },
      note: { type: 'text' },
      shown: { type: 'text', example: 'as here' },
    },
  };
  expect(exampleOf(table)).toEqual({ ok: true, files: [{ name: 'text' }], shown: 'as here' });
  expect(exampleOf(table, (field) => `<${describeField(field)}>`)).toMatchObject({ ok: '<true or false>' });
});

const NAMES = ['a', 'b', 'x_c', 'constructor'];
const name = fc.constantFrom(...NAMES);
const scalar: fc.Arbitrary<Field> = fc.oneof(
  fc.record(
    { type: fc.constant('text' as const), mayBeEmpty: fc.constant(true as const), charsMax: fc.nat(3) },
    { requiredKeys: ['type'] },
  ),
  fc.constant<Field>({ type: 'text', form: '^[ab ]*$' }),
  fc.constant<Field>({ type: 'path' }),
  fc.constant<Field>({ type: 'flag' }),
  fc.record(
    { type: fc.constant('count' as const), min: fc.nat(2), max: fc.integer({ min: 2, max: 4 }) },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    { type: fc.constant('number' as const), min: fc.nat(2), max: fc.integer({ min: 2, max: 4 }) },
    { requiredKeys: ['type'] },
  ),
  fc.constant<Field>({ type: 'choice', of: ['a', 'b'] }),
  fc.constantFrom<Field>({ type: 'const', value: 'a' }, { type: 'const', value: 1 }),
  fc.constant<Field>({ type: 'json' }),
);
const flag = fc.constantFrom(true as const, undefined);
const { field: anyField } = fc.letrec<{ field: Field }>((tie) => ({
  field: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.tuple(scalar, flag, flag).map(([one, nullable, required]): Field => {
      return { ...one, ...(nullable && { nullable }), ...(required && { required }) };
    }),
    fc
      .tuple(
        fc.uniqueArray(fc.tuple(name, tie('field')), { selector: ([key]) => key, maxLength: 3 }),
        fc.constantFrom('refused', 'warned', 'free'),
        flag,
      )
      .map(([fields, unknown, extensions]): Field => {
        return {
          type: 'object',
          fields: Object.fromEntries(fields),
          unknown: unknown as 'free',
          ...(extensions && { extensions }),
        };
      }),
    fc.tuple(tie('field'), fc.nat(1), fc.integer({ min: 1, max: 2 })).map(([of, itemsMin, itemsMax]): Field => {
      return { type: 'list', of, itemsMin, itemsMax };
    }),
    fc.constant<Field>({ type: 'list', unique: true }),
    fc.tuple(tie('field'), flag).map(([of, named]): Field => {
      return { type: 'map', of, entriesMax: 2, ...(named && { names: { type: 'choice', of: ['a', 'b'] } }) };
    }),
    fc.array(tie('field'), { minLength: 1, maxLength: 3 }).map((of): Field => ({ type: 'oneOf', of })),
  ),
}));

const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<Json>('a', 'b', '', ' ', '😀😀', 'aaaa', 0, 1, 2, 2.5, 9, true, false, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}));

/** Values near a table: its example with one part replaced by anything. */
function near(field: Field): fc.Arbitrary<Json> {
  const example = exampleOf(field);
  return fc.oneof(
    fc.constant(example),
    anyValue,
    fc.tuple(name, anyValue).map(([key, value]) => {
      return typeof example === 'object' && example !== null && !Array.isArray(example)
        ? { ...example, [key]: value }
        : [example, value];
    }),
  );
}

test('a table accepts exactly what its JSON Schema accepts', () => {
  const ajv = new Ajv2020({ strict: false, ownProperties: true });
  const cases = anyField.chain((field) => near(field).map((value) => ({ field, value })));
  fc.assert(
    fc.property(cases, ({ field, value }) => {
      const fits = ajv.compile(jsonSchemaOf(field));
      expect(mismatches(value, field).filter(isRefusal).length === 0).toBe(fits(value));
    }),
    { numRuns: 400 },
  );
});
