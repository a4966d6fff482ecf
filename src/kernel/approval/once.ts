// The once-keys of approvals. An id is used once in the whole log, and so is each run of an approved command.
import type { Fact } from '../fact.ts';
import type { Request } from '../input.ts';
import { type Approval, type Approvals, approvalOf } from './state.ts';

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

/** Whether the next run of a command stands in the log already: then its request was appended a second time. */
export function hasRun(approval: Approval, index: number, used: Readonly<Record<string, number>> = {}): boolean {
  return Object.hasOwn(used, useKey(approval.id, index, nextRound(approval, index)));
}

export function nextRound({ uses }: Approval, index: number): number {
  const last = uses[index];
  return last ? last.round + 1 : 0;
}

function useKey(id: string, index: number, round: number): string {
  return `approval-used:${id}:${index}${round === 0 ? '' : `:${round}`}`;
}

/** Whether a key only says how an approval ended: one that is over may end again, where a script has appended it anew. */
export function isOfEnd(key: string): boolean {
  return /^approval-(?:rejected|expired|withdrawn):/.test(key);
}

export function approvalKeysWanted(request: Request, approvals: Approvals): readonly string[] {
  switch (request.kind) {
    case 'approval.request':
      return [KEYS.known(request.sealed.id)];
    case 'approval.decide':
    case 'approval.finish':
      return keysOfPast(request.id);
    case 'approval.use': {
      const approval = approvalOf(approvals, request.id);
      const runs = approval?.sealed.commands.map((_, index) => useKey(request.id, index, nextRound(approval, index)));
      return [...keysOfPast(request.id), ...(runs ?? [])];
    }
    default:
      return [];
  }
}

function keysOfPast(id: string): readonly string[] {
  return [KEYS.known(id), ...endKeysOf(id)];
}

/** The keys that say how an approval ended. */
export function endKeysOf(id: string): readonly string[] {
  return [KEYS.rejected(id), KEYS.expired(id), KEYS.withdrawn(id)];
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
      return [useKey(fact.id, fact.index, fact.round)];
    default:
      return [];
  }
}
