// Ids that may be used once in the whole log: which ones a request wants to use, and which ones a fact has used.
import type { Fact } from '../fact.ts';
import type { Input, Request } from '../input.ts';

const keyOf = (handoffId: string) => `handoff:${handoffId.toLowerCase()}`;
/** One for each of those who are turned away, for what, at what and when; what a server still had counted at its end is apart. */
const refusalKeyOf = ({ who, minute, code, what, ended }: Noted) =>
  ['access', who, code, ...(what === undefined ? [] : [what]), ended ?? minute].join(':');
const contentKeyOf = (digest: string) => `content:${digest}`;

export function keysWanted(request: Request): readonly string[] {
  switch (request.kind) {
    case 'turn.prepared':
      return request.trust?.envelope ? [keyOf(request.trust.envelope.handoff_id)] : [];
    case 'handoff.judge':
      return [...idKeys(request.handoff), ...contentKeys(request.contentDigest)];
    case 'access.refuse':
      return [refusalKeyOf({ ...request, code: request.verdict.code })];
    default:
      return [];
  }
}

/** Where the id of a foreign handoff was used, or its content was accepted under any id; null where that never was. */
export function usedBefore({ used = {}, handoff, contentDigest }: Judged): Readonly<Record<Usage, number | null>> {
  const seqOf = ([key]: readonly string[]) =>
    key !== undefined && Object.hasOwn(used, key) ? (used[key] ?? null) : null;
  return { id: seqOf(idKeys(handoff)), content: seqOf(contentKeys(contentDigest)) };
}

type Judged = Pick<Extract<Input, { kind: 'handoff.judge' }>, 'used' | 'handoff' | 'contentDigest'>;
type Usage = 'id' | 'content';
type Noted = Pick<Extract<Fact, { kind: 'access.refused' }>, 'who' | 'code' | 'minute' | 'what' | 'ended'>;

const idKeys = (handoff: string | null) => (handoff === null ? [] : [keyOf(handoff)]);
const contentKeys = (digest: string | null | undefined) => (digest == null ? [] : [contentKeyOf(digest)]);

/**
 * A handoff that was refused before its id was looked at leaves the id unused. Content is noted by the first handoff that
 * is accepted with it, for as long as its id: to send again what was refused repeats nothing.
 */
export function keysUsedBy(fact: Fact): readonly string[] {
  switch (fact.kind) {
    case 'attempt.started':
      return fact.envelope ? [keyOf(fact.envelope.handoff_id)] : [];
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
