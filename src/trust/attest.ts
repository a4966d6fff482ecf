// The attestation of one agent before it is dispatched: who it is, that its text is the pinned one, that its composition is
// allowed, and that its source may hand to it. An edge of a running cast gets an envelope, which is judged like any other.
// The first agent of a cast has no source.
import type { Tools } from '../kernel/graph/config.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import type { Problem } from '../kernel/trust/problem.ts';
import type { Attestation, EnvelopeNote, Mediation, Refusal } from '../kernel/trust/state.ts';
import type { TrustWatch } from '../kernel/trust/watch.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import type { Agent, Registry } from './agent.ts';
import { INCIDENTS, refusal as refusalAt, suggestId } from './answer.ts';
import { checkComposition, coveredScopes, mediatorBetween } from './boundary.ts';
import { type AgentRef, type Envelope, type HandoffRequest, type HandoffState, PROTOCOL_VERSION } from './envelope.ts';
import { checkHashes, checkVersions, type End } from './identity.ts';
import type { PastHandoff } from './lineage.ts';
import { driftFrom, isUtf8 } from './lock.ts';
import { isPinnedModel } from './manifest.ts';
import { type StageName, TRUST_POLICY } from './stage.ts';
import { MAX_AGE_S, MAX_SKEW_S, verifyHandoff } from './verify.ts';

type Attested = {
  readonly attestation: Attestation | null;
  readonly envelope: EnvelopeNote | null;
  readonly refusal: Refusal | null;
};

/** What comes from outside with the watch: a new id, the time, and the digest of the prompt that will be sent. */
export type AttestInput = {
  readonly handoffId: string;
  readonly timestamp: string;
  readonly promptHash: string;
  /** The id of the handoff to an orchestrator, where the boundary asks for one. */
  readonly mediationId?: string;
};

const NO_HASH = '0'.repeat(64);
const NOTHING_SEEN = { has: () => false };

export function attest(registry: Registry, lockHash: string, watch: TrustWatch, given: AttestInput): Attested {
  const { target, source } = watch;
  const agent = target === null ? undefined : registry.agents.get(target);
  if (!registry.usable || target === null || !agent) return refused(unknown(registry, watch));
  if (agent.lockedHash !== given.promptHash && agent.bytesMatch && agent.prompt && !isUtf8(agent.prompt))
    return refused(asRefusal(unsendable(agent), ''));
  const attestation = attestationOf(registry, lockHash, agent, watch, given);
  if (source === null) {
    const denied = judgeAlone(registry, agent, given);
    return denied ? refused(asRefusal(denied, given.promptHash)) : { attestation, envelope: null, refusal: null };
  }
  const mediated = mediationFor(registry, agent, source, watch, given);
  if (mediated && 'refusal' in mediated) return refused(mediated.refusal);
  const hop = mediated
    ? { ...watch, origin: source, source: mediated.mediation.agent, parent: mediated.mediation.handoff_id }
    : watch;
  const envelope = envelopeFor(registry, agent, hop.source ?? source, hop, given);
  const verdict = judgeEnvelope(registry, envelope, hop, given.timestamp);
  if (!verdict.allow) return refused(asRefusal(verdict, given.promptHash));
  const { envelope_digest: digest, pattern, warnings } = verdict.details;
  const flags = Array.isArray(warnings) ? warnings.filter(isObject).filter(({ code }) => isInjection(code)) : [];
  const note: EnvelopeNote = {
    handoff_id: envelope.handoff_id,
    timestamp: envelope.timestamp,
    digest: isString(digest) ? digest : '',
    pattern: typeof pattern === 'number' ? pattern : null,
    ...(flags.length > 0 ? { warnings: flags.slice(0, FLAGS_MAX) } : {}),
    envelope: envelope as unknown as JsonObject,
    ...(mediated ? { mediation: mediated.mediation } : {}),
  };
  return { attestation, envelope: note, refusal: null };
}

function judgeEnvelope(registry: Registry, envelope: Envelope, watch: TrustWatch, now: string): Verdict {
  return verifyHandoff(envelope, {
    registry,
    now,
    seen: NOTHING_SEEN,
    maxAgeS: MAX_AGE_S,
    maxSkewS: MAX_SKEW_S,
    policy: { phrases: 'flag' },
    origin: 'graph',
    isCleared: (digest) => watch.cleared.includes(digest),
    ...(watch.parent === null ? {} : { lookupParent: (id) => pastOf(watch, id) }),
  });
}

