// Decisions that came before the agent asked for them in a report: it was told by a hook or a tool that a person has to
// agree, went on, and the person was faster. They are kept with the turn until its agent hears of them.
import type { Fact } from '../fact.ts';
import type { State, Turn } from '../state.ts';
import type { ApprovalFact } from './fact.ts';
import type { Origin, SealedRequest } from './request.ts';
import { approvalOf } from './state.ts';

export type Untold = {
  readonly id: string;
  /** Null where it was approved: then the approval itself says the rest. */
  readonly rejected: Rejected | null;
};

type Rejected = { readonly fingerprint: string; readonly by: string; readonly reason: string };

/** Looks at the approval as it is before the fact: what is rejected is not there any more afterwards. */
export function noteUntold({ casts, approvals }: State, fact: ApprovalFact): void {
  if (fact.kind !== 'approval.approved' && fact.kind !== 'approval.rejected') return;
  const turn = fact.cast === undefined ? undefined : casts[fact.cast]?.turns[fact.turn ?? 0];
  const approval = approvalOf(approvals, fact.id);
  // Who waits for it is told at once, and so is whoever asks for what nobody may decide.
  if (!turn || !approval || fact.relayed || fact.by === POLICY || turn.asks?.approval === fact.id) return;
  const { by, reason } = fact;
  const { fingerprint } = approval.sealed;
  const rejected = fact.kind === 'approval.rejected' ? { fingerprint, by, reason } : null;
  turn.untold = [...without(turn, fact.id), { id: fact.id, rejected }];
}

/** Who decides where no person may. */
export const POLICY = 'policy';

/** A turn that reports about an approval is told in the same decision what became of it. */
export function told(turn: Turn, { approval }: Extract<Fact, { kind: 'turn.reported' }>): void {
  const untold = approval === undefined ? (turn.untold ?? []) : without(turn, approval);
  if (untold.length > 0) turn.untold = untold;
  else delete turn.untold;
}

function without({ untold = [] }: Turn, id: string): readonly Untold[] {
  return untold.filter((one) => one.id !== id);
}

export function isUntold(state: State, id: string, from: Origin): boolean {
  return untoldOf(state, from).some((one) => one.id === id);
}

/** What a person has refused to the turn that asks for it now and has not heard of that. */
export function refusedUntold(
  state: State,
  { relays, fingerprint }: SealedRequest,
  from: Origin | null,
): (Rejected & { readonly id: string }) | null {
  for (const { id, rejected } of from ? untoldOf(state, from) : []) {
    if (rejected && (id === relays || rejected.fingerprint === fingerprint)) return { id, ...rejected };
  }
  return null;
}

function untoldOf({ casts }: State, { cast, turn }: Origin): readonly Untold[] {
  return casts[cast]?.turns[turn]?.untold ?? [];
}
