// The four patterns of a handoff, by the types of its two ends. What has no row here is not allowed.
import type { Policy } from './policy.ts';
import type { AgentType } from './schema.ts';

export type Pattern = { readonly number: 1 | 2 | 3 | 4; readonly name: string };

const DIRECT: Pattern = { number: 1, name: 'domain-to-domain' };
const DELEGATED: Pattern = { number: 2, name: 'archetype-to-domain' };
const INTEGRATED: Pattern = { number: 3, name: 'domain-to-archetype' };
const MEDIATED: Pattern = { number: 4, name: 'orchestrator-mediated' };

const TABLE: Readonly<Record<AgentType, Readonly<Record<AgentType, Pattern | null>>>> = {
  domain: { domain: DIRECT, archetype: INTEGRATED, orchestrator: MEDIATED },
  archetype: { domain: DELEGATED, archetype: null, orchestrator: MEDIATED },
  orchestrator: { domain: MEDIATED, archetype: MEDIATED, orchestrator: null },
};

export function patternOf(
  source: AgentType,
  target: AgentType,
  policy: Pick<Policy, 'orchestratorChain'>,
): Pattern | null {
  if (source === 'orchestrator' && target === 'orchestrator' && policy.orchestratorChain) return MEDIATED;
  return TABLE[source][target];
}
