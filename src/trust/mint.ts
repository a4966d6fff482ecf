// Envelopes for the edges of a running cast: filled in from the registry, so that only the request and its state come
// from outside. Id and time are given; the verifier judges the result like any other.

import { quote } from '../kernel/trust/problem.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import type { Registry } from './agent.ts';
import type { AgentRef, Envelope, HandoffRequest, HandoffState } from './envelope.ts';
import { PROTOCOL_VERSION } from './schema.ts';

export type Minting = {
  readonly handoffId: string;
  readonly timestamp: string;
  readonly source: string;
  readonly target: string;
  readonly request: HandoffRequest;
  readonly state?: HandoffState;
  readonly auditTrail: string;
  readonly links?: NonNullable<Envelope['links']>;
};

const NO_STATE: HandoffState = { conversation_history: [], accumulated_context: {}, decisions_made: [] };

export function mintEnvelope(registry: Registry, minting: Minting): { readonly envelope: Envelope } | Denied {
  if (!registry.usable) return deny('REGISTRY_UNUSABLE', 'the registry cannot be used');
  const source = refTo(registry, minting.source);
  if ('code' in source) return source;
  const target = refTo(registry, minting.target);
  if ('code' in target) return target;
  const envelope: Envelope = {
    handoff_id: minting.handoffId,
    timestamp: minting.timestamp,
    protocol_version: PROTOCOL_VERSION,
    source_agent: source,
    target_agent: target,
    context: { request: minting.request, state: minting.state ?? NO_STATE },
    governance: {
      source_agent_verified: true,
      target_agent_verified: true,
      composition_valid: true,
      boundaries_respected: true,
      audit_trail: minting.auditTrail,
    },
    ...(minting.links && { links: minting.links }),
  };
  return { envelope };
}

/** An agent as envelopes name it: all four parts as the registry has them. */
export function refTo(registry: Registry, id: string): AgentRef | Denied {
  const agent = registry.agents.get(id);
  if (!agent) return deny('AGENT_UNKNOWN', `the manifest has no agent with the canonical id ${quote(id)}`);
  if (agent.lockedHash === null) return deny('LOCK_ENTRY_MISSING', `the lock has no usable hash for ${agent.id}`);
  return { agent_type: agent.type, agent_id: agent.id, agent_version: agent.version, prompt_hash: agent.lockedHash };
}
