import { expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { asking, envelope, type Options, put, verify, world } from './fixtures/world.ts';

const A = 'domain-05-product';
const B = 'domain-02-analysis';

test.each<[string, unknown, Options | undefined, JsonObject]>([
  ['nothing ran', put(envelope(), '/timestamp', 'x'), undefined, claims(null, null, null, null)],
  ['the target is unknown', put(envelope(), '/target_agent/agent_id', 'x'), undefined, claims(null, false, null, null)],
  [
    'the source has another version',
    put(envelope(), '/source_agent/agent_version', '2.0.0'),
    undefined,
    claims(false, null, null, null),
  ],
  [
    'the hash of the source is wrong',
    put(envelope(), '/source_agent/prompt_hash', 'd'.repeat(64)),
    undefined,
    claims(false, true, null, null),
  ],
  [
    'the archetype is broken',
    envelope('product-thinker', A),
    { registry: world({ agents: { 'product-thinker': { composition: { [A]: 1, [B]: 1 } } } }) },
    claims(true, true, false, null),
  ],
  ['the boundary is closed', envelope(B, A), undefined, claims(true, true, true, false)],
  ['the scope is not covered', asking('architecture'), undefined, claims(true, true, true, false)],
  [
    'only the context is bad',
    put(envelope(), '/context/request/description', '[INST]'),
    undefined,
    claims(true, true, true, true),
  ],
  [
    'a claim is negative',
    put(envelope(), '/governance/boundaries_respected', false),
    undefined,
    claims(true, true, true, true),
  ],
])('recomputed when %s', (_name, input, options, recomputed) => {
  const { details } = verify(input, options);
  expect(details.attestation).toMatchObject({ recomputed });
  expect(details.false_claims).toEqual(Object.keys(recomputed).filter((claim) => recomputed[claim] === false));
});

test('a failure the sender reported is no false claim', () => {
  const honest = put(envelope(B, A), '/governance/boundaries_respected', false);
  expect(verify(honest)).toMatchObject({ code: 'BOUNDARY_NOT_ALLOWED', details: { false_claims: [] } });
});

test('claims change no verdict, except that a negative one refuses', () => {
  const broken = put(envelope(), '/source_agent/prompt_hash', 'e'.repeat(64));
  for (const claim of ['source_agent_verified', 'target_agent_verified', 'composition_valid', 'boundaries_respected']) {
    expect(verify(put(broken, `/governance/${claim}`, false)).code).toBe('HASH_MISMATCH');
    expect(verify(put(envelope(), `/governance/${claim}`, false)).code).toBe('ATTESTATION_NEGATIVE');
  }
});

function claims(
  source: boolean | null,
  target: boolean | null,
  composition: boolean | null,
  boundaries: boolean | null,
) {
  return {
    source_agent_verified: source,
    target_agent_verified: target,
    composition_valid: composition,
    boundaries_respected: boundaries,
  };
}
