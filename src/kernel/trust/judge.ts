// The judgement on a foreign handoff: what the verifier found, put in order with what only the log knows, which is whether
// the id was used before and what waits for a person. Whatever comes of it is written down.
import { quarantined, STAGE } from '../gate/trust.ts';
import type { Input } from '../input.ts';
import type { Pen } from '../pen.ts';
import { scrub, scrubJson } from '../secrets.ts';
import { type Denied, deny, type Verdict } from '../verdict.ts';
import { usedBefore } from './once.ts';
import { block } from './quarantine.ts';
import { type Quarantine, quarantineOf, type RegistryTexts, type Trust } from './state.ts';

type Judge = Extract<Input, { kind: 'handoff.judge' }>;

export function judge(pen: Pen, input: Judge): Verdict {
  const { handoff, source, target, parent, envelopeDigest, contentDigest = null, requestDigest, refusal } = input;
  const stage = refusal?.stage ?? Number.POSITIVE_INFINITY;
  const used = usedBefore(input);
  const isReplay = stage >= STAGE.replay && used.id !== null;
  const judged = isReplay ? replay(input, used.id ?? 0) : standing(pen.state.trust, input, stage);
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

function standing(trust: Trust, input: Judge, stage: number): Verdict {
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

/** An honest sender that heard nothing sends the same again under a new id. Whoever acts on it should know. */
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
