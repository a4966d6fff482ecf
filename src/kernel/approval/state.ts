// The approvals that are open: those that wait for a person, and those that were granted and are not used up.
import type { Executor, Gone, Origin, SealedRequest } from './request.ts';

/** By id. What is rejected, expired or used up is in the log and not here. */
export type Approvals = Record<string, Approval>;

export type Approval = {
  readonly id: string;
  sealed: SealedRequest;
  readonly since: number;
  /** The turn that waits for it. */
  from: Origin | null;
  grant: Grant | null;
  /** By the place of the command in the list. */
  uses: Record<string, Use>;
};

export type Grant = {
  readonly by: string;
  readonly at: number;
  readonly until: number;
  readonly reason: string;
  /** The seal of the decision. A grant without one was written by an older version, or not by us; nothing runs under it. */
  readonly mac?: string;
  /** The commands that the decision lets run once more, each with the round it had come to. */
  readonly again?: readonly (readonly [index: number, round: number])[];
};

export type Use = {
  readonly at: number;
  readonly round: number;
  readonly executor: Executor;
  /** `again`: a person allowed it once more. */
  phase: 'started' | 'finished' | 'unknown' | 'again';
};

export function noApprovals(): Approvals {
  return {};
}

export function approvalOf(approvals: Approvals, id: string): Approval | null {
  return (Object.hasOwn(approvals, id) && approvals[id]) || null;
}

/** Until when it waits to be decided or, once it is, to be used. */
export function endOf({ sealed, grant }: Approval): number {
  return grant?.until ?? sealed.expiresAt;
}

/** The places of its commands that began, and of which it is not known how they ended. */
export function unsettledUses({ uses }: Approval): readonly number[] {
  return Object.entries(uses).flatMap(([index, { phase }]) =>
    phase === 'started' || phase === 'unknown' ? [Number(index)] : [],
  );
}

/** The commands with these places, each with the round it has come to. */
export function lastRounds({ uses }: Approval, places: readonly number[] = []): readonly (readonly [number, number])[] {
  return places.map((index) => [index, uses[index]?.round ?? 0]);
}

/** Those of them whose executors are gone. */
export function lostUses(approval: Approval, gone: Gone = []): readonly number[] {
  return unsettledUses(approval).filter((index) => {
    const executor = approval.uses[index]?.executor;
    return executor !== undefined && gone.some((one) => isSameExecutor(one, executor));
  });
}

export function isSameExecutor(a: Executor, b: Executor): boolean {
  return a.host === b.host && a.pid === b.pid && a.startTime === b.startTime;
}

export function isUnsettled(approval: Approval): boolean {
  return unsettledUses(approval).length > 0;
}

/** Whether its time is over: nothing of it begins from then on. */
export function isPast(approval: Approval, at: number): boolean {
  return at >= endOf(approval);
}

/** What nobody knows the end of does not become known by waiting. */
export function isDue(approval: Approval, at: number): boolean {
  return isPast(approval, at) && !isUnsettled(approval);
}

/** Whether nothing of it can be used any more. A permission in words is never used: it ends with its time or its turn. */
export function isSpent({ sealed, grant, uses }: Approval): boolean {
  const { commands } = sealed;
  return grant !== null && commands.length > 0 && commands.every((_, index) => uses[index]?.phase === 'finished');
}

/** The turn that waits, as every fact about its approval names it. */
export function turnOf(from: Origin | null): { readonly cast?: string; readonly turn?: number } {
  return from ? { cast: from.cast, turn: from.turn } : {};
}
