import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { type Change, diffOf, valuesOf } from './diff.ts';

const change = (path: string, before: string | null, after: string | null): Change => ({ path, before, after });

const ROWS: [string, JsonObject, JsonObject, Change[]][] = [
  ['nothing', { a: { b: [1] } }, { a: { b: [1] } }, []],
  ['the order of members', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
  ['a member that came', {}, { a: 1 }, [change('a', null, '1')]],
  ['a member that went', { a: null }, {}, [change('a', 'null', null)]],
  ['a value', { a: { b: 'x' } }, { a: { b: 'y' } }, [change('a.b', 'x', 'y')]],
  ['a type', { a: [1] }, { a: {} }, [change('a', '[1]', '{}')]],
  ['elements of a list', { a: [1, 2] }, { a: [2, 3] }, [change('a[]', '1', null), change('a[]', null, '3')]],
  ['the order of a list', { a: [1, 2] }, { a: [2, 1] }, [change('a', '[1,2]', '[2,1]')]],
];

test.each(ROWS)('between two values differs %s', (_name, before, after, changes) => {
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
