import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { canonicalText } from './canonical-text.ts';
import { mergeContracts } from './merge.ts';

const runs = Number(process.env.FUZZ_RUNS ?? 2000);
const patient = { timeout: 20_000 + runs * 10 };
const merge = (base: JsonObject, ...payloads: JsonObject[]) => {
  const entries = payloads.map((payload) => ({ contract: 's', payload }));
  return mergeContracts({ base: { s: base }, entries, writable_sections: ['s'] });
};
const merged = (base: JsonObject, ...payloads: JsonObject[]): JsonObject => {
  const { result } = merge(base, ...payloads).details;
  const section = isObject(result) ? result.s : undefined;
  return isObject(section) ? section : {};
};

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
    'names that are stored twice are not joined',
    {
      a: [
        { name: 'x', p: 1 },
        { name: 'x', p: 2 },
      ],
    },
    { a: [{ name: 'x', q: 3 }] },
    {
      a: [
        { name: 'x', p: 1 },
        { name: 'x', p: 2 },
        { name: 'x', q: 3 },
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
  const { code, details } = merge(base, payload);
  expect(code).toBe('OK');
  expect(details).toMatchObject({ rejected: [], warnings });
  expect(merged(base, payload)).toEqual(expected);
});

test('two entries of one section apply in order', () => {
  expect(merged({}, { a: 1, l: [1] }, { a: { b: 1 } }, { a: { c: 2 }, l: [2, 1] })).toEqual({
    a: { b: 1, c: 2 },
    l: [1, 2],
  });
});

const entry = (contract: Json, payload: Json) => ({ contract, payload });
const DOOR_ROWS: [string, Json[], JsonObject, string[], string[]][] = [
  ['every section is writable', [entry('a', { y: 2 })], { a: { x: 1, y: 2 }, list: [1] }, [], []],
  ['a new section is written', [entry('b', { y: 2 })], { a: { x: 1 }, list: [1], b: { y: 2 } }, [], []],
  [
    'a section off the list is rejected and the others apply',
    [entry('c', { y: 1 }), entry('a', { y: 2 }), entry('c', { z: 1 })],
    { a: { x: 1, y: 2 }, list: [1] },
    ['c'],
    ['UPDATE_CONTRACTS_REJECTED:c', 'UPDATE_CONTRACTS_REJECTED:c'],
  ],
  [
    'names are compared exactly',
    [entry('A', {}), entry('a ', {})],
    { a: { x: 1 }, list: [1] },
    ['A', 'a '],
    ['UPDATE_CONTRACTS_REJECTED:A', 'UPDATE_CONTRACTS_REJECTED:a '],
  ],
  [
    'a payload that is no object is rejected',
    [entry('a', [1])],
    { a: { x: 1 }, list: [1] },
    ['a'],
    ['UPDATE_CONTRACTS_REJECTED:a'],
  ],
  [
    'a stored section that is no object is kept',
    [entry('list', { y: 1 })],
    { a: { x: 1 }, list: [1] },
    ['list'],
    ['UPDATE_CONTRACTS_REJECTED:list'],
  ],
  [
    'entries of another shape are skipped',
    [null, 'a', {}, { contract: 'a' }, { payload: {} }, entry(7, {}), entry('a', { y: 2 })],
    { a: { x: 1, y: 2 }, list: [1] },
    [],
    [0, 1, 2, 3, 4, 5].map((index) => `UPDATE_CONTRACTS_SKIPPED:entries[${index}]`),
  ],
];

test.each(DOOR_ROWS)('%s', (_name, entries, result, rejected, warnings) => {
  const base = { a: { x: 1 }, list: [1] };
  const verdict = mergeContracts({ base, entries, writable_sections: ['a', 'b', 'list'] });
  expect(verdict.code).toBe(rejected.length > 0 ? 'WRITE_NOT_PERMITTED' : 'OK');
  expect(verdict.details).toMatchObject({ result, rejected, warnings });
});

test('live state is written with a warning, references in their canonical spelling', () => {
  const verdict = merge({}, { vpc_id: 'vpc-12345678', uses: ['git@github.com:Acme/IaC.git:tf_modules/network'] });
  expect(verdict.allow).toBe(true);
  expect(verdict.details.warnings).toEqual(['REFERENCE_NORMALISED:s.uses[0]', 'LIVE_STATE:s.vpc_id']);
  expect(verdict.details.result).toEqual({
    s: { vpc_id: 'vpc-12345678', uses: ['github.com/acme/iac:tf_modules/network'] },
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
  if (Array.isArray(value)) return [...new Set(value.map((element: Json) => canonicalText(canonicalSets(element))))];
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
    const texts = new Set((result as Json[]).map(canonicalText));
    const named = (list: Json[]) => list.length > 0 && list.every((element) => isObject(element) && 'name' in element);
    if (named(stored) && named(update)) return;
    for (const element of stored) expect(texts).toContain(canonicalText(element));
  }
}

test('a united list has no duplicates and keeps the order of what was stored and of what came', patient, () => {
  const scalars = fc.array(fc.constantFrom<Json>(0, 1, 2, 'a', 'b', null, [1], { id: 1 }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(scalars, scalars, (stored, update) => {
      fc.pre(canonicalText(stored) !== canonicalText(update));
      const texts = (list: readonly Json[]) => [...new Set(list.map(canonicalText))];
      const { l } = merged({ l: stored }, { l: update });
      expect((l as Json[]).map(canonicalText)).toEqual(texts([...stored, ...update]));
    }),
    { numRuns: runs },
  );
});

const MANY = 20_000;
const FLOODS: [string, Json[]][] = [
  ['entries of one section', Array.from({ length: MANY }, (_, n) => entry('s', { [`k${n}`]: n }))],
  ['entries of one nested key', Array.from({ length: MANY }, (_, n) => entry('s', { a: { [`k${n}`]: n } }))],
  ['entries of one list', Array.from({ length: MANY }, (_, n) => entry('s', { a: [n] }))],
  ['elements of one name', [entry('s', { l: Array.from({ length: MANY }, (_, n) => ({ name: 'x', [`k${n}`]: n })) })]],
  ['references', [entry('s', { l: Array.from({ length: MANY * 4 }, (_, n) => `https://h.io/o/r:t/${n}`) })]],
  ['long paths', [entry('s', { ['k'.repeat(500_000)]: Array.from({ length: MANY }, () => '10.1.1.1') })]],
];

test.each(FLOODS)('a flood of %s is merged in time that grows with its size', (_name, entries) => {
  const before = performance.now();
  const verdict = mergeContracts({ base: { s: { l: [{ name: 'x' }] } }, entries, writable_sections: ['s'] });
  expect(verdict.allow).toBe(true);
  expect((verdict.details.warnings as string[]).length).toBeLessThanOrEqual(100);
  expect(performance.now() - before).toBeLessThan(60_000);
});
