// The verdict on a handoff as its sender and the log get it: plain JSON, never the locked hash, a path or prompt text. A
// refusal suggests another target; nothing is rerouted.
import { GOVERNED_CODES, type GovernedCode } from '../kernel/codes/governed.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { RULES_VERSION } from '../kernel/trust/injection.ts';
import { PROBLEMS_MAX, type Problem } from '../kernel/trust/problem.ts';
import { type Allowed, allow, type Denied, deny } from '../kernel/verdict.ts';
import type { Agent, Registry } from './agent.ts';
import {
  checkBoundary,
  checkComposition,
  constituents,
  coveredScopes,
  type Pattern,
  type RequestedScope,
  shareOf,
} from './boundary.ts';
import { type CanonicalTexts, digestsOf } from './canonical.ts';
import { type AgentType, claimedBy, type Envelope, falseClaims, type Recomputed, UUID_PATTERN } from './envelope.ts';
import { envelopeTexts } from './parse.ts';
import { isSecurityEvent, type Policy, refusalReason, STAGES, type StageName } from './stage.ts';

/** What the stages have found so far. */
export type VerifyProgress = {
  readonly registry: Registry;
  value: Json;
  /** What parsing found out about the texts of the value. */
  isVerbatim: boolean;
  isHarmless: boolean;
  /** The canonical texts of the value, where they were needed before the answer. */
  texts: CanonicalTexts | null;
  /** Null until the schema stage has passed. */
  envelope: Envelope | null;
  readonly recomputed: Recomputed;
  readonly warnings: Problem[];
  pattern: Pattern | null;
  /** Of a context that broke a rule. */
  contextDigest: string | null;
  suggest: (problem: Problem) => TargetSuggestion | null;
};

const POINTER_LENGTH_MAX = 1_024;
const UUID = new RegExp(UUID_PATTERN);

export function acceptedVerdict(progress: VerifyProgress): Allowed {
  const { pattern, envelope } = progress;
  const scopes = envelope?.context.request.scopes;
  return allow(`the handoff is accepted (${pattern?.name ?? 'within one agent'})`, {
    status: 'accepted',
    audit_ref: null,
    ...common(progress),
    pattern: pattern?.number ?? null,
    pattern_name: pattern?.name ?? null,
    scope: scopes ?? 'unasserted',
  });
}

export function rejectedVerdict(stage: StageName, problems: readonly Problem[], progress: VerifyProgress): Denied {
  const [first] = problems;
  const { code, reason, details } = refusal(stage, problems, first ? progress.suggest(first) : null);
  return deny(code, reason, { ...details, incident: incidentOf(first, progress), ...common(progress) });
}

/** The part of a refusal that needs no registry. */
export function refusal(
  stage: StageName,
  problems: readonly Problem[],
  suggestion: TargetSuggestion | null = null,
): Denied {
  const [first] = problems;
  const code: GovernedCode = first?.code ?? 'PARSE';
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const reasonClass = STAGES[stage].class;
  return deny(code, `${first?.message ?? 'the envelope is refused'}${more}`, {
    status: 'rejected',
    stage: STAGES[stage].number,
    stage_name: stage,
    reason_class: reasonClass,
    refusal_reason: refusalReason(reasonClass),
    problems: problems.slice(0, PROBLEMS_MAX).map(toJson),
    security_flag: isSecurityEvent(stage, code),
    executed: false,
    retryable: GOVERNED_CODES[code].retry === 'repaired',
    suggested_target: suggestion && { ...suggestion },
    remediation: remediesFor(code, suggestion).map((remedy) => ({ ...remedy })),
    incident: null,
    audit_ref: null,
  });
}

function common(progress: VerifyProgress): JsonObject {
  const { registry, value, isVerbatim, envelope, recomputed, warnings } = progress;
  const claimed = envelope && claimedBy(envelope);
  const texts = progress.texts ?? (isObject(value) ? envelopeTexts(value, isVerbatim) : null);
  const digests = texts && digestsOf(texts, registry.sha256);
  return {
    handoff_id: envelope ? envelope.handoff_id.toLowerCase() : handoffIdOf(value),
    attestation: { claimed, recomputed, registry_digest: registry.digest },
    false_claims: claimed ? falseClaims(claimed, recomputed) : [],
    warnings: warnings.slice(0, PROBLEMS_MAX).map(toJson),
    envelope_digest: digests?.whole ?? null,
    request_digest: envelope ? (digests?.part ?? null) : null,
    registry_digest: registry.digest,
    injection_rules: RULES_VERSION,
  };
}

