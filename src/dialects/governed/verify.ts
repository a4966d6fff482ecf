// The verifier of handoffs. Its stages run in a fixed order and stop at the first that finds something; that stage is
// heard to its end, so that a sender learns all of it at once. Clock, memory of ids, quarantine and earlier handoffs
// are passed in: the same facts always give the same verdict. What cannot be established is refused.
import type { Json } from '../../kernel/json.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { accepted, type Progress, rejected } from './answer.ts';
import { checkClaims, claimedBy, NOTHING_RECOMPUTED } from './attestation.ts';
import { checkBoundary, checkSelf } from './boundary.ts';
import { digestOf } from './canonical.ts';
import { denies, edgesTo } from './collaboration.ts';
import { checkComposition } from './composition.ts';
import { checkSchema, type Envelope } from './envelope.ts';
import { checkHashes, checkQuarantine, checkVersions, type End, type Role, resolveEnds } from './identity.ts';
import { checkInjection } from './injection.ts';
import { checkChain, checkOriginator, checkParent, type LookupParent, lineageOf, originatorOf } from './lineage.ts';
import { parseEnvelope } from './parse.ts';
import { patternOf } from './pattern.ts';
import { DEFAULT_POLICY, type Policy } from './policy.ts';
import { type Problem, quote } from './problem.ts';
import type { Agent, Registry } from './registry.ts';
import { PROTOCOL_VERSION } from './schema.ts';
import { checkScope, sourceCouldDoIt } from './scope.ts';
import type { StageName } from './stage.ts';
import { suggestId, suggestTarget } from './suggestion.ts';
import { checkFreshness, checkTimestampForm, readInstant } from './timestamp.ts';

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
  /** What a check of the received bytes found, where signatures are in use. */
  readonly signature?: 'valid' | 'invalid' | 'absent';
  /**
   * `graph` is an envelope minted for an edge of a running cast: a graph may loop and may wait for days, so freshness,
   * self-handoff, chain length and cycles are judged for foreign envelopes only.
   */
  readonly origin?: 'foreign' | 'graph';
};

export const MAX_AGE_S = 300;
export const MAX_SKEW_S = 60;

/** `input` is the exact text of an envelope, or an envelope already parsed. */
export function verifyHandoff(input: unknown, options: VerifyOptions): Verdict {
  const now = readInstant(options.now);
  if (now === null) return deny('BAD_USAGE', 'now must be a date and time with an offset, like 2026-02-11T00:45:02Z');
  const progress: Progress = {
    registry: options.registry,
    value: null,
    envelope: null,
    recomputed: NOTHING_RECOMPUTED,
    warnings: [],
    pattern: null,
    suggest: () => null,
  };
  for (const [stage, problems] of run(input, options, now, progress)) {
    if (problems.length > 0) return rejected(stage, problems, progress);
  }
  return accepted(progress);
}

type Outcome = readonly [stage: StageName, problems: readonly Problem[]];

// Each `yield` ends a stage; the reader asks for the next one only when it found nothing.
function* run(input: unknown, options: VerifyOptions, now: bigint, progress: Progress): Generator<Outcome> {
  const { registry } = options;
  const policy: Policy = { ...DEFAULT_POLICY, ...options.policy };
  yield ['registry', checkUsable(registry)];

  const parsed = parseEnvelope(input);
  if (!parsed.ok) return yield ['parse', parsed.problems];
  progress.value = parsed.value;
  yield ['signature', checkSignature(options.signature ?? 'absent', policy)];

  const { problems, unknown } = checkSchema(parsed.value);
  yield ['schema', policy.strictMembers ? [...problems, ...unknown] : problems];
  progress.warnings.push(...unknown);
  const envelope = parsed.value as unknown as Envelope;
  progress.envelope = envelope;

  yield ['protocol', checkProtocol(envelope)];
  const { timestamp } = envelope;
  const window = { now, maxAgeS: options.maxAgeS, maxSkewS: options.maxSkewS };
  const isForeign = options.origin !== 'graph';
  yield ['timestamp', isForeign ? checkFreshness(timestamp, window) : checkTimestampForm(timestamp)];
  yield ['replay', checkReplay(envelope, options.seen)];

  const resolved = resolveEnds(registry, envelope);
  progress.suggest = (problem) => suggestForUnknown(registry, envelope, problem);
  yield ['agents', blame(progress, resolved.problems)];
  const [source, target] = resolved.ends;
  if (!source || !target) return;
  yield* verifyEnds(envelope, source, target, options, policy, progress);
}

