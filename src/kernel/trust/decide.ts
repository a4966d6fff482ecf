// Requests about trust become facts and a verdict. A foreign handoff is judged here: the verifier's finding, the ids used
// before, and what is in quarantine. Every judgement is written down.
import type { Fact } from '../fact.ts';
import type { Input, Request } from '../input.ts';
import { scrub, scrubJson } from '../secrets.ts';
import type { Pen } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { block, carryOver, quarantined, release, STAGE } from './quarantine.ts';
import {
  type EnvelopeNote,
  type LoadedRegistry,
  type Quarantine,
  quarantineOf,
  type RegistryTexts,
  type Trust,
  type TrustRequest,
} from './state.ts';

export function decideTrust(pen: Pen, input: Extract<Input, { kind: TrustRequest['kind'] }>): Verdict {
  switch (input.kind) {
    case 'registry.load':
      load(pen, input.registry, input.texts, input.reason);
      return allow(`the registry ${input.registry.digest.slice(0, 12)} is in force`);
    case 'quarantine.carry':
      return carryOver(pen, input.blocked);
    case 'quarantine.release':
      return release(pen, input);
    case 'handoff.judge':
      return judge(pen, input);
    case 'access.refuse':
      return turnedAway(pen, input);
  }
}

/** Notes a registry where it is another one than before. */
export function load({ state, write }: Pen, registry: LoadedRegistry, texts?: RegistryTexts, reason?: string): void {
  const known = state.trust.registry;
  if (known?.digest === registry.digest && known.lock === registry.lock) return;
  write({
    kind: 'registry.loaded',
    registry,
    ...(texts ? { texts } : {}),
    ...(reason === undefined ? {} : { reason }),
  });
}

/** A flood of refusals must not become one of the log: what was noted in this minute is not noted again. */
function turnedAway(pen: Pen, input: Extract<Input, { kind: 'access.refuse' }>): Verdict {
  const { who, verdict, minute, times, what, ended, used = {} } = input;
  if (Object.keys(used).length > 0) return allow('it is noted for this minute', { noted: false });
  const more = { ...(what === undefined ? {} : { what }), ...(ended === undefined ? {} : { ended }) };
  const reason = scrub(verdict.reason).text;
  pen.write({ kind: 'access.refused', who, code: verdict.code, reason, minute, times, ...more });
  return allow('it is noted', { noted: true });
}

type Judge = Extract<Input, { kind: 'handoff.judge' }>;

export function judge(pen: Pen, input: Judge): Verdict {
  const { handoff, source, target, parent, envelopeDigest, contentDigest = null, requestDigest, refusal } = input;
  const stage = refusal?.stage ?? Number.POSITIVE_INFINITY;
  const used = usedBefore(input);
  const isReplay = stage >= STAGE.replay && used.id !== null;
  const judged = isReplay ? replay(input, used.id ?? 0) : verdictNow(pen.state.trust, input, stage);
  const duplicateOf = judged.allow ? used.content : null;
  const verdict = duplicateOf === null ? judged : duplicate(judged, duplicateOf);
  pen.write({
    kind: 'handoff.judged',
    handoff,
    usesId: stage >= STAGE.replay && !isReplay,
    source,
    target,
    parent,
    allow: verdict.allow,
    code: verdict.code,
    reason: scrub(verdict.reason).text,
    details: scrubJson(verdict.details).value as Verdict['details'],
    envelopeDigest,
    contentDigest,
    ...(duplicateOf === null ? {} : { duplicateOf }),
    requestDigest,
    registryDigest: input.registry?.digest ?? null,
    ...foreignTexts(pen.state.trust, input),
    envelope: scrub(input.envelope).text,
  });
  if (refusal && !isReplay) block(pen, refusal, { handoff });
  return verdict;
}

/** What a verdict was made under can be read again: the registry in force in its own fact, any other one here. */
function foreignTexts({ registry }: Trust, input: Judge): { readonly registryTexts?: RegistryTexts } {
  const isInForce = registry !== null && registry.digest === input.registry?.digest;
  return input.registryTexts && !isInForce ? { registryTexts: input.registryTexts } : {};
}

