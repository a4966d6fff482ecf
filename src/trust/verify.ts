// The verifier of handoffs. Its stages run in a fixed order. The first stage that finds a problem finishes and is the last,
// so the sender learns all of its problems at once. Clock, memory of ids, quarantine and earlier handoffs are passed in: the
// same facts always give the same verdict. What cannot be established is refused.
import type { Json } from '../kernel/json.ts';
import { checkInjection } from '../kernel/trust/injection.ts';
import { PROBLEMS_MAX, type Problem, quote } from '../kernel/trust/problem.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import type { Agent, Registry } from './agent.ts';
import { acceptedVerdict, rejectedVerdict, suggestId, suggestTarget, type VerifyProgress } from './answer.ts';
import { checkBoundary, checkComposition, checkScope, checkSelf, patternOf, sourceCouldDoIt } from './boundary.ts';
import { canonicalDigest } from './canonical.ts';
import { checkClaims, checkSchema, claimedBy, type Envelope, nothingRecomputed, PROTOCOL_VERSION } from './envelope.ts';
import { checkHashes, checkQuarantine, checkVersions, type End, type EndRole, resolveEnds } from './identity.ts';
import {
  checkChain,
  checkFreshness,
  checkOriginator,
  checkParent,
  checkRoot,
  checkTimestampForm,
  type Instant,
  type LookupParent,
  lineageOf,
  originatorOf,
  readClock,
} from './lineage.ts';
import { denies, edgesTo } from './manifest.ts';
import { envelopeTexts, parseEnvelope } from './parse.ts';
import { type Policy, type StageName, TRUST_POLICY } from './stage.ts';

export type VerifyOptions = {
  readonly registry: Registry;
  /** The verifier's clock, in the form of an envelope's timestamp. */
  readonly now: string;
  /** Every id, in lower case, that ever got as far as the replay stage. */
  readonly seen: { has(handoffId: string): boolean };
  readonly maxAgeS: number;
  readonly maxSkewS: number;
  /** Whether an agent, or this agent with this claimed hash, waits for a person. */
  readonly quarantined?: (agentId: string, promptHash: string) => boolean;
  readonly policy?: Partial<Policy>;
  /** Without it a parent handoff is not looked up, and the verdict says so. */
  readonly lookupParent?: LookupParent;
  /** Whether a person has read this context, by its digest, and let it pass. */
  readonly isCleared?: (contextDigest: string) => boolean;
  /**
   * `graph` is an envelope minted for an edge of a running cast: a graph may loop and may wait for days, so freshness,
   * self-handoff, chain length and cycles are judged for foreign envelopes only.
   */
  readonly origin?: 'foreign' | 'graph';
};

export const MAX_AGE_S = 300;
export const MAX_SKEW_S = 60;

/** `input` is an envelope exactly as it came, as bytes or text, or one already parsed. */
export function verifyHandoff(input: unknown, options: VerifyOptions): Verdict {
  const now = readClock(options.now);
  if (now === null) return deny('BAD_USAGE', 'now must be a date and time with an offset, like 2026-02-11T00:45:02Z');
  const progress: VerifyProgress = {
    registry: options.registry,
    value: null,
    isVerbatim: false,
    isHarmless: false,
    envelope: null,
    texts: null,
    recomputed: nothingRecomputed(),
    warnings: [],
    pattern: null,
    suggest: nothing,
    contextDigest: null,
  };
  const policy = options.policy ? { ...TRUST_POLICY, ...options.policy } : TRUST_POLICY;
  const refused = verifyInput(input, { options, policy, now, progress });
  return refused ? rejectedVerdict(refused.stage, refused.problems, progress) : acceptedVerdict(progress);
}

/** The first stage that found something, and everything it found. */
type Refused = { readonly stage: StageName; readonly problems: readonly Problem[] };

/** What the stages need besides the envelope. */
type Hearing = {
  readonly options: VerifyOptions;
  readonly policy: Policy;
  readonly now: Instant;
  readonly progress: VerifyProgress;
};
/** What they ask once both agents are known. */
type EndsHearing = Hearing & { readonly envelope: Envelope; readonly source: End; readonly target: End };

/** Null lets the next stage run: stages are chained by `??`, in their order. */
function stopAt(stage: StageName, problems: readonly Problem[]): Refused | null {
  return problems.length > 0 ? { stage, problems } : null;
}

function verifyInput(input: unknown, hearing: Hearing): Refused | null {
  const { options, progress } = hearing;
  const unusable = stopAt('registry', checkUsable(options.registry));
  if (unusable) return unusable;
  const parsed = parseEnvelope(input);
  if (!parsed.ok) return stopAt('parse', parsed.problems);
  progress.value = parsed.value;
  progress.isVerbatim = parsed.isVerbatim;
  progress.isHarmless = parsed.isHarmless;
  progress.texts = parsed.texts;
  return (
    stopAt('schema', schemaProblems(parsed.value, hearing)) ??
    verifyEnvelope(parsed.value as unknown as Envelope, hearing)
  );
}