function* verifyEnds(
  envelope: Envelope,
  source: End,
  target: End,
  options: VerifyOptions,
  policy: Policy,
  progress: Progress,
): Generator<Outcome> {
  const { registry, quarantined = () => false } = options;
  const ends = [source, target];
  const isQuarantined = (agent: Agent) => quarantined(agent.id, agent.lockedHash ?? '');
  yield ['quarantine', blame(progress, checkQuarantine(ends, quarantined))];
  yield ['version', blame(progress, checkVersions(ends))];
  const hashProblems = checkHashes(ends);
  note(progress, { source_agent_verified: true, target_agent_verified: true });
  yield ['hash', blame(progress, hashProblems)];

  const compositionProblems = ends.flatMap(({ agent, role }) =>
    checkComposition(registry, agent, `/${role}/agent_id`, policy, isQuarantined),
  );
  note(progress, { composition_valid: compositionProblems.length === 0 });
  yield ['composition', compositionProblems];

  const { request } = envelope.context;
  const lineage = lineageOf(envelope, options.lookupParent ?? (() => null));
  const originator = originatorOf(source.agent, lineage, registry);
  progress.suggest = ({ code, pointer }) => {
    if (!MISDIRECTED.includes(code) || pointer.startsWith('/links')) return null;
    const isBlocked = (agent: Agent) =>
      isQuarantined(agent) || (originator !== null && denies(originator.collaboration, agent.id));
    const refused = { code, source: source.agent, target: target.agent, asked: request, isBlocked };
    return suggestTarget(registry, refused, policy);
  };
  const boundaryProblems = [...checkReach(source.agent, target.agent, envelope, options, policy)];
  if (options.lookupParent || envelope.links?.parent_handoff_id === undefined) {
    boundaryProblems.push(...checkParent(envelope, source.agent, lineage, policy));
  }
  boundaryProblems.push(...checkOriginator(originator, target.agent));
  if (options.origin !== 'graph') {
    const requestDigest = digestOf(request as unknown as Json, registry.sha256);
    boundaryProblems.push(...checkChain(source.agent, target.agent, requestDigest, lineage));
  }
  if (boundaryProblems.length > 0) note(progress, { boundaries_respected: false });
  yield ['boundary', boundaryProblems];
  progress.pattern = patternOf(source.agent.type, target.agent.type, policy);

  const scopeProblems = checkScope(registry, target.agent, request.scopes, policy);
  note(progress, { boundaries_respected: scopeProblems.length === 0 });
  yield ['scope', scopeProblems];
  progress.warnings.push(...remarksOn(envelope, source.agent, target.agent, options));

  const injection = checkInjection(envelope, policy);
  yield ['injection', injection.problems];
  progress.warnings.push(...injection.flags);
  yield ['attestation', checkClaims(claimedBy(envelope))];
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
  return [
    { code: 'REGISTRY_UNUSABLE', pointer: '', message: 'the registry cannot be used, so every handoff is refused' },
    ...causes.map(({ code, message }) => ({ code, pointer: '', message })),
  ];
}

function checkSignature(signature: 'valid' | 'invalid' | 'absent', policy: Policy): Problem[] {
  if (signature === 'valid' || (signature === 'absent' && !policy.requireSignature)) return [];
  return [{ code: 'SIGNATURE_INVALID', pointer: '', message: `the signature of the envelope is ${signature}` }];
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

// Whoever a problem of these stages points at is not verified; about the other nothing is known yet.
function blame(progress: Progress, problems: readonly Problem[]): readonly Problem[] {
  const isBlamed = (role: Role) => problems.some(({ pointer }) => pointer.startsWith(`/${role}/`));
  if (isBlamed('source_agent')) note(progress, { source_agent_verified: false });
  if (isBlamed('target_agent')) note(progress, { target_agent_verified: false });
  return problems;
}

function note(progress: Progress, found: Partial<Progress['recomputed']>): void {
  progress.recomputed = { ...progress.recomputed, ...found };
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
