import { expect, test } from 'vitest';
import { newPen } from '../pen.ts';
import { emptyState, type State } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { decideTrust, keysUsedBy, trustKeysNeeded } from './decide.ts';
import type { Refusal } from './state.ts';

const ID = '550e8400-e29b-41d4-a716-446655440000';
const WRONG = 'b'.repeat(64);

type Judge = Extract<Parameters<typeof decideTrust>[1], { kind: 'handoff.judge' }>;
const refused = (
  stage: number,
  code: Denied['code'],
  blocks: Refusal['blocks'] = null,
): Pick<Judge, 'refusal' | 'verdict'> => {
  const verdict = deny(code, 'no', { stage });
  return { verdict, refusal: { stage, verdict, blocks } };
};
/** What the verifier says where it finds one thing only. */
const would = (code: Denied['code'], stage: number) =>
  deny(code, 'no', { stage, suggested_target: null, problems: [code] });
const handoff = (change: Partial<Judge> = {}): Judge => ({
  kind: 'handoff.judge',
  at: 1,
  by: 'user:ann',
  handoff: ID,
  source: 'product',
  target: 'analysis',
  claimed: { source: 'a'.repeat(64), target: WRONG },
  parent: null,
  verdict: allow('the handoff is accepted') as Verdict,
  refusal: null,
  otherwise: { replay: would('REPLAY', 7), source: would('QUARANTINED', 9), target: would('QUARANTINED', 9) },
  registry: null,
  envelopeDigest: 'e',
  requestDigest: 'r',
  envelope: '{}',
  ...change,
});
const USED = { used: { [`handoff:${ID}`]: 7 } };

const judged = (state: State, input: Judge) => {
  const pen = newPen(state, 1, {} as never);
  return { verdict: decideTrust(pen, input), facts: pen.facts };
};

test.each<[string, Partial<Judge>, string, boolean]>([
  ['the registry is unusable', { ...refused(1, 'REGISTRY_UNUSABLE'), ...USED }, 'REGISTRY_UNUSABLE', false],
  ['it is not JSON', { ...refused(2, 'PARSE'), handoff: null }, 'PARSE', false],
  ['the schema, under an id that was used', { ...refused(4, 'SCHEMA_MISSING'), ...USED }, 'SCHEMA_MISSING', false],
  ['it is too old', refused(6, 'TIMESTAMP_STALE'), 'TIMESTAMP_STALE', false],
  ['the id was used, and everything else is right', USED, 'REPLAY', false],
  ['the id was used, and the agent is unknown', { ...refused(8, 'AGENT_UNKNOWN'), ...USED }, 'REPLAY', false],
  ['the agent is unknown', refused(8, 'AGENT_UNKNOWN'), 'AGENT_UNKNOWN', true],
  ['the boundary', refused(13, 'BOUNDARY_NOT_ALLOWED'), 'BOUNDARY_NOT_ALLOWED', true],
  ['a claim is false', refused(16, 'ATTESTATION_NEGATIVE'), 'ATTESTATION_NEGATIVE', true],
  ['all is right', {}, 'OK', true],
])('%s', (_, change, code, usesId) => {
  const { verdict, facts } = judged(emptyState(), handoff(change));
  expect(verdict.code).toBe(code);
  expect(facts).toMatchObject([{ kind: 'handoff.judged', code, usesId, envelope: '{}' }]);
  expect(facts.flatMap(keysUsedBy)).toEqual(usesId ? [`handoff:${ID}`] : []);
});

test('a wrong hash blocks this sender’s claim only, once, and correct handoffs still pass', () => {
  const state = emptyState();
  const wrong = refused(11, 'HASH_MISMATCH', { agent: 'analysis', hash: WRONG, context: null });
  expect(judged(state, handoff(wrong)).verdict.code).toBe('HASH_MISMATCH');
  for (let time = 1; time < 1_000; time++) expect(judged(state, handoff(wrong)).verdict.code).toBe('QUARANTINED');
  expect(Object.values(state.trust.quarantine)).toMatchObject([{ key: `analysis@${WRONG}`, times: 1_000 }]);
  const right = handoff({ claimed: { source: null, target: 'c'.repeat(64) } });
  expect(judged(state, right).verdict.code).toBe('OK');
});

