// Ids that may be used once in the whole log: which ones a request wants to use, and which ones a fact has used.
import type { Fact } from '../fact.ts';
import type { Request } from '../input.ts';

const keyOf = (handoffId: string) => `handoff:${handoffId.toLowerCase()}`;

export function keysWanted(request: Request): readonly string[] {
  switch (request.kind) {
    case 'turn.prepared':
      return request.trust?.envelope ? [keyOf(request.trust.envelope.handoff_id)] : [];
    case 'handoff.judge':
      return request.handoff === null ? [] : [keyOf(request.handoff)];
    default:
      return [];
  }
}

/** A handoff that was refused before its id was looked at leaves the id unused. */
export function keysUsedBy(fact: Fact): readonly string[] {
  switch (fact.kind) {
    case 'attempt.started':
      return fact.envelope ? [keyOf(fact.envelope.handoff_id)] : [];
    case 'handoff.judged':
      return fact.handoff !== null && fact.usesId ? [keyOf(fact.handoff)] : [];
    default:
      return [];
  }
}
