import { expect, test } from 'vitest';
import type { AgentMateria, Materia } from '../graph/config.ts';
import { quarantined, refusedByTrust } from '../trust/quarantine.ts';
import {
  type Attestation,
  keyOfBlocked,
  type LoadedRegistry,
  noTrust,
  type Refusal,
  type Sighting,
  type Trust,
} from '../trust/state.ts';
import { deny } from '../verdict.ts';

const HASH = 'a'.repeat(64);
const REGISTRY: LoadedRegistry = {
  digest: 'r1',
  lock: 'l1',
  version: '1.0.0',
  agents: { build: { version: '1.0.0', hash: HASH } },
};

const agent = (identity: string | null = 'build'): AgentMateria => ({
  type: 'agent',
  id: 'Build',
  label: 'Build',
  generator: false,
  multiTurn: false,
  prompt: 'Build it.',
  tools: 'none',
  runner: 'claude',
  model: null,
  thinking: null,
  identity,
  onCrash: 'rerun',
  lockScope: null,
});
const utility = { type: 'utility', id: 'Tidy' } as unknown as Materia;

const attestation: Attestation = {
  agent: 'build',
  type: 'domain',
  version: '1.0.0',
  promptHash: HASH,
  registry: 'r1',
  lockHash: 'l1',
  composition: null,
  runner: 'claude',
  model: null,
  tools: 'none',
  pinned: false,
  drift: [],
};
const sighting = (change: Partial<Sighting> = {}): Sighting => ({
  origin: 'workspace',
  registry: REGISTRY,
  attestation,
  envelope: null,
  refusal: null,
  ...change,
});
const refusal = (stage: number, code: Parameters<typeof deny>[0]): Refusal => ({
  stage,
  verdict: deny(code, 'no'),
  blocks: null,
});

/** Trust with a registry, and with these blocked. */
function on(...blocked: readonly { agent: string; hash?: string }[]): Trust {
  const trust: Trust = { ...noTrust(), registry: REGISTRY };
  for (const { agent: id, hash = null } of blocked) {
    const blocks = { agent: id, hash, context: null };
    const key = keyOfBlocked(blocks);
    const cause = { code: 'PROMPT_BYTES_MISMATCH', reason: 'it changed', pin: null, since: 0, times: 1 } as const;
    trust.quarantine[key] = { key, ...blocks, ...cause };
  }
  return trust;
}