type Mediated = { readonly mediation: Mediation } | { readonly refusal: Refusal };

/**
 * The handoff to the orchestrator, where the boundary of the source asks for one. It is an envelope of its own, and the one to
 * the target names it as its parent. Null where the source hands over directly.
 */
function mediationFor(
  registry: Registry,
  target: Agent,
  source: string,
  watch: TrustWatch,
  { mediationId, timestamp }: AttestInput,
): Mediated | null {
  const from = registry.agents.get(source);
  if (!from || mediationId === undefined) return null;
  const asked = { ...(watch.request as unknown as HandoffRequest), ...scopesOf(registry, target, watch) };
  const through = registry.agents.get(mediatorBetween(registry.agents.values(), from, target, asked) ?? '');
  if (!through) return null;
  const promptHash = through.lockedHash ?? NO_HASH;
  const given = { handoffId: mediationId, timestamp, promptHash };
  const envelope = envelopeFor(registry, through, source, watch, given);
  const verdict = judgeEnvelope(registry, envelope, watch, timestamp);
  if (!verdict.allow) return { refusal: asRefusal(verdict, promptHash) };
  const { handoff_id } = envelope;
  return { mediation: { agent: through.id, handoff_id, envelope: envelope as unknown as JsonObject } };
}

/** More than a person would read through say no more. */
const FLAGS_MAX = 10;

function isInjection(code: Json | undefined): boolean {
  return isString(code) && code.startsWith('INJECTION_');
}

/** A refusal of the verifier with its place in the order, and what it asks to be blocked. */
export function asRefusal(verdict: Denied, claimedHash: string): Refusal {
  const { stage, incident } = verdict.details;
  return { stage: typeof stage === 'number' ? stage : 1, verdict, blocks: blocksOf(incident ?? null, claimedHash) };
}

function blocksOf(incident: unknown, claimedHash: string): Refusal['blocks'] {
  if (!isObject(incident)) return null;
  const { agent_id, blocks, context_digest } = incident;
  if (blocks === 'context')
    return isString(context_digest) ? { agent: null, hash: null, context: context_digest } : null;
  if (!isString(agent_id)) return null;
  return { agent: agent_id, hash: blocks === 'pair' ? claimedHash : null, context: null };
}

function refused(refusal: Refusal): Attested {
  return { attestation: null, envelope: null, refusal };
}

function unknown(registry: Registry, { target, materia }: TrustWatch): Refusal {
  if (!registry.usable) {
    const causes = registry.diagnostics.filter(({ level }) => level === 'fatal');
    const problems: Problem[] = [
      {
        code: 'REGISTRY_UNUSABLE',
        pointer: '',
        message: `the registry cannot be used: ${causes[0]?.message ?? 'it is not there'}; see \`baton registry verify\``,
      },
      ...causes.map(({ code, message }) => ({ code, pointer: '', message })),
    ];
    return asRefusal(refusalAt('registry', problems), '');
  }
  const message =
    target === null
      ? `the materia ${materia} has no identity; give it the canonical id of an agent in the manifest`
      : `the manifest has no agent with the canonical id ${JSON.stringify(target.slice(0, 80))}, the identity of the materia ${materia}`;
  const problems: Problem[] = [{ code: 'AGENT_UNKNOWN', pointer: '/target_agent/agent_id', message }];
  return asRefusal(refusalAt('agents', problems, target === null ? null : suggestId(registry, target)), '');
}

/** The checks that concern one agent, in their order. */
function judgeAlone(registry: Registry, agent: Agent, given: AttestInput): Denied | null {
  const ref = refOf(agent, given.promptHash);
  const ends: End[] = [{ role: 'target_agent', ref, agent }];
  const at = '/target_agent/agent_id';
  const stages: readonly (readonly [StageName, readonly Problem[]])[] = [
    ['agents', statusOfAgent(agent)],
    ['version', checkVersions(ends)],
    ['hash', checkHashes(ends)],
    ['composition', checkComposition(registry, agent, at, TRUST_POLICY)],
  ];
  const [stage, problems] = stages.find(([, found]) => found.length > 0) ?? [];
  if (!stage || !problems) return null;
  const denied = refusalAt(stage, problems);
  const blocks = problems[0] && INCIDENTS[problems[0].code];
  return blocks
    ? { ...denied, details: { ...denied.details, incident: { event: denied.code, agent_id: agent.id, blocks } } }
    : denied;
}

