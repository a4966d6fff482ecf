// The chain a handoff belongs to: the handoff it follows, how long the chain is, whether it goes round in circles, and
// who began it. What was handed before is looked up by the caller; nothing here believes the envelope about it.

import { denies } from './collaboration.ts';
import type { Envelope } from './envelope.ts';
import type { Policy } from './policy.ts';
import type { Problem } from './problem.ts';
import type { Agent, Registry } from './registry.ts';

/** A handoff decided earlier. */
export type PastHandoff = {
  readonly accepted: boolean;
  readonly source: string;
  readonly target: string;
  readonly requestDigest: string;
  readonly parent: string | null;
};
/** Finds an earlier handoff by its id in lower case. */
export type LookupParent = (handoffId: string) => PastHandoff | null;

export const HOPS_MAX = 16;
const AT_PARENT = '/links/parent_handoff_id';

export type Lineage = {
  /** From the parent back to the first handoff of the chain, at most as many as a chain may have. */
  readonly ancestors: readonly PastHandoff[];
};

export function lineageOf(envelope: Envelope, lookup: LookupParent): Lineage {
  const ancestors: PastHandoff[] = [];
  let id = envelope.links?.parent_handoff_id ?? null;
  while (id !== null && ancestors.length < HOPS_MAX) {
    const past = lookup(id.toLowerCase());
    if (!past) break;
    ancestors.push(past);
    id = past.parent;
  }
  return { ancestors };
}

export function checkParent(
  envelope: Envelope,
  source: Agent,
  lineage: Lineage,
  policy: Pick<Policy, 'requireParent'>,
): Problem[] {
  const { links } = envelope;
  if (links?.parent_handoff_id === undefined) {
    const begins = links?.root_handoff_id?.toLowerCase() === envelope.handoff_id.toLowerCase();
    if (!policy.requireParent || source.type !== 'orchestrator' || begins) return [];
    return [refusal('an orchestrator must name the handoff it mediates')];
  }
  const [parent] = lineage.ancestors;
  if (!parent) return [refusal('the parent handoff is not known')];
  if (!parent.accepted) return [refusal('the parent handoff was rejected')];
  if (parent.target !== source.id) return [refusal('the parent handoff went to another agent than this source')];
  return [];
}

/** The agent that began the chain an orchestrator mediates. What it denies stays denied: mediation launders nothing. */
export function originatorOf(source: Agent, lineage: Lineage, registry: Registry): Agent | null {
  const origin = source.type === 'orchestrator' ? lineage.ancestors.at(-1)?.source : undefined;
  return (origin !== undefined && registry.agents.get(origin)) || null;
}

export function checkOriginator(originator: Agent | null, target: Agent): Problem[] {
  if (!originator || !denies(originator.collaboration, target.id)) return [];
  const message = `${originator.id}, where this chain began, denies handing to ${target.id}`;
  return [{ code: 'BOUNDARY_DENIED', pointer: '/target_agent/agent_id', message }];
}

export function checkChain(source: Agent, target: Agent, requestDigest: string | null, lineage: Lineage): Problem[] {
  const { ancestors } = lineage;
  const problems: Problem[] = [];
  if (ancestors.length >= HOPS_MAX) {
    problems.push({ code: 'HOP_LIMIT', pointer: AT_PARENT, message: `a chain has at most ${HOPS_MAX} handoffs` });
  }
  const same = ancestors.some(
    (past) => past.source === source.id && past.target === target.id && past.requestDigest === requestDigest,
  );
  if (same) {
    const message = `${source.id} handed this very request to ${target.id} before in this chain`;
    problems.push({ code: 'CYCLE', pointer: '/context/request', message });
  }
  return problems;
}

function refusal(message: string): Problem {
  return { code: 'PATTERN_NOT_ALLOWED', pointer: AT_PARENT, message };
}
