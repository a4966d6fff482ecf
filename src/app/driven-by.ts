// A cast that another process drives: the refusal, and how long to wait for a driver that cannot be looked at.
import { setTimeout as sleep } from 'node:timers/promises';
import { processState } from '../agents/process/process-state.ts';
import { sightOf } from '../engine/driver.ts';
import { type CastLease, type Driving, LEASE_MS } from '../engine/lease.ts';
import type { Store } from '../engine/store.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { Refused } from './refused.ts';

const LOOK_EVERY_MS = 250;

export function drivenBy(cast: string, lease: CastLease, baton: string): Denied {
  const { pid, host } = lease;
  const reason = `cast ${cast} is driven by process ${pid} on ${host}; ${wayOn(cast, lease, baton)}`;
  return deny('NOT_ALLOWED_NOW', reason, { pid, host });
}

function wayOn(cast: string, lease: CastLease, baton: string): string {
  const takeOver = `\`${baton} resume ${cast} --take-over\``;
  if (sightOf(lease) === 'unseen')
    return `it cannot be seen from here (another container or machine). If you know that it has ended, take over: ${takeOver}`;
  if (isStopped(lease.pid)) return `it is stopped. Continue it: \`kill -CONT ${lease.pid}\`, or take over: ${takeOver}`;
  return `\`${baton} watch ${cast}\` follows it`;
}

function isStopped(pid: number): boolean {
  return /^[Tt]$/.test(processState(pid)?.letter ?? '');
}

type Waiting = {
  readonly program: string;
  readonly note: (line: string) => void;
  readonly signal: AbortSignal;
};

/**
 * Waits until the lease of a driver that cannot be looked at ends. A driver that runs, or renews its lease, is a refusal.
 * Answers the fence that may be taken over.
 */
export async function outlast(
  store: Pick<Store, 'view'>,
  cast: string,
  driving: Driving,
  { program, note, signal }: Waiting,
): Promise<number> {
  const { pid, host, fence, until, sight } = driving;
  if (sight === 'runs' || until === null) throw new Refused(drivenBy(cast, driving, program));
  const leftMs = Math.min(LEASE_MS, Math.max(0, until - Date.now()));
  note(
    `Process ${pid} on ${host} drove cast ${cast} and cannot be seen from here. Waiting up to ${Math.ceil(leftMs / 1000)} s for its lease to end.`,
  );
  // By the time that passes, and not by the clock: a clock that was set back makes a lease look endless.
  for (const deadline = performance.now() + leftMs; performance.now() < deadline; ) {
    await sleep(LOOK_EVERY_MS, undefined, { signal });
    const now = await store.view('driver', cast);
    if (now === null) return fence;
    if (now.fence !== fence || now.until !== until) throw new Refused(drivenBy(cast, now, program));
  }
  return fence;
}