test('a prompt that is not the locked one blocks the agent in every role', () => {
  const state = emptyState();
  judged(state, handoff(refused(11, 'PROMPT_BYTES_MISMATCH', { agent: 'analysis', hash: null, context: null })));
  const roles: Partial<Judge>[] = [{}, { source: 'analysis', target: 'product' }];
  for (const role of roles) expect(judged(state, handoff(role)).verdict.code).toBe('QUARANTINED');
  expect(judged(state, handoff({ target: 'content' })).verdict.code).toBe('OK');
});

test('a copy is told where the first one stands', () => {
  expect(judged(emptyState(), handoff(USED)).verdict.details).toMatchObject({ prior: { seq: 7 } });
});

test('no secret of a foreign envelope is stored', () => {
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
  const { facts } = judged(emptyState(), handoff({ envelope: `{"token":"${secret}"}` }));
  expect(JSON.stringify(facts)).not.toContain(secret);
});

test('no secret of a verdict is stored, neither in its reason nor in its details', () => {
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
  for (const verdict of [deny('PARSE', `found ${secret}`), deny('PARSE', 'no', { problems: [{ message: secret }] })]) {
    const { facts } = judged(emptyState(), handoff({ verdict, refusal: { stage: 2, verdict, blocks: null } }));
    expect(facts).toMatchObject([{ kind: 'handoff.judged', code: 'PARSE' }]);
    expect(JSON.stringify(facts)).not.toContain(secret);
  }
});

test('a copy of a handoff that was at fault blocks nothing a second time', () => {
  const state = emptyState();
  const wrong = refused(11, 'HASH_MISMATCH', { agent: 'analysis', hash: WRONG, context: null });
  expect(judged(state, handoff({ ...wrong, ...USED })).verdict.code).toBe('REPLAY');
  expect(state.trust.quarantine).toEqual({});
});

test('of a blocked agent, what is refused before its block is looked at keeps its code', () => {
  const state = emptyState();
  judged(state, handoff(refused(11, 'PROMPT_BYTES_MISMATCH', { agent: 'analysis', hash: null, context: null })));
  expect(judged(state, handoff(refused(8, 'AGENT_UNKNOWN'))).verdict.code).toBe('AGENT_UNKNOWN');
  expect(judged(state, handoff(refused(10, 'VERSION_MISMATCH'))).verdict.code).toBe('QUARANTINED');
});

test('ids are the same in any case', () => {
  expect(trustKeysNeeded(handoff({ handoff: ID.toUpperCase() }))).toEqual(trustKeysNeeded(handoff()));
});

test('a copy and a blocked agent are answered as the verifier answers them, whatever else is wrong', () => {
  const wrong = deny('BOUNDARY_NOT_ALLOWED', 'no', { stage: 13, suggested_target: { agent_id: 'x' }, pattern: 1 });
  const misdirected = { verdict: wrong, refusal: { stage: 13, verdict: wrong, blocks: null } };
  const copy = judged(emptyState(), handoff({ ...misdirected, ...USED })).verdict;
  expect(copy.details).toEqual({ stage: 7, suggested_target: null, problems: ['REPLAY'], prior: { seq: 7 } });
  const state = emptyState();
  judged(state, handoff(refused(11, 'PROMPT_BYTES_MISMATCH', { agent: 'analysis', hash: null, context: null })));
  const { details } = judged(state, handoff(misdirected)).verdict;
  expect(details).toMatchObject({ stage: 9, suggested_target: null, problems: ['QUARANTINED'], key: 'analysis' });
  expect(details).not.toHaveProperty('pattern');
});

