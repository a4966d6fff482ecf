// The chain a handoff belongs to: the handoff it follows, how long the chain is, whether it goes round in circles, and
// who began it. What was handed before is looked up by the caller; nothing here believes the envelope about it.

import type { Problem } from '../kernel/trust/problem.ts';
import type { Agent, Registry } from './agent.ts';
import { denies } from './collaboration.ts';
import type { Envelope } from './envelope.ts';
import type { Policy } from './policy.ts';

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

type Lineage = {
  /** From the parent back to the first handoff of the chain, at most as many as a chain may have. */
  readonly ancestors: readonly PastHandoff[];
  /** The id of the handoff at the end of them that was found; null where there is none. */
  readonly first: string | null;
  /** The handoff that the envelope names as the first of its chain; null where it names none or nobody knows it. */
  readonly root: PastHandoff | null;
};

export function lineageOf(envelope: Envelope, lookup: LookupParent): Lineage {
  const ancestors: PastHandoff[] = [];
  let first: string | null = null;
  let id = envelope.links?.parent_handoff_id ?? null;
  while (id !== null && ancestors.length < HOPS_MAX) {
    const past = lookup(id.toLowerCase());
    if (!past) break;
    ancestors.push(past);
    first = id.toLowerCase();
    id = past.parent;
  }
  const named = rootOf(envelope);
  return { ancestors, first, root: named === null ? null : lookup(named) };
}

/** The first handoff of the chain, where the envelope names another one than itself. */
function rootOf({ links, handoff_id }: Envelope): string | null {
  const root = links?.root_handoff_id?.toLowerCase() ?? null;
  return root === handoff_id.toLowerCase() ? null : root;
}

/** What an envelope says about where its chain began has to be so: whoever began it may have denied the target. */
export function checkRoot(envelope: Envelope, { ancestors, first, root }: Lineage): Problem[] {
  const named = rootOf(envelope);
  if (named === null) return [];
  if (!root) return [rootRefusal('the root handoff is not known')];
  if (!root.accepted) return [rootRefusal('the root handoff was rejected')];
  if (root.parent !== null)
    return [rootRefusal('the root handoff follows another one, so that no chain begins with it')];
  const isReached = ancestors.length === 0 || ancestors.length >= HOPS_MAX || first === named;
  return isReached ? [] : [rootRefusal('the parent handoff belongs to another chain than the root handoff')];
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
  const began = lineage.ancestors.at(-1) ?? lineage.root;
  const origin = source.type === 'orchestrator' ? began?.source : undefined;
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

function rootRefusal(message: string): Problem {
  return { code: 'PATTERN_NOT_ALLOWED', pointer: '/links/root_handoff_id', message };
}

function refusal(message: string): Problem {
  return { code: 'PATTERN_NOT_ALLOWED', pointer: AT_PARENT, message };
}
