import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, isObject, type Json, type JsonObject } from '../json.ts';
import type { Finding } from './live-state.ts';
import { diffOf, mergePayloads, type ValueChange, valuesOf } from './merge.ts';

const runs = Number(process.env.FUZZ_RUNS ?? 500);
const patient = { timeout: 20_000 + runs * 10 };
const merged = (base: JsonObject, ...payloads: JsonObject[]): JsonObject => mergePayloads(base, payloads, 's', []);

const ROWS: [string, JsonObject, JsonObject, JsonObject, string[]][] = [
  ['a new key is added', { a: 1 }, { b: [1, 1] }, { a: 1, b: [1, 1] }, []],
  ['a scalar is replaced, the rest stays', { a: 1, b: 2 }, { b: 3 }, { a: 1, b: 3 }, []],
  ['objects are merged', { a: { x: 1, y: { z: 1 } } }, { a: { y: { w: 2 } } }, { a: { x: 1, y: { z: 1, w: 2 } } }, []],
  ['an empty object changes nothing', { a: { x: 1 } }, { a: {} }, { a: { x: 1 } }, []],
  ['lists are united, the stored first', { a: ['b', 'a'] }, { a: ['c', 'a'] }, { a: ['b', 'a', 'c'] }, []],
  ['an empty list removes nothing', { a: [1] }, { a: [] }, { a: [1] }, []],
  ['text and numbers are told apart', { a: ['1', 1, true] }, { a: [1, false] }, { a: ['1', 1, true, false] }, []],
  ['nulls are elements', { a: [null] }, { a: [null, 1] }, { a: [null, 1] }, []],
  ['duplicates already stored collapse', { a: [1, 1] }, { a: [2] }, { a: [1, 2] }, []],
  ['a list sent again stays as it is', { a: [1, 1] }, { a: [1, 1] }, { a: [1, 1] }, []],
  [
    'equal objects count once, whatever their key order',
    { a: [{ x: 1, y: 2 }] },
    { a: [{ y: 2, x: 1 }] },
    { a: [{ x: 1, y: 2 }] },
    [],
  ],
  [
    'lists in lists are elements',
    { a: [[1, 2]] },
    {
      a: [
        [2, 1],
        [1, 2],
      ],
    },
    {
      a: [
        [1, 2],
        [2, 1],
      ],
    },
    [],
  ],
  [
    'named objects are joined by name',
    { a: [{ name: 'x', p: 1 }] },
    { a: [{ name: 'x', q: 2 }, { name: 'y' }] },
    { a: [{ name: 'x', p: 1, q: 2 }, { name: 'y' }] },
    [],
  ],
  [
    'the same name twice is joined in order',
    { a: [{ name: 'x' }] },
    {
      a: [
        { name: 'x', p: 1 },
        { name: 'x', p: 2 },
      ],
    },
    { a: [{ name: 'x', p: 2 }] },
    [],
  ],
  [
    'what comes for a name that is stored twice joins the first',
    {
      a: [
        { name: 'x', p: 1 },
        { name: 'x', q: 1 },
      ],
    },
    { a: [{ name: 'x', r: 1 }, { name: 'y' }] },
    { a: [{ name: 'x', p: 1, r: 1 }, { name: 'x', q: 1 }, { name: 'y' }] },
    [],
  ],
  [
    'what the second of a name holds already is nothing new',
    {
      a: [
        { name: 'x', p: 1 },
        { name: 'x', p: 2 },
      ],
    },
    { a: [{ name: 'x', p: 2 }] },
    {
      a: [
        { name: 'x', p: 1 },
        { name: 'x', p: 2 },
      ],
    },
    [],
  ],
  [
    'unnamed objects are not joined',
    { a: [{ id: 1 }] },
    { a: [{ id: 1, x: 0 }] },
    { a: [{ id: 1 }, { id: 1, x: 0 }] },
    [],
  ],
  [
    'partly named objects are not joined',
    { a: [{ name: 'x' }] },
    { a: [{ name: 'x', p: 1 }, { id: 1 }] },
    { a: [{ name: 'x' }, { name: 'x', p: 1 }, { id: 1 }] },
    [],
  ],
  ['null replaces, it does not delete', { a: { x: 1 } }, { a: null }, { a: null }, ['TYPE_CHANGED:s.a:object->null']],
  ['an object replaces a list', { a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }, ['TYPE_CHANGED:s.a:array->object']],
  [
    'a number replaces text',
    { a: { b: '1' } },
    { a: { b: 1 } },
    { a: { b: 1 } },
    ['TYPE_CHANGED:s.a.b:string->number'],
  ],
  ['fractions are numbers too', { a: 1 }, { a: 1.5 }, { a: 1.5 }, []],
  [
    'keys of prototypes are plain keys',
    { constructor: { a: 1 } },
    { toString: 2 },
    { constructor: { a: 1 }, toString: 2 },
    [],
  ],
];

test.each(ROWS)('%s', (_name, base, payload, expected, warnings) => {
  const findings: Finding[] = [];
  const before = structuredClone(base);
  expect(mergePayloads(base, [payload], 's', findings)).toEqual(expected);
  expect(findings.map(({ code }) => code)).toEqual(warnings);
  expect(base).toEqual(before);
});