const CONTENT = { contentDigest: 'c'.repeat(64) };
const SENT_BEFORE = { ...CONTENT, used: { [`content:${CONTENT.contentDigest}`]: 5 } };
const CONTENT_KEY = `content:${CONTENT.contentDigest}`;

test.each<[string, Partial<Judge>, string, readonly string[], readonly string[]]>([
  [
    'a copy that was accepted as another one too',
    { ...SENT_BEFORE, used: { ...SENT_BEFORE.used, ...USED.used } },
    'REPLAY',
    [],
    [],
  ],
  [
    'refused, with content that was accepted before',
    { ...refused(8, 'AGENT_UNKNOWN'), ...SENT_BEFORE },
    'AGENT_UNKNOWN',
    [],
    [`handoff:${ID}`],
  ],
  [
    'refused, with content that nobody sent before',
    { ...refused(8, 'AGENT_UNKNOWN'), ...CONTENT },
    'AGENT_UNKNOWN',
    [],
    [`handoff:${ID}`],
  ],
  ['accepted, with content that was accepted before', SENT_BEFORE, 'OK', ['DUPLICATE_CONTENT'], [`handoff:${ID}`]],
  ['accepted, with content that nobody sent before', CONTENT, 'OK', [], [`handoff:${ID}`, CONTENT_KEY]],
  ['accepted, with no content that could be told', { contentDigest: null }, 'OK', [], [`handoff:${ID}`]],
])('%s', (_, change, code, remarks, keys) => {
  const { verdict, facts } = judged(emptyState(), handoff(change));
  const { warnings = [], duplicate_of = null } = verdict.details;
  expect([verdict.code, (warnings as { code: string }[]).map((remark) => remark.code)]).toEqual([code, remarks]);
  expect(duplicate_of).toEqual(remarks.length > 0 ? { seq: 5 } : null);
  expect(facts.flatMap(keysUsedBy)).toEqual(keys);
});

test('the remark about content comes after what the verifier noticed', () => {
  const noticed = { code: 'PARENT_UNCHECKED', pointer: '/links', message: 'x' };
  const { verdict } = judged(emptyState(), handoff({ ...SENT_BEFORE, verdict: allow('ok', { warnings: [noticed] }) }));
  expect(verdict.details.warnings).toMatchObject([noticed, { code: 'DUPLICATE_CONTENT' }]);
});

test('a registry that is not in force is kept word for word with the verdict; the one in force has a fact of its own', () => {
  const registry = { digest: 'd', lock: 'l', version: '1.0.0', agents: {} };
  const registryTexts = { manifest: '{}', lock: '{}' };
  const state = emptyState();
  expect(judged(state, handoff({ registry, registryTexts })).facts).toMatchObject([{ registryTexts }]);
  state.trust.registry = registry;
  expect(judged(state, handoff({ registry, registryTexts })).facts[0]).not.toHaveProperty('registryTexts');
});

test('a registry is noted once, and again when its lock alone is another one', () => {
  const pen = newPen(emptyState(), 1, {} as never);
  const load = (digest: string, lock: string) => {
    const registry = { digest, lock, version: '1.0.0', agents: {} };
    decideTrust(pen, { kind: 'registry.load', registry, at: 1, by: 'user:ann' });
    return pen.facts.length;
  };
  expect([load('d', 'l'), load('d', 'l'), load('d', 'm'), load('e', 'm')]).toEqual([1, 1, 2, 3]);
});

test('manifest and lock are kept word for word with the fact that a registry is in force', () => {
  const registry = { digest: 'd', lock: 'l', version: '1.0.0', agents: {} };
  const pen = newPen(emptyState(), 1, {} as never);
  const texts = { manifest: '{"version":"1.0.0"}', lock: '{}' };
  decideTrust(pen, { kind: 'registry.load', registry, texts, at: 1, by: 'user:ann' });
  expect(pen.facts).toEqual([{ kind: 'registry.loaded', registry, texts }]);
});
