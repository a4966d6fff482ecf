// How the desk keeps the records of life beside the facts: a claim's record comes and goes with the facts that begin and
// end the claim, and whether an owner is silent is decided on its newest record.
import type { Request } from '../kernel/input.ts';
import { beatChanges, beatName, beatOf, heardAt } from '../kernel/ledger/beat.ts';
import { isLedgerFact } from '../kernel/ledger/fact.ts';
import { findTask, type Ledger, tasksOf } from '../kernel/ledger/state.ts';
import type { Append, Held } from './ports.ts';

/** The fact with what it changes in the records. */
export function withLeases(append: Append, ledger: Ledger): Append {
  const { fact, at, clock = at } = append;
  const leases = isLedgerFact(fact) ? beatChanges(ledger, fact, clock) : [];
  return leases.length === 0 ? append : { ...append, leases };
}

/** A request that turns on who was heard of, with the newest signs of life, which stand in their records and nowhere else. */
export function withHeartbeat(request: Request, ledger: Ledger, held: Held, now: number): Request {
  if (request.kind === 'cast.recover') {
    const heard = tasksOf(ledger, request.cast).flatMap(({ id, fence }) => {
      const beat = fence === null ? null : beatOf(held(beatName(fence)));
      return beat ? [[id, heardAt(beat, now)] as const] : [];
    });
    return { ...request, heard: Object.fromEntries(heard) };
  }
  if (request.kind !== 'task.expire') return request;
  const found = findTask(ledger, request);
  const fence = found.ok ? found.task.fence : null;
  const beat = fence === null ? null : beatOf(held(beatName(fence)));
  return beat ? { ...request, lastHeartbeatAt: Math.max(heardAt(beat, now), request.lastHeartbeatAt ?? 0) } : request;
}
