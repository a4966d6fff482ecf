// The contracts as a library: what a program hands over may hold anything, and the answer is a verdict all the same.
import { expect, test } from 'vitest';
import { brief, CODES, contract, KINDS, type Payload, read, repair, validate } from './contracts.ts';
import { deny } from './kernel/verdict.ts';

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

test.each(KINDS)(
  '%s: bytes that are no text are refused as what is no JSON, and not read as something else',
  async (kind) => {
    const bytes = Buffer.from('{"satisfied":true,"context":"\u0001"}').map((byte) => (byte === 1 ? 0xff : byte));
    const registry = 'src/trust/fixtures/registry';
    const verdict = await validate(kind, { text: Buffer.from(bytes).toString('utf8'), bytes }, { now, registry });
    const code = kind.startsWith('operator/') ? 'SCHEMA_INVALID' : kind.startsWith('governed/') ? 'PARSE' : 'NOT_JSON';
    expect([verdict.code, verdict.reason]).toEqual([code, expect.stringContaining('not UTF-8')]);
  },
);

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

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'the payload must be'],
  ['a text that is not wrapped', '{}', 'the payload must be'],
  ['neither text nor value', {}, 'the payload must be'],
  ['a text that is none', { text: 5 }, 'text must be a string'],
  ['bytes that are none', { text: '', bytes: 5 }, 'bytes must be bytes'],
  ['a written text that is none', { value: {}, written: 5 }, 'written must be the text'],
])('a payload that is %s is wrong usage', async (_, payload, words) => {
  for (const kind of KINDS) {
    const { code, reason } = await validate(kind, payload as Payload, { now });
    expect([code, reason]).toEqual(['BAD_USAGE', expect.stringContaining(words)]);
  }
});

test('what is known beside the payload may be left out, and must be an object', async () => {
  expect((await validate('materia', { text: '{}' })).code).toBe('OK');
  expect((await validate('governed/handoff', { text: '{}' })).code).toBe('BAD_USAGE');
  for (const given of [null, 5, { options: 'x' }]) {
    expect((await validate('materia', { text: '{}' }, given as never)).code).toBe('BAD_USAGE');
  }
});

test.each([{ option: { requires: ['satisfied'] } }, { Strict: true }, { registry: null, require: [] }])(
  'what is known beside the payload is called by its name: %j',
  async (given) => {
    expect((await validate('materia', { text: '{}' }, given as never)).code).toBe('BAD_USAGE');
  },
);

test('every code that an answer may have is in the table, the one that allows too', async () => {
  const { code } = await validate('materia', { text: '{}' });
  expect([code, Object.hasOwn(CODES, code), CODES.OK.http]).toEqual(['OK', true, 200]);
});

test.each<[string, object]>([
  ['materia', { require: ['satisfied'] }],
  ['materia', { strict: 'true' }],
  ['gaia', { now: 5 }],
  ['materia', { task_agent_id: 'a00000' }],
  ['materia', { requires: 'satisfied' }],
  ['gaia', { injectedContext: {} }],
  ['gaia/merge', { writable_sections: [] }],
  ['gaia/transition', { reports: [] }],
  ['operator/locks', { Strict: true }],
  ['operator/locks', { strict: 'true' }],
  ['governed/handoff', { seen: [] }],
])('%s: an option %j that is misspelt or of another type is wrong usage', async (kind, options) => {
  const verdict = await validate(kind, { value: {} }, { now, options: options as never });
  expect(verdict.code).toBe('BAD_USAGE');
});

test.each<[string, string]>([
  ['operator/locks', '{"locks":[{"task_id":"T-1","resource":"a","active":true}],"locks":[]}'],
  ['gaia/merge', '{"entries":[{"contract":"a","payload":{}}],"entries":[]}'],
  ['gaia/transition', '{"reports":["COMPLETE","COMPLETE"],"reports":["COMPLETE"]}'],
  ['materia', '{"satisfied":false,"satisfied":true}'],
])('%s: a key that stands twice is refused in a parsed value as in its text', async (kind, written) => {
  const value = JSON.parse(written) as never;
  const asText = await validate(kind, { text: written }, { now });
  expect([asText.allow, asText.reason]).toEqual([false, expect.stringContaining('written twice')]);
  expect(await validate(kind, { value, written }, { now })).toEqual(asText);
  expect((await validate(kind, { value }, { now })).allow).toBe(true);
});

