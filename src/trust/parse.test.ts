import { expect, test } from 'vitest';
import type { Json } from '../kernel/json.ts';
import { envelope, put } from './fixtures/world.ts';
import { parseEnvelope } from './parse.ts';

const codes = (input: unknown) => {
  const parsed = parseEnvelope(input);
  return parsed.ok ? [] : [...new Set(parsed.problems.map(({ code }) => code))];
};

function nested(levels: number): Json {
  let value: Json = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

const withInput = (data: Json) => put(envelope(), '/context/request/input_data', data);
const text = JSON.stringify(envelope());
const cyclic: Record<string, unknown> = { name: 'me' };
cyclic.self = cyclic;

test.each<[string, unknown, string[]]>([
  ['a text over 1 MiB', `${text}${' '.repeat(1_048_576)}`, ['LIMIT_EXCEEDED']],
  ['text nested without end', '['.repeat(500_000), ['LIMIT_EXCEEDED']],
  ['an empty text', '', ['PARSE']],
  ['prose', 'please hand this on', ['PARSE']],
  ['text after the object', `${text} {}`, ['PARSE']],
  ['a member twice', text.replace('"protocol_version"', '"target_agent":{},"protocol_version"'), ['PARSE']],
  ['a member twice, hidden by a number that grows', '{"n":1e8,"a":1,"a":1}', ['PARSE']],
  ['a member twice in a text with spaces', '{"a": 1, "a": 1}', ['PARSE']],
  ['a number beyond all bounds', '{"a":1e999}', ['PARSE']],
  ['half a character', '{"a":"\\ud800"}', ['PARSE']],
  ['half a character as it is', '{"a":"\ud800"}', ['PARSE']],
  ['half a character in a name', '{"\\udc00":1}', ['PARSE']],
  ['no text at all', undefined, ['PARSE']],
  ['a function inside', { a: () => 1 }, ['PARSE']],
  ['NaN', { a: Number.NaN }, ['PARSE']],
  ['a value that contains itself', cyclic, ['LIMIT_EXCEEDED']],
  ['33 levels', nested(33), ['LIMIT_EXCEEDED']],
  ['33 levels in a text', JSON.stringify(nested(33)), ['LIMIT_EXCEEDED']],
  ['32 levels', nested(32), []],
  ['32 levels in a text', JSON.stringify(nested(32)), []],
  ['10,001 items in a text', JSON.stringify(Array(10_001).fill(1)), ['LIMIT_EXCEEDED']],
  ['10,001 items', withInput({ list: Array(10_001).fill(1) }), ['LIMIT_EXCEEDED']],
  ['10,000 items', withInput({ list: Array(10_000).fill(1) }), []],
  ['a text of over 256 KiB', withInput('é'.repeat(131_073)), ['LIMIT_EXCEEDED']],
  ['a text of 256 KiB', withInput('é'.repeat(131_072)), []],
  ['a value of over 1 MiB', withInput({ list: Array(9).fill('x'.repeat(130_000)) }), ['LIMIT_EXCEEDED']],
  [
    '1,001 history items',
    put(envelope(), '/context/state/conversation_history', Array(1_001).fill({})),
    ['LIMIT_EXCEEDED'],
  ],
  [
    '1,001 history items in a text',
    `{"context":{"state":{"conversation_history":[${'0,'.repeat(1_000)}0]}}}`,
    ['LIMIT_EXCEEDED'],
  ],
  ['1,000 history items', put(envelope(), '/context/state/conversation_history', Array(1_000).fill({})), []],
  ['an envelope', envelope(), []],
  ['the text of an envelope', text, []],
  ['a byte order mark before it', `\uFEFF${text}`, []],
])('%s: %j', (_name, input, expected) => {
  expect(codes(input)).toEqual(expected);
});

test('a search that finds much stops early', () => {
  const parsed = parseEnvelope({ list: Array(9_000).fill(Number.NaN) });
  expect(parsed.ok ? 0 : parsed.problems.length).toBe(50);
});

test('a member that reaches for a prototype arrives as an ordinary member', () => {
  const parsed = parseEnvelope('\uFEFF{"a":{"__proto__":{"polluted":true}}}');
  expect(parsed.ok && JSON.stringify(parsed.value)).toBe('{"a":{"__proto__":{"polluted":true}}}');
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
