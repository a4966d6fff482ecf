// Whether one agent may hand to another. The source's declaration decides, the target need not answer it; a denial wins
// over everything else.
import type { GovernedCode } from '../kernel/codes/governed.ts';
import { type Problem, quote } from '../kernel/trust/problem.ts';
import { type AllowEdge, denies, edgesTo } from './collaboration.ts';
import { constituents } from './composition.ts';
import type { AgentRecord } from './manifest.ts';
import { patternOf } from './pattern.ts';
import type { Policy } from './policy.ts';
import type { RequestType } from './schema.ts';

/** What of a request the limits of an edge look at. */
export type Asked = { readonly type: RequestType; readonly scopes?: readonly string[] };

type Party = Pick<AgentRecord, 'id' | 'type' | 'collaboration' | 'composition'>;

const AT_TARGET = '/target_agent/agent_id';

/** What the manifest says of an agent decides. Without `asked`, whether any request at all could pass. */
export function checkBoundary(
  source: Party,
  target: Party,
  asked: Asked | null,
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

function withinLimits(source: Party, target: Party, edges: readonly AllowEdge[], asked: Asked): Problem[] {
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

function permits(edge: AllowEdge, asked: Asked): boolean {
  const { types, scopes } = edge;
  return (
    (types === null || types.includes(asked.type)) &&
    (scopes === null || (asked.scopes ?? []).every((scope) => scopes.includes(scope)))
  );
}

function refusal(code: GovernedCode, message: string): Problem {
  return { code, pointer: AT_TARGET, message };
}