/**
 * What a refusal blocks until a person looks into it: a sender with a wrong hash blocks only itself, a registry that
 * disagrees with itself blocks the agent, a context that breaks a rule is blocked itself. The keeper of the log opens the
 * quarantine.
 */
function incidentOf(problem: Problem | undefined, { envelope, contextDigest }: VerifyProgress): JsonObject | null {
  if (problem?.code.startsWith('INJECTION_') && contextDigest !== null) {
    return { event: problem.code, agent_id: null, blocks: 'context', context_digest: contextDigest };
  }
  const blocks = problem && INCIDENTS[problem.code];
  if (!blocks || !envelope) return null;
  const { agent_id } = problem.pointer.startsWith('/source_agent') ? envelope.source_agent : envelope.target_agent;
  return { event: problem.code, agent_id, blocks };
}

/** What a refusal with this code blocks until a person has looked into it. */
export const INCIDENTS: Partial<Record<GovernedCode, 'pair' | 'agent'>> = {
  LOCK_ENTRY_MISSING: 'agent',
  HASH_MISMATCH: 'pair',
  PROMPT_BYTES_MISMATCH: 'agent',
};

/** In lower case, the form in which ids are compared and stored. */
export function handoffIdOf(value: Json): string | null {
  const id = isObject(value) ? value.handoff_id : null;
  return isString(id) && UUID.test(id) ? id.toLowerCase() : null;
}

/** A sender may choose member names of any length, so the nearest enclosing place is named. */
function toJson({ code, pointer, message }: Problem): JsonObject {
  const cut = pointer.lastIndexOf('/', POINTER_LENGTH_MAX);
  return { code, pointer: pointer.length > POINTER_LENGTH_MAX ? pointer.slice(0, Math.max(cut, 0)) : pointer, message };
}

type TargetSuggestion = {
  readonly agent_id: string;
  readonly agent_type: AgentType;
  readonly via: 'direct' | 'archetype' | 'orchestrator';
  readonly why: string;
};

type RefusedHandoff = {
  readonly code: GovernedCode;
  readonly source: Agent;
  readonly target: Agent;
  readonly asked: RequestedScope;
  readonly isBlocked: (agent: Agent) => boolean;
};

/** A domain within reach that covers what is wanted, else an archetype, else an orchestrator. */
export function suggestTarget(registry: Registry, refused: RefusedHandoff, policy: Policy): TargetSuggestion | null {
  const { source, target, asked, isBlocked } = refused;
  const wanted = asked.scopes ?? [...coveredScopes(registry, target)];
  const usable = directoryOf(registry)
    .map(({ agent }) => agent)
    .filter((agent) => agent.status === 'active' && agent.faults.length === 0 && !isBlocked(agent))
    .filter((agent) => checkComposition(registry, agent, '', policy).length === 0);
  const covers = (agent: Agent) => {
    const covered = coveredScopes(registry, agent);
    return wanted.every((scope) => covered.has(scope));
  };
  const candidates = usable.filter(
    (agent) => agent.id !== source.id && covers(agent) && checkBoundary(source, agent, asked, policy).length === 0,
  );
  const redirected = new Set(
    source.collaboration.redirect.filter(({ scope }) => wanted.includes(scope)).map((redirect) => redirect.target),
  );
  const domain = candidates
    .filter((agent) => agent.type === 'domain')
    .toSorted(
      (a, b) => Number(redirected.has(b.id)) - Number(redirected.has(a.id)) || a.scopes.length - b.scopes.length,
    )
    .at(0);
  const archetype = candidates
    .filter((agent) => agent.type === 'archetype')
    .toSorted((a, b) => coveringShare(registry, b, wanted) - coveringShare(registry, a, wanted))
    .at(0);
  const orchestrator = candidates.find((agent) => agent.type === 'orchestrator');
  const served = wanted.length > 0 ? `covers ${wanted.slice(0, 20).join(', ')}` : 'may be handed to';
  const direct = domain && suggestion(domain, 'direct', `${served} and is within the boundaries of ${source.id}`);
  const composed = archetype && suggestion(archetype, 'archetype', `its domains together: ${served}`);
  const last = covers(target) ? target : usable.find((agent) => agent.type === 'domain' && covers(agent));
  const mediated =
    orchestrator &&
    suggestion(orchestrator, 'orchestrator', last ? `can route to ${last.id}` : 'can split the request or route it');
  // Types that never meet need an agent between them. Where no scopes are declared every agent covers everything, so one
  // that knows the way is the better guess.
  const mediatedFirst = refused.code === 'PATTERN_NOT_ALLOWED' || wanted.length === 0;
  const ranked = mediatedFirst ? [mediated, direct, composed] : [direct, composed, mediated];
  return ranked.find((one) => one !== undefined) ?? null;
}