test.each<[string, Trust, Materia, Sighting | undefined, string | null, string]>([
  ['a utility is nobody’s agent', on(), utility, undefined, null, 'OK'],
  ['an agent without identity where there never was a registry', noTrust(), agent(null), undefined, null, 'OK'],
  ['nobody looked, and there never was a registry', noTrust(), agent(), undefined, null, 'OK'],
  [
    'it has an identity, and there is no registry and never was',
    noTrust(),
    agent(),
    sighting({ origin: 'none', attestation: null }),
    null,
    'REGISTRY_UNUSABLE',
  ],
  ['a person speaks for himself', on(), { ...agent(null), runner: 'person' }, undefined, null, 'OK'],
  ['nobody looked, and there was a registry', on(), agent(), undefined, null, 'REGISTRY_UNUSABLE'],
  ['no identity, nobody looked, and there was a registry', on(), agent(null), undefined, null, 'REGISTRY_UNUSABLE'],
  ['the registry is gone', on(), agent(), sighting({ origin: 'none', attestation: null }), null, 'REGISTRY_UNUSABLE'],
  ['another registry stands in', on(), agent(), sighting({ origin: 'bundled' }), null, 'REGISTRY_UNUSABLE'],
  [
    'the registry is unreadable',
    on({ agent: 'build' }),
    agent(),
    sighting({ refusal: refusal(1, 'REGISTRY_UNUSABLE') }),
    null,
    'REGISTRY_UNUSABLE',
  ],
  [
    'unknown comes before blocked',
    on({ agent: 'build' }),
    agent(),
    sighting({ refusal: refusal(8, 'AGENT_UNKNOWN') }),
    null,
    'AGENT_UNKNOWN',
  ],
  [
    'blocked comes before the version',
    on({ agent: 'build' }),
    agent(),
    sighting({ refusal: refusal(10, 'VERSION_MISMATCH') }),
    null,
    'QUARANTINED',
  ],
  [
    'blocked comes before the hash',
    on({ agent: 'build' }),
    agent(),
    sighting({ refusal: refusal(11, 'PROMPT_BYTES_MISMATCH') }),
    null,
    'QUARANTINED',
  ],
  ['blocked, though everything is in order again', on({ agent: 'build' }), agent(), sighting(), null, 'QUARANTINED'],
  ['blocked with this prompt', on({ agent: 'build', hash: HASH }), agent(), sighting(), null, 'QUARANTINED'],
  ['blocked with another prompt only', on({ agent: 'build', hash: 'b'.repeat(64) }), agent(), sighting(), null, 'OK'],
  ['whoever hands to it is blocked', on({ agent: 'plan' }), agent(), sighting(), 'plan', 'QUARANTINED'],
  ['somebody else is blocked', on({ agent: 'eval' }), agent(), sighting(), 'plan', 'OK'],
  ['the hash', on(), agent(), sighting({ refusal: refusal(11, 'HASH_MISMATCH') }), null, 'HASH_MISMATCH'],
  ['the composition', on(), agent(), sighting({ refusal: refusal(12, 'COMPOSITION_SUM') }), null, 'COMPOSITION_SUM'],
  [
    'the boundary',
    on(),
    agent(),
    sighting({ refusal: refusal(13, 'BOUNDARY_NOT_ALLOWED') }),
    'plan',
    'BOUNDARY_NOT_ALLOWED',
  ],
  ['the context', on(), agent(), sighting({ refusal: refusal(15, 'INJECTION_TOKEN') }), 'plan', 'INJECTION_TOKEN'],
  ['nothing was established', on(), agent(), sighting({ attestation: null }), null, 'REGISTRY_UNUSABLE'],
  ['everything is in order', on(), agent(), sighting(), 'plan', 'OK'],
  ['the first registry of a workspace', noTrust(), agent(), sighting(), null, 'OK'],
  ['what came with the product', noTrust(), agent(), sighting({ origin: 'bundled' }), null, 'OK'],
])('%s', (_, trust, materia, seen, source, code) => {
  expect(refusedByTrust(trust, {}, materia, source, seen)?.verdict.code ?? 'OK').toBe(code);
});

test('a name that every object has is no quarantine', () => {
  expect(refusedByTrust(on(), {}, agent('constructor'), 'toString', sighting())).toBeNull();
});

test('who is blocked is told how a person lets it go', () => {
  const found = refusedByTrust(on({ agent: 'build' }), {}, agent(), null, sighting());
  expect(found?.verdict.reason).toContain('baton registry release build --reason');
  expect(found?.verdict.details).toMatchObject({ key: 'build', cause: 'PROMPT_BYTES_MISMATCH', security_flag: true });
});

test('a refusal names the check, and an agent without a registry its identity', () => {
  const none = sighting({ origin: 'none', attestation: null });
  expect(refusedByTrust(noTrust(), {}, agent(), null, none)?.verdict).toMatchObject({
    reason: expect.stringContaining('has the identity build, and there is no registry'),
    details: { stage: 1, identity: 'build' },
  });
  expect(refusedByTrust(on(), {}, agent(), null, none)?.verdict).toMatchObject({
    reason: expect.stringContaining('this workspace has a registry'),
    details: { stage: 1 },
  });
});

test('an agent that is blocked and refused keeps what the refusal would block', () => {
  const blocks = { agent: 'build', hash: HASH, context: null };
  const seen = sighting({ refusal: { ...refusal(11, 'PROMPT_BYTES_MISMATCH'), blocks } });
  expect(refusedByTrust(on({ agent: 'build' }), {}, agent(), null, seen)?.blocks).toBe(blocks);
});

test('an agent without an identity is not blocked by what blocks others', () => {
  expect(refusedByTrust(on({ agent: 'build' }), {}, agent(null), null, sighting())).toBeNull();
});

test('a blocked context has no agent to name', () => {
  const blocks = { agent: null, hash: null, context: 'c'.repeat(64) };
  const cause = { code: 'INJECTION_TOKEN', reason: 'it gives orders', pin: null, since: 0, times: 1 } as const;
  const verdict = quarantined({ key: keyOfBlocked(blocks), ...blocks, ...cause });
  expect(verdict.reason).toMatch(/^this context is blocked \(INJECTION_TOKEN: it gives orders\)/);
});
