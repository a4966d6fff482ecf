// The contracts as a library: what a program hands over may hold anything, and the answer is a verdict all the same.
import { expect, test } from 'vitest';
import { CODES, KINDS, type Payload, read, validate } from './contracts.ts';

const now = '2026-02-11T00:45:02Z';
const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;
const unreadable = Object.defineProperty({}, 'a', {
  enumerable: true,
  get: () => {
    throw new Error('no');
  },
});

const STRANGE: readonly (readonly [string, unknown, string])[] = [
  ['undefined', undefined, '$ is undefined'],
  ['undefined in a member', { a: { b: undefined } }, '$.a.b is undefined'],
  ['undefined in a list', [1, undefined], '$[1] is undefined'],
  ['a function', { a: () => 1 }, '$.a is a function'],
  ['a symbol', { a: Symbol('a') }, '$.a is a symbol'],
  ['a big integer', { a: 1n }, '$.a is a bigint'],
  ['a number without bounds', { a: Number.NaN }, '$.a is a number that JSON cannot write'],
  ['an object of a class', { a: new Map() }, '$.a is an object of a class'],
  ['a value that contains itself', cyclic, 'or contains itself'],
  ['a getter that throws', unreadable, 'cannot be read'],
];

test.each(KINDS)('%s: whatever a value holds, the answer is a refusal that names the place', async (kind) => {
  for (const [what, value, place] of STRANGE) {
    const verdict = await validate(kind, { value } as Payload, { now });
    expect([what, verdict.allow, Object.hasOwn(CODES, verdict.code)]).toEqual([what, false, true]);
    expect(verdict.reason).toContain(place);
    expect(JSON.parse(JSON.stringify(verdict))).toEqual(verdict);
  }
});

test.each(KINDS)('%s: options that are no JSON are wrong usage, one that is undefined is none', async (kind) => {
  const given = (options: unknown) => ({ now, options: options as never });
  expect((await validate(kind, { value: {} }, given({ now: () => 1 }))).code).toBe('BAD_USAGE');
  const without = await validate(kind, { value: {} }, given({}));
  expect(await validate(kind, { value: {} }, given({ now: undefined, registry: undefined }))).toEqual(without);
});

test('a plain value is judged by its kind', async () => {
  expect((await validate('materia', { value: { satisfied: true } }, { now })).code).toBe('OK');
  expect(
    (await validate('materia', { value: Object.assign(Object.create(null), { satisfied: true }) }, { now })).code,
  ).toBe('OK');
  expect((await validate('operator/locks', { value: { locks: [] } }, { now })).code).toBe('OK');
});

test.each([
  ['no contract', '{}', undefined],
  ['half a contract', '{}', { dialect: 'materia' }],
  ['a dialect that is none', '{}', { dialect: 'nope' }],
  ['no text', undefined, {}],
  ['an object', {}, {}],
])('reading with %s is answered, not thrown', (_, raw, wanted) => {
  const reading = read(raw as string, wanted as never);
  expect(reading.ok || reading.verdict.allow === false).toBe(true);
});