/** The agent that an unknown id most likely means. */
export function suggestId(registry: Registry, text: string): TargetSuggestion | null {
  const meant = slug(text);
  if (meant.length === 0 || meant.length > 80) return null;
  const entries = directoryOf(registry);
  const only = (matching: readonly Entry[]) => (matching.length === 1 ? matching[0]?.agent : undefined);
  const found =
    registry.agents.get(meant) ??
    only(entries.filter((entry) => entry.name === meant)) ??
    only(entries.filter(({ agent }) => agent.id.endsWith(`-${meant}`) || agent.id.startsWith(`${meant}-`))) ??
    nearest(entries, meant);
  return found ? suggestion(found, 'direct', 'its canonical id or name is close to what was written') : null;
}

/** An agent and its name as `slug` writes it. */
type Entry = { readonly agent: Agent; readonly name: string | null };

const directories = new WeakMap<Registry, readonly Entry[]>();

/** In the order of the ids. A registry never changes, so neither does its directory. */
function directoryOf(registry: Registry): readonly Entry[] {
  const known = directories.get(registry);
  if (known) return known;
  const entries = [...registry.agents.values()]
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((agent) => ({ agent, name: agent.name === null ? null : slug(agent.name) }));
  directories.set(registry, entries);
  return entries;
}

function suggestion(agent: Agent, via: TargetSuggestion['via'], why: string): TargetSuggestion {
  return { agent_id: agent.id, agent_type: agent.type, via, why };
}

function coveringShare(registry: Registry, archetype: Agent, wanted: readonly string[]): number {
  return constituents(archetype)
    .filter((id) => registry.agents.get(id)?.scopes.some((scope) => wanted.includes(scope)))
    .reduce((sum, id) => sum + shareOf(archetype, id), 0);
}