/** No other prompt than the pinned one is in use, so nothing has to be blocked. */
function unsendable({ id }: Agent): Denied {
  const message = `the pinned prompt of ${id} is not UTF-8 text, so that no cast can send it; save it as UTF-8, raise its version and lock it`;
  return refusalAt('hash', [{ code: 'PROMPT_NOT_TEXT', pointer: '/target_agent/agent_id', message }]);
}

function statusOfAgent(agent: Agent): Problem[] {
  const at = '/target_agent/agent_id';
  const fault = agent.faults.find(({ code }) => code === 'AGENT_UNKNOWN' || code === 'AGENT_TYPE_MISMATCH');
  if (fault) return [{ code: fault.code, pointer: at, message: `${agent.id}: ${fault.message}` }];
  return agent.status === 'retired' ? [{ code: 'AGENT_RETIRED', pointer: at, message: `${agent.id} is retired` }] : [];
}

function attestationOf(
  registry: Registry,
  lockHash: string,
  agent: Agent,
  watch: TrustWatch,
  given: AttestInput,
): Attestation {
  const { runner, model, tools } = watch;
  return {
    agent: agent.id,
    type: agent.type,
    version: agent.version,
    promptHash: given.promptHash,
    registry: registry.digest ?? '',
    lockHash,
    composition: agent.composition && Object.fromEntries(agent.composition),
    runner,
    model,
    tools,
    pinned: isPinnedModel(model),
    drift: driftFrom(agent.approval, { runner, model, tools: toolsJson(tools) }),
  };
}

function toolsJson(tools: Tools) {
  return typeof tools === 'string' ? tools : { ...tools };
}

function envelopeFor(
  registry: Registry,
  target: Agent,
  source: string,
  watch: TrustWatch,
  given: AttestInput,
): Envelope {
  const from = registry.agents.get(source);
  return {
    handoff_id: given.handoffId,
    timestamp: given.timestamp,
    protocol_version: PROTOCOL_VERSION,
    source_agent: from ? refOf(from, from.lockedHash ?? NO_HASH) : strangerRef(source),
    target_agent: refOf(target, given.promptHash),
    context: {
      request: { ...(watch.request as unknown as HandoffRequest), ...scopesOf(registry, target, watch) },
      state: watch.state as unknown as HandoffState,
    },
    // The verifier checks each again. One that does not hold refuses the envelope.
    governance: {
      source_agent_verified: true,
      target_agent_verified: true,
      composition_valid: true,
      boundaries_respected: true,
      audit_trail: watch.auditTrail,
    },
    ...(watch.parent === null ? {} : { links: { parent_handoff_id: watch.parent } }),
  };
}

/**
 * The surfaces of the work that agents declare as their scopes. Of several parts the target has to cover one: the others are for
 * other agents.
 */
function scopesOf(registry: Registry, target: Agent, { surfaces }: TrustWatch): Pick<HandoffRequest, 'scopes'> {
  const declared = surfaces.filter((surface) => registry.scopes.has(surface));
  const covered = coveredScopes(registry, target);
  const own = declared.filter((scope) => covered.has(scope));
  const scopes = own.length > 0 ? own : declared;
  return scopes.length === 0 ? {} : { scopes };
}

/** Where the file itself is not the locked one, that is the fault, and not that the cast was started with it. */
function refOf(agent: Agent, promptHash: string): AgentRef {
  const prompt_hash = agent.bytesMatch ? promptHash : (agent.lockedHash ?? NO_HASH);
  return { agent_type: agent.type, agent_id: agent.id, agent_version: agent.version, prompt_hash };
}

function strangerRef(id: string): AgentRef {
  return { agent_type: 'domain', agent_id: id, agent_version: '0.0.0', prompt_hash: NO_HASH };
}

/** The handoff by which the source got the work, as the cast knows it. */
function pastOf({ parent, origin, source }: TrustWatch, id: string): PastHandoff | null {
  if (id !== parent || source === null || origin === null) return null;
  return { accepted: true, source: origin, target: source, requestDigest: '', parent: null };
}