function verifyEnvelope(envelope: Envelope, hearing: Hearing): Refused | null {
  const { options, progress } = hearing;
  progress.envelope = envelope;
  progress.texts ??= envelopeTexts(progress.value, progress.isVerbatim);
  return (
    stopAt('protocol', checkProtocol(envelope)) ??
    stopAt('timestamp', timestampProblems(envelope, hearing)) ??
    stopAt('replay', checkReplay(envelope, options.seen)) ??
    verifyAgents(envelope, hearing)
  );
}

function verifyAgents(envelope: Envelope, hearing: Hearing): Refused | null {
  const { options, progress } = hearing;
  const { ends, problems } = resolveEnds(options.registry, envelope);
  progress.suggest = (problem) => suggestForUnknown(options.registry, envelope, problem);
  const unknown = stopAt('agents', blame(progress, problems));
  const [source, target] = ends;
  if (unknown || !source || !target) return unknown;
  const { policy, now } = hearing;
  return verifyEnds({ options, policy, now, progress, envelope, source, target });
}

function verifyEnds(hearing: EndsHearing): Refused | null {
  const { options, progress, envelope, source, target } = hearing;
  const ends = [source, target];
  return (
    stopAt('quarantine', blame(progress, checkQuarantine(ends, options.quarantined ?? nobody))) ??
    stopAt('version', blame(progress, checkVersions(ends))) ??
    stopAt('hash', hashProblems(ends, progress)) ??
    stopAt('composition', compositionProblems(ends, hearing)) ??
    stopAt('boundary', boundaryProblems(hearing)) ??
    stopAt('scope', scopeProblems(hearing)) ??
    stopAt('injection', injectionProblems(hearing)) ??
    stopAt('attestation', checkClaims(claimedBy(envelope)))
  );
}

const nobody = () => false;
const nothing = () => null;

function schemaProblems(value: Json, { policy, progress }: Hearing): readonly Problem[] {
  const { problems, unknown } = checkSchema(value);
  if (policy.strictMembers) return [...problems, ...unknown];
  // A call takes only so many arguments, and a sender may write more names than that.
  if (problems.length === 0) progress.warnings.push(...unknown.slice(0, PROBLEMS_MAX));
  return problems;
}

function timestampProblems({ timestamp }: Envelope, { options, now }: Hearing): Problem[] {
  if (options.origin === 'graph') return checkTimestampForm(timestamp);
  return checkFreshness(timestamp, { now, maxAgeS: options.maxAgeS, maxSkewS: options.maxSkewS });
}

function hashProblems(ends: readonly End[], progress: VerifyProgress): readonly Problem[] {
  progress.recomputed.source_agent_verified = true;
  progress.recomputed.target_agent_verified = true;
  return blame(progress, checkHashes(ends));
}

function compositionProblems(ends: readonly End[], { options, policy, progress }: Hearing): Problem[] {
  const problems: Problem[] = [];
  for (const { agent, role } of ends) {
    if (agent.type !== 'archetype') continue;
    const at = `/${role}/agent_id`;
    problems.push(...checkComposition(options.registry, agent, at, policy, (part) => isQuarantined(part, options)));
  }
  progress.recomputed.composition_valid = problems.length === 0;
  return problems;
}

function isQuarantined(agent: Agent, { quarantined = nobody }: VerifyOptions): boolean {
  return quarantined(agent.id, agent.lockedHash ?? '');
}

function boundaryProblems(hearing: EndsHearing): readonly Problem[] {
  const { options, policy, progress, envelope } = hearing;
  const source = hearing.source.agent;
  const target = hearing.target.agent;
  const { registry, lookupParent } = options;
  const { request } = envelope.context;
  const lineage = lineageOf(envelope, lookupParent ?? nothing);
  const originator = originatorOf(source, lineage, registry);
  progress.suggest = ({ code, pointer }) => {
    if (!MISDIRECTED.includes(code) || pointer.startsWith('/links')) return null;
    const isBlocked = (agent: Agent) =>
      isQuarantined(agent, options) || (originator !== null && denies(originator.collaboration, agent.id));
    return suggestTarget(registry, { code, source, target, asked: request, isBlocked }, policy);
  };
  const problems = [...checkReach(source, target, envelope, options, policy)];
  if (lookupParent || envelope.links?.parent_handoff_id === undefined) {
    problems.push(...checkParent(envelope, source, lineage, policy));
  }
  if (lookupParent) problems.push(...checkRoot(envelope, lineage));
  problems.push(...checkOriginator(originator, target));
  // Only with earlier handoffs is there something to compare the request with.
  if (options.origin !== 'graph' && lineage.ancestors.length > 0) {
    problems.push(...checkChain(source, target, canonicalDigest(request as unknown as Json, registry.sha256), lineage));
  }
  if (problems.length > 0) progress.recomputed.boundaries_respected = false;
  else progress.pattern = patternOf(source.type, target.type, policy);
  return problems;
}

