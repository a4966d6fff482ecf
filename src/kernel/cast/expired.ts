// A permission that nobody gave in time. It is over at its time, whether or not anybody has noted that down yet; whoever only
// looks says so, and whoever carries the cast on notes it.
import { approvalOf, isUnsettled } from '../approval/state.ts';
import type { Cast, CastStatus, Turn } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';
import type { Pen } from './pen.ts';

/** The words with which a cast stands; `until` is the end of the permission it waits for. */
export type Stands = {
  readonly status: CastStatus;
  readonly code: string | null;
  readonly reason: string;
  readonly until?: number;
};

/** Whether a cast waits for a permission whose time is over. */
export function isExpired({ status, code, until }: Stands, now: number): boolean {
  return status === 'waiting' && code === 'APPROVAL_NEEDED' && until !== undefined && now >= until;
}

/** What a cast says of itself now: its own words, until the permission that they speak of is over. */
export function saidNow(cast: string, stands: Stands, now: number): Pick<Stands, 'code' | 'reason'> {
  const { code, reason, until = 0 } = stands;
  if (!isExpired(stands, now)) return { code, reason };
  const when = new Date(until).toISOString();
  const told = `nobody decided in time: the permission it asked for expired at ${when}; the agent is told when you carry on with: baton continue ${cast}`;
  return { code: 'APPROVAL_EXPIRED', reason: told };
}

/**
 * Why nothing can be said to a turn any more about the permission it waits for; null while that can still be given, and where
 * it was, began, and nobody knows how it ended, which does not expire.
 */
export function refusalOfLate({ state, at }: Pen, cast: Cast, { id, asks }: Turn): Denied | null {
  const { approval, until = at + 1 } = asks ?? {};
  const stored = approvalOf(state.approvals, approval ?? '');
  if (!approval || at < until || (stored && isUnsettled(stored))) return null;
  const reason = `turn ${id} waits for nobody: the permission ${approval} that it asked for has expired. Its agent is told that and goes on; should the cast stand still, carry it on with: baton continue ${cast.id}`;
  return deny('APPROVAL_EXPIRED', reason, { approval });
}
