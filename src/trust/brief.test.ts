import { expect, test } from 'vitest';
import type { Json } from '../kernel/json.ts';
import { EXAMPLE, governed, governedRead, governedRepair } from './dialect.ts';
import { checkSchema } from './envelope.ts';
import { envelope, put, verify } from './fixtures/world.ts';

const contract = { dialect: 'text', generator: false, utility: false, requires: [], assign: {}, schema: null } as const;

test('the brief shows an example that keeps the contract and reads back', () => {
  const text = governed.brief(contract);
  const reading = governedRead(text.slice(text.indexOf('\n{')));
  expect(reading).toEqual({ ok: true, handoff: { outcome: 'done', satisfied: null, payload: EXAMPLE } });
  expect(checkSchema(EXAMPLE as unknown as Json)).toEqual({ problems: [], unknown: [] });
});

const text = JSON.stringify(envelope());

test.each<[string, string | null, string]>([
  ['the envelope alone', null, text],
  ['in a fenced block', null, `Here it is:\n\`\`\`json\n${text}\n\`\`\`\nDone.`],
  ['no envelope', 'PARSE', 'I could not do it.'],
  ['nothing', 'PARSE', ''],
  ['a list', 'PARSE', '[]'],
  ['a member twice', 'PARSE', text.replace('"timestamp"', '"handoff_id":"x","timestamp"')],
  ['too much', 'LIMIT_EXCEEDED', `${text}${' '.repeat(2_000_000)}`],
  ['too deep', 'LIMIT_EXCEEDED', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`],
  ['another shape', 'SCHEMA_MISSING', '{}'],
  ['a name that reaches for a prototype', 'INJECTION_KEY', '{"__proto__":{}}'],
])('reading %s: %s', (_name, code, raw) => {
  const reading = governed.read(raw, contract);
  expect(reading.ok ? null : reading.verdict.code).toBe(code);
  if (!reading.ok) expect(reading.verdict.details).toHaveProperty('problems[0].code', code);
});

test('a repair names every problem, the way out and the format, and repeats nothing of the raw text', () => {
  const refused = verify(put(put(envelope(), '/timestamp'), '/context/request/type', 'chat'));
  if (refused.allow) throw new Error('a broken envelope was accepted');
  const message = governed.repair(refused, 'RAW OUTPUT', contract);
  for (const part of [
    'SCHEMA_MISSING at /timestamp',
    'SCHEMA_ENUM at /context/request/type',
    'fix_field',
    'An example:',
  ]) {
    expect(message).toContain(part);
  }
  expect(message).not.toContain('RAW OUTPUT');
});

test('a repair of a refusal without details still tells the format', () => {
  const message = governedRepair({ allow: false, code: 'INTERNAL', reason: 'a fault', details: {} });
  expect(message).toContain('a fault');
  expect(message).toContain('An example:');
});