function scopeProblems({ options, policy, progress, envelope, source, target }: EndsHearing): readonly Problem[] {
  const problems = checkScope(options.registry, target.agent, envelope.context.request.scopes, policy);
  progress.recomputed.boundaries_respected = problems.length === 0;
  if (problems.length === 0) progress.warnings.push(...remarksOn(envelope, source.agent, target.agent, options));
  return problems;
}

function injectionProblems({ options, policy, progress, envelope }: EndsHearing): readonly Problem[] {
  const { problems, flags } = checkInjection(
    envelope,
    policy,
    progress.isHarmless ? progress.texts?.around : undefined,
  );
  if (problems.length === 0) {
    progress.warnings.push(...flags);
    return problems;
  }
  progress.contextDigest = canonicalDigest(envelope.context as unknown as Json, options.registry.sha256);
  if (progress.contextDigest === null || !options.isCleared?.(progress.contextDigest)) return problems;
  progress.warnings.push(...problems, ...flags);
  return [];
}

const MISDIRECTED: readonly Problem['code'][] = [
  'PATTERN_NOT_ALLOWED',
  'SELF_HANDOFF',
  'BOUNDARY_DENIED',
  'BOUNDARY_NOT_ALLOWED',
  'NOT_A_CONSTITUENT',
  'SCOPE_NOT_COVERED',
];

function checkUsable(registry: Registry): Problem[] {
  if (registry.usable) return [];
  const causes = registry.diagnostics.filter(({ level }) => level === 'fatal');
  const why = causes[0] ? `: ${causes[0].message}` : '';
  const message = `the registry cannot be used, so every handoff is refused${why}`;
  return [
    { code: 'REGISTRY_UNUSABLE', pointer: '', message },
    ...causes.map(({ code, message }) => ({ code, pointer: '', message })),
  ];
}

function checkProtocol({ protocol_version }: Envelope): Problem[] {
  if (protocol_version === PROTOCOL_VERSION) return [];
  const message = `only protocol_version ${PROTOCOL_VERSION} is spoken here, not ${quote(protocol_version)}`;
  return [{ code: 'PROTOCOL_VERSION', pointer: '/protocol_version', message }];
}

function checkReplay({ handoff_id }: Envelope, seen: VerifyOptions['seen']): Problem[] {
  if (!seen.has(handoff_id.toLowerCase())) return [];
  return [{ code: 'REPLAY', pointer: '/handoff_id', message: 'a handoff with this id was decided before' }];
}

function checkReach(
  source: Agent,
  target: Agent,
  envelope: Envelope,
  options: VerifyOptions,
  policy: Policy,
): readonly Problem[] {
  if (source.id === target.id) return options.origin === 'graph' ? [] : checkSelf(source, target);
  return checkBoundary(source, target, envelope.context.request, policy);
}

/** An agent that a problem of these stages names is not verified. About the other nothing is known yet. */
function blame(progress: VerifyProgress, problems: readonly Problem[]): readonly Problem[] {
  if (problems.length === 0) return problems;
  const isBlamed = (role: EndRole) => problems.some(({ pointer }) => pointer.startsWith(role, 1));
  if (isBlamed('source_agent')) progress.recomputed.source_agent_verified = false;
  if (isBlamed('target_agent')) progress.recomputed.target_agent_verified = false;
  return problems;
}

function suggestForUnknown(registry: Registry, envelope: Envelope, { code, pointer }: Problem) {
  if (code !== 'AGENT_UNKNOWN') return null;
  const ref = pointer.startsWith('/source_agent') ? envelope.source_agent : envelope.target_agent;
  return suggestId(registry, ref.agent_id);
}

function remarksOn(envelope: Envelope, source: Agent, target: Agent, options: VerifyOptions): Problem[] {
  const { scopes } = envelope.context.request;
  const remarks: Problem[] = [];
  if (sourceCouldDoIt(source, target, scopes)) {
    const message = `${source.id} covers everything that is asked of ${target.id}`;
    remarks.push({ code: 'SCOPE_SOURCE_COULD_DO_IT', pointer: '/context/request/scopes', message });
  }
  if (scopes && source.type === 'domain' && target.type === 'archetype') {
    const single = [...options.registry.agents.values()].find(
      (agent) =>
        agent.type === 'domain' &&
        edgesTo(source.collaboration, agent.id).length > 0 &&
        scopes.every((scope) => agent.scopes.includes(scope)),
    );
    const message = `${single?.id} alone covers everything that is asked`;
    if (single) remarks.push({ code: 'ARCHETYPE_NOT_NEEDED', pointer: '/target_agent/agent_id', message });
  }
  if (envelope.links?.parent_handoff_id !== undefined && !options.lookupParent) {
    const message = 'the parent handoff was not looked up';
    remarks.push({ code: 'PARENT_UNCHECKED', pointer: '/links/parent_handoff_id', message });
  }
  return remarks;
}
