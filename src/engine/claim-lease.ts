// Records of life next to the facts. The record of a claim comes and goes with the facts that begin and end the claim.
// Whether an owner is silent is decided by its newest record.
import type { Request } from '../kernel/input.ts';
import { isLedgerFact } from '../kernel/ledger/fact.ts';
import { beatChanges, beatName, beatOf, heardAt } from '../kernel/ledger/move.ts';
import { findTask, type Ledger, type Task, tasksOf } from '../kernel/ledger/state.ts';
import type { Append, LeaseValues } from './ports.ts';

/** The fact with what it changes in the records. */
export function withLeases(append: Append, ledger: Ledger): Append {
  const { fact, at, clock = at } = append;
  const leases = isLedgerFact(fact) ? beatChanges(ledger, fact, clock) : [];
  return leases.length === 0 ? append : { ...append, leases };
}

/** The records that decide whether an owner is silent, as far as the request asks about one. */
export function recordsFor(request: Request, ledger: Ledger): readonly string[] {
  return fencesOf(request, ledger).map(({ fence }) => beatName(fence));
}

/** A request that asks who is silent, with the newest signs of life. They are in their records and nowhere else. */
export function withHeartbeat(request: Request, ledger: Ledger, held: LeaseValues, now: number): Request {
  const heard = fencesOf(request, ledger).flatMap(({ id, fence }) => {
    const beat = beatOf(held(beatName(fence)));
    return beat ? [[id, heardAt(beat, now)] as const] : [];
  });
  if (request.kind === 'cast.recover') return { ...request, heard: Object.fromEntries(heard) };
  const [last] = heard;
  if (request.kind !== 'task.expire' || !last) return request;
  return { ...request, lastHeartbeatAt: Math.max(last[1], request.lastHeartbeatAt ?? 0) };
}

/** The claims that a request asks about. */
function fencesOf(request: Request, ledger: Ledger): readonly { readonly id: string; readonly fence: number }[] {
  if (request.kind === 'cast.recover') return tasksOf(ledger, request.cast).flatMap(claimOf);
  const found = request.kind === 'task.expire' ? findTask(ledger, request) : null;
  return found?.ok ? claimOf(found.task) : [];
}

function claimOf({ id, fence }: Task): { id: string; fence: number }[] {
  return fence === null ? [] : [{ id, fence }];
}
