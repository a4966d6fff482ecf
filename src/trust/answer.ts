// The verdict on a handoff as its sender and the log get it: the facts that were found, as plain JSON, never the locked
// hash, a path or prompt text.
import { GOVERNED_CODES, type GovernedCode } from '../kernel/codes/governed.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { RULES_VERSION } from '../kernel/trust/injection.ts';
import { PROBLEMS_MAX, type Problem } from '../kernel/trust/problem.ts';
import { type Allowed, allow, type Denied, deny } from '../kernel/verdict.ts';
import type { Registry } from './agent.ts';
import type { Pattern } from './boundary.ts';
import { type CanonicalTexts, digestsOf } from './canonical.ts';
import { claimedBy, type Envelope, falseClaims, type Recomputed } from './envelope.ts';
import { envelopeTexts } from './parse.ts';
import { UUID_PATTERN } from './schema.ts';
import { isSecurityEvent, refusalReason, STAGES, type StageName } from './stage.ts';
import { remediesFor, type TargetSuggestion } from './suggestion.ts';

/** What the stages have found so far. */
export type VerifyProgress = {
  readonly registry: Registry;
  value: Json;
  /** What parsing found out about the texts of the value. */
  isVerbatim: boolean;
  isHarmless: boolean;
  /** The canonical texts of the value, where somebody needed them before the answer. */
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
 * What a person has to look into after this refusal: a sender with a wrong hash blocks only itself, a registry that
 * disagrees with itself blocks the agent, a context that breaks a rule is blocked itself. Nothing is opened here; that is for whoever keeps the log.
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

// A sender may choose member names of any length; the nearest enclosing place is then precise enough.
function toJson({ code, pointer, message }: Problem): JsonObject {
  const cut = pointer.lastIndexOf('/', POINTER_LENGTH_MAX);
  return { code, pointer: pointer.length > POINTER_LENGTH_MAX ? pointer.slice(0, Math.max(cut, 0)) : pointer, message };
}
