// Whether one agent may hand to another. The source's declaration decides, the target need not answer it; a denial wins
// over everything else.
import type { GovernedCode } from '../kernel/codes/governed.ts';
import { type Problem, pointer, quote } from '../kernel/trust/problem.ts';
import type { Agent, Registry } from './agent.ts';
import { type AllowEdge, denies, edgesTo } from './collaboration.ts';
import { constituents } from './composition.ts';
import type { AgentRecord } from './manifest.ts';
import type { Policy } from './policy.ts';
import type { AgentType, RequestType } from './schema.ts';

/** What of a request the limits of an edge look at. */
export type AskedScope = { readonly type: RequestType; readonly scopes?: readonly string[] };

type Party = Pick<AgentRecord, 'id' | 'type' | 'collaboration' | 'composition'>;

const AT_TARGET = '/target_agent/agent_id';

/** What the manifest says of an agent decides. Without `asked`, whether any request at all could pass. */
export function checkBoundary(
  source: Party,
  target: Party,
  asked: AskedScope | null,
  policy: Pick<Policy, 'orchestratorChain'>,
): Problem[] {
  const pattern = patternOf(source.type, target.type, policy);
  if (!pattern) {
    return [refusal('PATTERN_NOT_ALLOWED', `${source.type}s do not hand to each other`)];
  }
  if (denies(source.collaboration, target.id)) {
    return [refusal('BOUNDARY_DENIED', `${source.id} denies handing to ${target.id}`)];
  }
  if (pattern.number === 4) return [];
  if (pattern.number === 3 && isRelated(source, target)) return [];
  if (pattern.number === 2 && constituents(source).includes(target.id)) return [];
  const edges = edgesTo(source.collaboration, target.id);
  if (edges.length > 0) return asked ? withinLimits(source, target, edges, asked) : [];
  if (pattern.number === 2) {
    return [refusal('NOT_A_CONSTITUENT', `${target.id} is no part of ${source.id} and not among its boundaries`)];
  }
  return [refusal('BOUNDARY_NOT_ALLOWED', `the boundaries of ${source.id} do not reach ${target.id}`)];
}

export function checkSelf(source: Party, target: Party): Problem[] {
  return source.id === target.id ? [refusal('SELF_HANDOFF', `${source.id} hands to itself`)] : [];
}

// A domain knows an archetype that contains it, or that contains a domain it may hand to.
function isRelated(source: Party, archetype: Party): boolean {
  return constituents(archetype).some((id) => id === source.id || edgesTo(source.collaboration, id).length > 0);
}

function withinLimits(source: Party, target: Party, edges: readonly AllowEdge[], asked: AskedScope): Problem[] {
  if (edges.some((edge) => permits(edge, asked))) return [];
  const typed = edges.filter((edge) => edge.types === null || edge.types.includes(asked.type));
  if (typed.length === 0) {
    const message = `${source.id} may hand to ${target.id}, but not a request of type ${asked.type}`;
    return [{ code: 'BOUNDARY_NOT_ALLOWED', pointer: '/context/request/type', message }];
  }
  const listed = new Set(typed.flatMap((edge) => edge.scopes ?? []));
  const left = (asked.scopes ?? []).filter((scope) => !listed.has(scope));
  const named = (left.length > 0 ? left : (asked.scopes ?? [])).map(quote).join(', ');
  const message = `${source.id} may hand to ${target.id}, but not with the scope ${named}`;
  return [{ code: 'BOUNDARY_NOT_ALLOWED', pointer: '/context/request/scopes', message }];
}

function permits(edge: AllowEdge, asked: AskedScope): boolean {
  const { types, scopes } = edge;
  return (
    (types === null || types.includes(asked.type)) &&
    (scopes === null || (asked.scopes ?? []).every((scope) => scopes.includes(scope)))
  );
}

function refusal(code: GovernedCode, message: string): Problem {
  return { code, pointer: AT_TARGET, message };
}

// The four patterns of a handoff, by the types of its two ends. What has no row here is not allowed.
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

// Whether the target covers what the request asks for. Only scopes that the request names count; nothing is guessed
// from its description.
/** The scopes an agent can work in. */
export function coveredScopes(registry: Registry, agent: Agent): ReadonlySet<string> {
  switch (agent.type) {
    case 'domain':
      return new Set(agent.scopes);
    case 'archetype':
      return new Set(constituents(agent).flatMap((id) => registry.agents.get(id)?.scopes ?? []));
    case 'orchestrator':
      return registry.scopes;
  }
}

export function checkScope(
  registry: Registry,
  target: Agent,
  scopes: readonly string[] | undefined,
  policy: Pick<Policy, 'requireScopes'>,
): Problem[] {
  if (scopes === undefined) {
    if (!policy.requireScopes) return [];
    return [{ code: 'SCOPE_MISSING', pointer: '/context/request/scopes', message: 'the request must name its scopes' }];
  }
  const covered = coveredScopes(registry, target);
  const unknown: Problem[] = [];
  const uncovered: Problem[] = [];
  scopes.forEach((scope, index) => {
    const at = pointer('context', 'request', 'scopes', index);
    if (!registry.scopes.has(scope)) {
      unknown.push({ code: 'SCOPE_UNKNOWN', pointer: at, message: `no agent declares the scope ${quote(scope)}` });
    } else if (!covered.has(scope)) {
      const message = `${target.id} does not cover the scope ${quote(scope)}`;
      uncovered.push({ code: 'SCOPE_NOT_COVERED', pointer: at, message });
    }
  });
  return [...unknown, ...uncovered];
}

/** Whether two domains both cover everything asked, so that the handoff was not needed. */
export function sourceCouldDoIt(source: Agent, target: Agent, scopes: readonly string[] | undefined): boolean {
  if (scopes === undefined || source.type !== 'domain' || target.type !== 'domain') return false;
  return scopes.every((scope) => source.scopes.includes(scope));
}
