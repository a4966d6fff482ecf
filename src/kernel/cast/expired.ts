// A permission that nobody gave in time. It is over at its time, whether or not anybody has noted that down yet; whoever only
// looks says so, and whoever carries the cast on notes it.
import type { CastStatus } from '../state.ts';

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