test('two entries of one section apply in order', () => {
  expect(merged({}, { a: 1, l: [1] }, { a: { b: 1 } }, { a: { c: 2 }, l: [2, 1] })).toEqual({
    a: { b: 1, c: 2 },
    l: [1, 2],
  });
});

// Few keys and values, so that updates meet what is stored.
const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(0, 1, 'x', 'y', null, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'name'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const anyObject = fc.dictionary(fc.constantFrom('a', 'b', 'c'), anyValue, { maxKeys: 3, noNullPrototype: true });
const check = (holds: (base: JsonObject, payload: JsonObject) => void) =>
  fc.assert(fc.property(anyObject, anyObject, holds), { numRuns: runs });

test('merging the same payload again changes nothing', patient, () => {
  check((base, payload) => {
    const once = merged(base, payload);
    expect(merged(once, payload)).toEqual(once);
    expect(merged(base, payload, payload)).toEqual(once);
  });
});

test('two entries give what merging one after the other gives', patient, () => {
  fc.assert(
    fc.property(anyObject, anyObject, anyObject, (base, first, second) => {
      // Lists that hold an element twice may collapse at another moment, which changes nothing but the duplicates.
      expect(canonicalSets(merged(base, first, second))).toEqual(canonicalSets(merged(merged(base, first), second)));
    }),
    { numRuns: runs },
  );
});

function canonicalSets(value: Json): Json {
  if (Array.isArray(value)) return [...new Set(value.map((element: Json) => canonicalJson(canonicalSets(element))))];
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, canonicalSets(member)]));
}

test('nothing stored is deleted unless another type replaces it', patient, () => {
  check((base, payload) => expectKept(base, payload, merged(base, payload)));
});

function expectKept(stored: Json, update: Json | undefined, result: Json | undefined): void {
  if (update === undefined) return expect(result).toEqual(stored);
  if (isObject(stored) && isObject(update)) {
    for (const [key, value] of Object.entries(stored)) {
      expectKept(value, update[key], isObject(result) ? result[key] : undefined);
    }
  } else if (Array.isArray(stored) && Array.isArray(update)) {
    const texts = new Set((result as Json[]).map(canonicalJson));
    const named = (list: Json[]) => list.length > 0 && list.every((element) => isObject(element) && 'name' in element);
    if (named(stored) && named(update)) {
      // Joined by name: every name is still there, and what it held is merged like anything else.
      for (const element of stored) {
        const name = canonicalJson((element as JsonObject).name ?? null);
        expect((result as Json[]).some((each) => isObject(each) && canonicalJson(each.name ?? null) === name)).toBe(
          true,
        );
      }
      return;
    }
    for (const element of stored) expect(texts).toContain(canonicalJson(element));
  }
}

test('a united list has no duplicates and keeps the order of what was stored and of what came', patient, () => {
  const scalars = fc.array(fc.constantFrom<Json>(0, 1, 2, 'a', 'b', null, [1], { id: 1 }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(scalars, scalars, (stored, update) => {
      fc.pre(canonicalJson(stored) !== canonicalJson(update));
      const texts = (list: readonly Json[]) => [...new Set(list.map(canonicalJson))];
      const { l } = merged({ l: stored }, { l: update });
      expect((l as Json[]).map(canonicalJson)).toEqual(texts([...stored, ...update]));
    }),
    { numRuns: runs },
  );
});

const change = (path: string, before: string | null, after: string | null): ValueChange => ({ path, before, after });

const DIFFERENCES: [string, JsonObject, JsonObject, ValueChange[]][] = [
  ['nothing', { a: { b: [1] } }, { a: { b: [1] } }, []],
  ['the order of members', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
  ['a member that came', {}, { a: 1 }, [change('a', null, '1')]],
  ['a member that went', { a: null }, {}, [change('a', 'null', null)]],
  ['a value', { a: { b: 'x' } }, { a: { b: 'y' } }, [change('a.b', 'x', 'y')]],
  ['a type', { a: [1] }, { a: {} }, [change('a', '[1]', '{}')]],
  ['elements of a list', { a: [1, 2] }, { a: [2, 3] }, [change('a[]', '1', null), change('a[]', null, '3')]],
  ['the order of a list', { a: [1, 2] }, { a: [2, 1] }, [change('a', '[1,2]', '[2,1]')]],
];

test.each(DIFFERENCES)('between two values differs %s', (_name, before, after, changes) => {
  expect(diffOf(before, after)).toEqual(changes);
});

test('values are told as they are, so that a number and its text differ', () => {
  expect(valuesOf({ a: 80, b: null }, { a: '80', c: [1] }, 9)).toEqual([
    { path: 'a', before: 80, after: '80' },
    { path: 'b', before: null, after: undefined },
    { path: 'c', before: undefined, after: [1] },
  ]);
});

test('only the first changes are told, each in short', () => {
  const many = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`k${n}`, 'x'.repeat(1_000)]));
  expect(diffOf({}, many)).toHaveLength(50);
  expect(diffOf({}, many, 3)).toHaveLength(3);
  expect(diffOf({}, many)[0]?.after).toHaveLength(201);
});