function verdictNow(trust: Trust, input: Judge, stage: number): Verdict {
  const blocking = stage <= STAGE.agents ? null : blockingOf(trust, input);
  if (!blocking) return input.verdict;
  const { reason, code, details } = quarantined(blocking.by);
  return deny(code, reason, { ...input.otherwise[blocking.end].details, ...details });
}

type Blocking = { readonly end: 'source' | 'target'; readonly by: Quarantine };

function blockingOf(trust: Trust, input: Judge): Blocking | null {
  for (const end of ['source', 'target'] as const) {
    const agent = input[end];
    const by = agent === null ? null : quarantineOf(trust, agent, input.claimed[end]);
    if (by) return { end, by };
  }
  return null;
}

function replay({ otherwise }: Judge, seq: number): Denied {
  return deny('REPLAY', 'a handoff with this id was decided before', { ...otherwise.replay.details, prior: { seq } });
}

/** An honest sender without an answer sends the same again under a new id. The receiver should know. */
function duplicate(judged: Verdict, seq: number): Verdict {
  const remark = {
    code: 'DUPLICATE_CONTENT',
    pointer: '',
    message: 'the same content was accepted before, under another id',
  };
  const { warnings } = judged.details;
  const all = [...(Array.isArray(warnings) ? warnings : []), remark];
  return { ...judged, details: { ...judged.details, warnings: all, duplicate_of: { seq } } };
}

const keyOf = (handoffId: string) => `handoff:${handoffId.toLowerCase()}`;
/** One for each of those who are turned away, for what, at what and when; what a server still had counted at its end is apart. */
const refusalKeyOf = ({ who, minute, code, what, ended }: Noted) =>
  ['access', who, code, ...(what === undefined ? [] : [what]), ended ?? minute].join(':');
const contentKeyOf = (digest: string) => `content:${digest}`;

export function trustKeysNeeded(request: Request): readonly string[] {
  switch (request.kind) {
    case 'turn.prepared':
      return request.trust?.envelope ? envelopeKeys(request.trust.envelope) : [];
    case 'handoff.judge':
      return [...idKeys(request.handoff), ...contentKeys(request.contentDigest)];
    case 'access.refuse':
      return [refusalKeyOf({ ...request, code: request.verdict.code })];
    default:
      return [];
  }
}

/** Where the id of a foreign handoff was used, or its content was accepted under any id; null where that never was. */
function usedBefore({ used = {}, handoff, contentDigest }: Judged): Readonly<Record<Usage, number | null>> {
  const seqOf = ([key]: readonly string[]) =>
    key !== undefined && Object.hasOwn(used, key) ? (used[key] ?? null) : null;
  return { id: seqOf(idKeys(handoff)), content: seqOf(contentKeys(contentDigest)) };
}

type Judged = Pick<Extract<Input, { kind: 'handoff.judge' }>, 'used' | 'handoff' | 'contentDigest'>;
type Usage = 'id' | 'content';
type Noted = Pick<Extract<Fact, { kind: 'access.refused' }>, 'who' | 'code' | 'minute' | 'what' | 'ended'>;

const envelopeKeys = ({ handoff_id, mediation }: EnvelopeNote) =>
  [handoff_id, ...(mediation ? [mediation.handoff_id] : [])].map(keyOf);
const idKeys = (handoff: string | null) => (handoff === null ? [] : [keyOf(handoff)]);
const contentKeys = (digest: string | null | undefined) => (digest == null ? [] : [contentKeyOf(digest)]);

/**
 * A handoff that was refused before its id was looked at leaves the id unused. Content is noted by the first handoff that
 * is accepted with it, for as long as its id: to send again what was refused repeats nothing.
 */
export function keysUsedBy(fact: Fact): readonly string[] {
  switch (fact.kind) {
    case 'attempt.started':
      return fact.envelope ? envelopeKeys(fact.envelope) : [];
    case 'handoff.judged':
      return [
        ...(fact.usesId ? idKeys(fact.handoff) : []),
        ...(fact.allow && fact.duplicateOf === undefined ? contentKeys(fact.contentDigest) : []),
      ];
    case 'access.refused':
      return [refusalKeyOf(fact)];
    default:
      return [];
  }
}