function slug(text: string): string {
  return text
    .slice(0, 256)
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

const DISTANCE_MAX = 3;

function nearest(entries: readonly Entry[], text: string): Agent | undefined {
  const ranked = entries
    .map(({ agent }) => ({ agent, distance: editDistance(agent.id, text) }))
    .filter(({ distance }) => distance <= DISTANCE_MAX)
    .toSorted((a, b) => a.distance - b.distance);
  return ranked[0]?.agent;
}

/** What both begin with costs nothing, because ids of one kind share much of it. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > DISTANCE_MAX) return Number.POSITIVE_INFINITY;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  let row = Array.from({ length: b.length - same + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length - same; i++) {
    const next = [i];
    for (let j = 1; j <= b.length - same; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[same + i - 1] === b[same + j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? Number.POSITIVE_INFINITY;
}

/** How the sender, or the person behind it, fixes a refusal. */
type Action =
  | 'fix_field'
  | 'use_canonical_id'
  | 'change_target'
  | 'use_archetype'
  | 'use_orchestrator'
  | 'split_request'
  | 'refresh_lock'
  | 'new_handoff_id'
  | 'sync_clock'
  | 'clean_context'
  | 'pass_by_reference'
  | 'manual_verification'
  | 'fix_composition';
type Remedy = { readonly action: Action; readonly detail: string };

const remedy = (action: Action, detail: string): Remedy => ({ action, detail });

const FIX_FIELD = remedy('fix_field', 'correct the members named in problems');
const NEW_ID = remedy('new_handoff_id', 'send the corrected envelope with a new handoff_id and the present time');
const VERIFY = remedy('manual_verification', 'a person must compare prompt, lock and manifest before anything runs');
const CANONICAL = remedy('use_canonical_id', 'use id and type exactly as the manifest gives them');
const CHANGE = remedy('change_target', 'hand to an agent the source may hand to');
const COMPOSE = remedy('fix_composition', 'correct the composition in the manifest and lock it again');
const REFERENCE = remedy('pass_by_reference', 'pass the text as input_data: {"ref": …, "sha256": …}');
const CLEAN = remedy('clean_context', 'remove the places named in problems from the context');
const REFRESH = remedy('refresh_lock', 'lock the registry again after a person has verified the prompts');
const SPLIT = remedy('split_request', 'ask each agent only for the scopes it covers');
const CLOCK = remedy('sync_clock', 'set the clock of the sender right');

const WRITABLE = remedy(
  'manual_verification',
  'a person must see why the log cannot be written; then send the same again',
);

const REMEDIES: Readonly<Partial<Record<GovernedCode, readonly Remedy[]>>> = {
  REGISTRY_UNUSABLE: [VERIFY],
  LIMIT_EXCEEDED: [REFERENCE],
  TIMESTAMP_STALE: [NEW_ID, CLOCK],
  TIMESTAMP_FUTURE: [CLOCK, NEW_ID],
  REPLAY: [NEW_ID],
  AGENT_UNKNOWN: [CANONICAL],
  AGENT_TYPE_MISMATCH: [CANONICAL],
  AGENT_RETIRED: [CHANGE],
  QUARANTINED: [VERIFY],
  VERSION_MISMATCH: [remedy('fix_field', 'use the exact version from the lock'), REFRESH],
  LOCK_ENTRY_MISSING: [VERIFY, REFRESH],
  HASH_MISMATCH: [VERIFY],
  PROMPT_BYTES_MISMATCH: [VERIFY, REFRESH],
  COMPOSITION_MISSING: [COMPOSE],
  COMPOSITION_UNKNOWN_DOMAIN: [COMPOSE],
  COMPOSITION_BAD_SHARE: [COMPOSE],
  COMPOSITION_SUM: [COMPOSE],
  COMPOSITION_SIZE: [COMPOSE],
  COMPOSITION_CONSTITUENT_UNVERIFIED: [VERIFY, REFRESH],
  PATTERN_NOT_ALLOWED: [CHANGE],
  SELF_HANDOFF: [CHANGE],
  BOUNDARY_NOT_ALLOWED: [CHANGE],
  BOUNDARY_DENIED: [CHANGE],
  NOT_A_CONSTITUENT: [CHANGE],
  HOP_LIMIT: [remedy('split_request', 'finish this chain and begin a new one')],
  CYCLE: [remedy('split_request', 'answer the request, or change it before handing it on')],
  SCOPE_NOT_COVERED: [CHANGE, SPLIT],
  INJECTION_KEY: [CLEAN],
  INJECTION_CONTROL: [CLEAN],
  INJECTION_ROLE: [CLEAN],
  INJECTION_TOKEN: [CLEAN, REFERENCE],
  INJECTION_OVERRIDE: [CLEAN, REFERENCE],
  INJECTION_EXFIL: [CLEAN, REFERENCE],
  INJECTION_BYPASS: [CLEAN, REFERENCE],
  AUDIT_UNAVAILABLE: [WRITABLE],
};

export function remediesFor(code: GovernedCode, suggestion: TargetSuggestion | null): readonly Remedy[] {
  const general = REMEDIES[code] ?? [FIX_FIELD];
  if (!suggestion) return general;
  const named = `${suggestion.agent_id}: ${suggestion.why}`;
  if (code === 'AGENT_UNKNOWN') return [remedy('use_canonical_id', named)];
  const action = { direct: 'change_target', archetype: 'use_archetype', orchestrator: 'use_orchestrator' } as const;
  return [remedy(action[suggestion.via], named), ...general.filter(({ action }) => action !== 'change_target')];
}
