// What an archetype is made of: domains with shares that add up to exactly 100. Shares are counted in hundredths as
// integers, so that 33.33 + 33.33 + 33.34 is 100 and three times 33.3 is not.
import type { Json } from '../kernel/json.ts';
import { type Diagnostic, type Problem, warning } from '../kernel/trust/problem.ts';
import type { Agent, Registry } from './agent.ts';
import type { AgentRecord } from './manifest.ts';
import type { Policy } from './policy.ts';

const SIZE_MIN = 2;
const SIZE_MAX = 4;
const LEADS_MIN = 40;
const LEADS_MAX = 60;

type Check = 'compositionSize' | 'constituentBytes';

type Composed = Pick<AgentRecord, 'id' | 'type' | 'composition'>;

/** Everything wrong with the composition of one archetype. Other agents have none and are in order. */
export function checkComposition(
  registry: Pick<Registry, 'agents'>,
  agent: Agent,
  at: string,
  policy: Pick<Policy, Check>,
  isQuarantined: (agent: Agent) => boolean = () => false,
): Problem[] {
  if (agent.type !== 'archetype' || !agent.composition) return checkShares(registry, agent, at, policy);
  const loose = agent.composition
    .map(([domain]) => domain)
    .filter((domain) => {
      const constituent = registry.agents.get(domain);
      if (constituent?.type !== 'domain') return false;
      if (constituent.lockedHash === null) return true;
      return policy.constituentBytes && (!constituent.bytesMatch || isQuarantined(constituent));
    });
  const message = `${agent.id} contains domains not pinned: ${listed(loose)}`;
  return [
    ...checkShares(registry, agent, at, policy),
    ...(loose.length > 0 ? [{ code: 'COMPOSITION_CONSTITUENT_UNVERIFIED', pointer: at, message } as const] : []),
  ];
}

/** The part of it for which the manifest is enough. */
export function checkShares(
  { agents }: { readonly agents: ReadonlyMap<string, Composed> },
  { id, type, composition }: Composed,
  at: string,
  policy: Pick<Policy, 'compositionSize'>,
): Problem[] {
  if (type !== 'archetype') return [];
  const found = (code: Problem['code'], message: string): Problem => ({ code, pointer: at, message });
  if (!composition) return [found('COMPOSITION_MISSING', `${id} has no composition`)];
  const problems: Problem[] = [];

  const isDomain = (domain: string) => agents.get(domain)?.type === 'domain';
  const strangers = composition.map(([domain]) => domain).filter((domain) => !isDomain(domain));
  if (strangers.length > 0) {
    problems.push(found('COMPOSITION_UNKNOWN_DOMAIN', `${id} is composed of what is no domain: ${listed(strangers)}`));
  }
  const bad = composition.filter(([, share]) => !isShare(share)).map(([domain]) => domain);
  if (bad.length > 0) {
    problems.push(
      found('COMPOSITION_BAD_SHARE', `${id} needs shares above 0, up to 100, with two decimals: ${listed(bad)}`),
    );
  } else {
    const hundredths = composition.reduce((sum, [, share]) => sum + Math.round((share as number) * 100), 0);
    if (hundredths !== 10_000) {
      problems.push(found('COMPOSITION_SUM', `the shares of ${id} add up to ${hundredths / 100}, not 100`));
    }
  }
  if (policy.compositionSize && (composition.length < SIZE_MIN || composition.length > SIZE_MAX)) {
    problems.push(
      found('COMPOSITION_SIZE', `${id} has ${composition.length} domains; ${SIZE_MIN} to ${SIZE_MAX} are allowed`),
    );
  }
  return problems;
}

/** Remarks on emphasis; they refuse nothing. */
export function remarksOnShares(agent: Agent): Diagnostic[] {
  const shares = (agent.composition ?? []).map(([, share]) => share).filter(isShare);
  if (shares.length === 0) return [];
  const largest = Math.max(...shares);
  const leaders = shares.filter((share) => share === largest).length;
  const remark = (message: string) => warning(agent.id, 'PRIMARY_SHARE', message);
  if (leaders > 1) return [remark(`${leaders} domains share the lead with ${largest} each`)];
  if (largest < LEADS_MIN || largest > LEADS_MAX) {
    return [remark(`the leading share is ${largest}; ${LEADS_MIN} to ${LEADS_MAX} is usual`)];
  }
  return [];
}

export function constituents(agent: Pick<Agent, 'composition'>): readonly string[] {
  return (agent.composition ?? []).map(([domain]) => domain);
}

export function shareOf(agent: Agent, domain: string): number {
  const share = agent.composition?.find(([id]) => id === domain)?.[1];
  return isShare(share) ? share : 0;
}

function isShare(share: Json | undefined): share is number {
  return typeof share === 'number' && share > 0 && share <= 100 && Number(share.toFixed(2)) === share;
}

function listed(ids: readonly string[]): string {
  const shown = ids.slice(0, 10).map((id) => (id.length > 64 ? `${id.slice(0, 64)}…` : id));
  return shown.join(', ') + (ids.length > shown.length ? `, and ${ids.length - shown.length} more` : '');
}