test.each<[string, unknown, unknown, string]>([
  ['no contract', '{}', undefined, 'OK'],
  ['null for a contract', '{}', null, 'OK'],
  ['half a contract', '{}', { dialect: 'materia' }, 'OK'],
  ['parts that are undefined', '{}', { schema: undefined, assign: undefined, turn: undefined }, 'OK'],
  ['a contract that is none', '{}', 'materia', 'BAD_USAGE'],
  ['a dialect that is none', '{}', { dialect: 'nope' }, 'BAD_USAGE'],
  ['a dialect that is no word', '{}', { dialect: Symbol('x') }, 'BAD_USAGE'],
  ['a generator that is no boolean', '{}', { generator: 1 }, 'BAD_USAGE'],
  ['requirements that are no list', '{}', { requires: 'satisfied' }, 'BAD_USAGE'],
  ['assignments that are null', '{}', { assign: null }, 'BAD_USAGE'],
  ['an assignment that is no path', '{}', { assign: { a: 5 } }, 'BAD_USAGE'],
  ['a schema that is text', '{}', { schema: 'x' }, 'BAD_USAGE'],
  ['a schema that is true', '{}', { schema: true }, 'BAD_USAGE'],
  ['a schema that holds itself', '{}', { schema: cyclic }, 'BAD_USAGE'],
  ['a schema that cannot be read', '{}', { schema: unreadable }, 'BAD_USAGE'],
  ['a contract that cannot be read', '{}', unreadable, 'BAD_USAGE'],
  ['a part that is misspelt', '{}', { require: ['satisfied'] }, 'BAD_USAGE'],
  ['a misspelt part that is undefined', '{}', { require: undefined }, 'OK'],
  ['a limit', '{}', { maxBytes: 10 }, 'OK'],
  ['a limit that is no number', '{}', { maxBytes: '10' }, 'BAD_USAGE'],
  ['a turn with a part that is misspelt', '{}', { turn: { agent: 'a', input: null } }, 'BAD_USAGE'],
  ['a turn that is none', '{}', { turn: 5 }, 'BAD_USAGE'],
  ['an agent that is no name', '{}', { turn: { agentId: 5, input: null } }, 'BAD_USAGE'],
  ['an input that is text', '{}', { turn: { agentId: null, input: 'x' } }, 'BAD_USAGE'],
  ['no text', undefined, {}, 'BAD_USAGE'],
  ['an object for a text', {}, {}, 'BAD_USAGE'],
])('reading with %s is answered, not thrown', (_, raw, wanted, code) => {
  const reading = read(raw as string, wanted as never);
  expect(reading.ok ? 'OK' : reading.verdict.code).toBe(code);
});

test.each(['materia', 'gaia', 'operator', 'text', 'governed'] as const)(
  '%s: brief and repair fill in what a contract leaves out',
  (dialect) => {
    const refusal = deny('NOT_JSON', 'no');
    expect(brief({ dialect })).toBe(brief(contract({ dialect })));
    expect(repair(refusal, 'x', { dialect })).toBe(repair(refusal, 'x', contract({ dialect })));
    const reading = read('x', { dialect });
    expect(reading.ok).toBe(dialect === 'text');
  },
);

test('brief and repair say what is wrong with a contract that is none', () => {
  expect(() => brief({ dialect: 'nope' as never })).toThrow('there is no dialect nope; there are: ');
  expect(() => repair(deny('NOT_JSON', 'no'), '', { schema: 'x' as never })).toThrow('schema must be a JSON Schema');
});
