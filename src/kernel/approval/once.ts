// Ids of approvals are used once in the whole log, and so is each use of one: which keys a request has to know about, and
// which ones a fact uses up.
import type { Fact } from '../fact.ts';
import type { Request } from '../input.ts';

const KEYS = {
  known: (id: string) => `approval:${id}`,
  rejected: (id: string) => `approval-rejected:${id}`,
  expired: (id: string) => `approval-expired:${id}`,
  withdrawn: (id: string) => `approval-withdrawn:${id}`,
} as const;

export type Past = 'unknown' | 'rejected' | 'expired' | 'withdrawn' | 'used';

/** What became of an approval that is not open any more. */
export function pastOf(id: string, used: Readonly<Record<string, number>> = {}): Past {
  if (Object.hasOwn(used, KEYS.rejected(id))) return 'rejected';
  if (Object.hasOwn(used, KEYS.expired(id))) return 'expired';
  if (Object.hasOwn(used, KEYS.withdrawn(id))) return 'withdrawn';
  return Object.hasOwn(used, KEYS.known(id)) ? 'used' : 'unknown';
}

export function approvalKeysWanted(request: Request): readonly string[] {
  switch (request.kind) {
    case 'approval.request':
      return [KEYS.known(request.sealed.id)];
    case 'approval.decide':
    case 'approval.use':
    case 'approval.finish':
      return [KEYS.known, KEYS.rejected, KEYS.expired, KEYS.withdrawn].map((keyOf) => keyOf(request.id));
    default:
      return [];
  }
}

export function approvalKeysUsedBy(fact: Fact): readonly string[] {
  switch (fact.kind) {
    case 'approval.requested':
      return [KEYS.known(fact.id)];
    case 'approval.rejected':
      return fact.relayed ? [] : [KEYS.rejected(fact.id)];
    case 'approval.expired':
      return [KEYS.expired(fact.id)];
    case 'approval.withdrawn':
      return [KEYS.withdrawn(fact.id)];
    case 'approval.used':
      return [`approval-used:${fact.id}:${fact.index}${fact.round === 0 ? '' : `:${fact.round}`}`];
    default:
      return [];
  }
}
