// Whether one agent may hand to another. The source's declaration decides, and a denial wins. Prompts may state boundaries
// in prose, which only shows a drift. The shares of an archetype's domains add up to exactly 100.
import type { GovernedCode } from '../kernel/codes/governed.ts';
import type { Json } from '../kernel/json.ts';
import { type Diagnostic, type Problem, pointer, quote, remark } from '../kernel/trust/problem.ts';
import type { Agent, Registry } from './agent.ts';
import type { AgentType, RequestType } from './envelope.ts';
import { type AgentRecord, type AllowEdge, type Collaboration, denies, edgesTo, type Redirect } from './manifest.ts';
import type { Policy } from './stage.ts';

/** What of a request the limits of an edge look at. */
export type RequestedScope = { readonly type: RequestType; readonly scopes?: readonly string[] | undefined };

type Party = Pick<AgentRecord, 'id' | 'type' | 'collaboration' | 'composition'>;

const AT_TARGET = '/target_agent/agent_id';

/** What the manifest says of an agent decides. Without `asked`, whether any request at all could pass. */
export function checkBoundary(
  source: Party,
  target: Party,
  asked: RequestedScope | null,
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

/**
 * The orchestrator through which a source hands to a target, where the boundary of the source asks for one. Null where it does not,
 * and where there is no orchestrator.
 */
export function mediatorBetween(
  agents: Iterable<Pick<AgentRecord, 'id' | 'type' | 'status'>>,
  source: Party,
  target: Party,
  asked: RequestedScope,
): string | null {
  if (denies(source.collaboration, target.id)) return null;
  const isAsked = source.collaboration.allow.some(
    (edge) => edge.target === target.id && edge.mode === 'mediate' && permits(edge, asked),
  );
  if (!isAsked) return null;
  const ids = [...agents].flatMap(({ id, type, status }) =>
    type === 'orchestrator' && status === 'active' && !denies(source.collaboration, id) ? [id] : [],
  );
  return ids.sort()[0] ?? null;
}

export function checkSelf(source: Party, target: Party): Problem[] {
  return source.id === target.id ? [refusal('SELF_HANDOFF', `${source.id} hands to itself`)] : [];
}

/** A domain knows an archetype that contains it, or that contains a domain it may hand to. */
function isRelated(source: Party, archetype: Party): boolean {
  return constituents(archetype).some((id) => id === source.id || edgesTo(source.collaboration, id).length > 0);
}

function withinLimits(source: Party, target: Party, edges: readonly AllowEdge[], asked: RequestedScope): Problem[] {
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

function permits(edge: AllowEdge, asked: RequestedScope): boolean {
  const { types, scopes } = edge;
  return (
    (types === null || types.includes(asked.type)) &&
    (scopes === null || (asked.scopes ?? []).every((scope) => scopes.includes(scope)))
  );
}

function refusal(code: GovernedCode, message: string): Problem {
  return { code, pointer: AT_TARGET, message };
}

/** The four patterns of a handoff, by the types of its two ends. What has no row here is not allowed. */
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

const HEADING = /^#{1,6}\s+(.*)$/;
const BOUNDARIES = /^collaboration (?:boundaries|with other domains)\b/i;
const OUT_OF_SCOPE = /^out[ -]of[ -]scope\b/i;
const ITEM = /^\s*[-*+]\s+(.*)$/;
const PARTNER = /^\*{0,2}with domain (\d{1,4})\b/i;
const LINE_ONLY = /\b(?:distinguish|separate|vs|not)\b/i;
const ARROW = /(?:→|->)(.*)$/;
const LINE_LENGTH_MAX = 4_096;

/** Null when the text says nothing about boundaries. */
export function proseBoundaries(text: string, ids: readonly string[]): Collaboration | null {
  const partners = itemsUnder(text, BOUNDARIES);
  const outside = itemsUnder(text, OUT_OF_SCOPE);
  const redirects = (outside ?? []).flatMap((item) => redirectIn(item, ids));
  if (partners) {
    return { allow: partners.flatMap((item) => edgeIn(item, ids)), deny: [], redirect: redirects };
  }
  if (redirects.length === 0) return null;
  const targets = [...new Set(redirects.map((redirect) => redirect.target))];
  return { allow: targets.map((target) => edge(target, 'collaborate', null)), deny: [], redirect: redirects };
}

/** Where the prompt of an agent promises other partners than the manifest. */
export function driftOf(agent: Agent, ids: readonly string[]): Diagnostic[] {
  if (!agent.prompt) return [];
  const prose = proseBoundaries(new TextDecoder().decode(agent.prompt), ids);
  if (!prose) return [];
  const declared = targetsOf(agent.collaboration);
  const written = targetsOf(prose);
  const drift = (message: string) => remark(agent.id, 'BOUNDARY_DRIFT', message);
  return [
    ...[...written]
      .filter((id) => !declared.has(id))
      .map((id) => drift(`the prompt names ${id}, the manifest does not`)),
    ...[...declared]
      .filter((id) => !written.has(id))
      .map((id) => drift(`the manifest names ${id}, the prompt does not`)),
  ];
}

function targetsOf(collaboration: Collaboration): Set<string> {
  return new Set(collaboration.allow.map((edge) => edge.target));
}

/** The list items below the first heading of this name, up to the next heading; null without such a heading. */
function itemsUnder(text: string, name: RegExp): string[] | null {
  let items: string[] | null = null;
  for (const line of text.split(/\r?\n/)) {
    if (line.length > LINE_LENGTH_MAX) continue;
    const heading = HEADING.exec(line);
    if (heading) {
      if (items) return items;
      if (isSection(line) && name.test(heading[1] ?? '')) items = [];
    } else if (items) {
      const item = ITEM.exec(line)?.[1];
      if (item !== undefined) items.push(item);
    }
  }
  return items;
}

function isSection(line: string): boolean {
  return /^#{2,4}\s/.test(line);
}

function edgeIn(item: string, ids: readonly string[]): AllowEdge[] {
  const number = PARTNER.exec(item)?.[1];
  const target = number === undefined ? null : byNumber(number, ids);
  return target === null ? [] : [edge(target, LINE_ONLY.test(item) ? 'demarcate' : 'collaborate', item)];
}

function redirectIn(item: string, ids: readonly string[]): Redirect[] {
  const arrow = ARROW.exec(item);
  if (!arrow) return [];
  const named = arrow[1] ?? '';
  const number = /\bdomain[ -](\d{1,4})\b/i.exec(named)?.[1];
  const target = number === undefined ? null : byNumber(number, ids);
  const scope = item
    .slice(0, arrow.index)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 64);
  return target === null || scope === '' ? [] : [{ scope, target }];
}

function byNumber(number: string, ids: readonly string[]): string | null {
  const matching = ids.filter((id) => id.startsWith(`domain-${number.padStart(2, '0')}-`));
  return matching.length === 1 ? (matching[0] ?? null) : null;
}

function edge(target: string, mode: AllowEdge['mode'], note: string | null): AllowEdge {
  return { target, mode, scopes: null, types: null, note };
}

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
  const aboutShares = (message: string) => remark(agent.id, 'PRIMARY_SHARE', message);
  if (leaders > 1) return [aboutShares(`${leaders} domains share the lead with ${largest} each`)];
  if (largest < LEADS_MIN || largest > LEADS_MAX) {
    return [aboutShares(`the leading share is ${largest}; ${LEADS_MIN} to ${LEADS_MAX} is usual`)];
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
