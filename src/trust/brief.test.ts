import { expect, test } from 'vitest';
import type { Json } from '../kernel/json.ts';
import { EXAMPLE, governedBrief, governedRead, governedRepair, mintEnvelope, refTo } from './dialect.ts';
import { checkSchema } from './envelope.ts';
import { CLEAN, envelope, ID, put, verify } from './fixtures/world.ts';
import { governed } from './index.ts';

const contract = { dialect: 'text', generator: false, utility: false, requires: [], assign: {}, schema: null } as const;

test('the brief shows an example that keeps the contract and reads back', () => {
  const text = governed.brief(contract);
  const reading = governedRead(text.slice(text.indexOf('\n{')));
  expect(reading).toEqual({ ok: true, handoff: { outcome: 'done', satisfied: null, payload: EXAMPLE } });
  expect(checkSchema(EXAMPLE as unknown as Json)).toEqual({ problems: [], unknown: [] });
});

test('the brief gives the sender what it must copy', () => {
  const source = refTo(CLEAN, 'domain-05-product');
  const target = refTo(CLEAN, 'domain-02-analysis');
  if ('code' in source || 'code' in target) throw new Error('the agents are not known');
  const text = governedBrief(contract, { source, targets: [target], handoffId: ID, timestamp: '2026-02-11T00:45:02Z' });
  for (const value of [source.prompt_hash, target.prompt_hash, ID, '2026-02-11T00:45:02Z'])
    expect(text).toContain(value);
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
  const message = governedRepair(refused, 'RAW OUTPUT', contract);
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
  const message = governedRepair({ allow: false, code: 'INTERNAL', reason: 'a fault', details: {} }, '', contract);
  expect(message).toContain('a fault');
  expect(message).toContain('An example:');
});

const minting = {
  handoffId: ID,
  timestamp: '2026-02-11T00:45:02Z',
  source: 'domain-05-product',
  target: 'domain-02-analysis',
  request: EXAMPLE.context.request,
  auditTrail: 'cast-1',
};

test('a minted envelope is accepted', () => {
  const minted = mintEnvelope(CLEAN, { ...minting, links: { correlation_id: 'cast-1' } });
  expect('envelope' in minted && verify(minted.envelope)).toMatchObject({ allow: true, details: { handoff_id: ID } });
});

test.each([
  ['source', 'nobody', 'AGENT_UNKNOWN'],
  ['target', 'constructor', 'AGENT_UNKNOWN'],
])('an envelope whose %s is %s is not minted', (end, id, code) => {
  expect(mintEnvelope(CLEAN, { ...minting, [end]: id })).toMatchObject({ allow: false, code });
});
