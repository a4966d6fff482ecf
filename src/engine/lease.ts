// The lease of a cast: which process drives it, and until when that holds if the process cannot be looked at. Each lease has
// a larger fence than every lease before it in the workspace. A driver names its fence with every commit, so a driver that
// lost its lease can commit nothing more.
import { type Denied, deny } from '../kernel/verdict.ts';
import { type Driver, isSame, type Sight, sightOf } from './driver.ts';
import type { LeaseChange, LeaseValues, Log } from './ports.ts';

export const LEASE_MS = 60_000;
export const RENEW_MS = 15_000;

/** In registers of earlier versions fence and end are missing. */
export type CastLease = Driver & {
  readonly fence: number;
  /** By the clock of the store; null in a register of an earlier version, which nothing renews. */
  readonly until: number | null;
  /** How long the cast has run in all, as measured when the lease was renewed last. */
  readonly elapsedMs?: number;
  /** The driver before this one, where it ended without giving the cast back. */
  readonly after?: Driver;
};

/** The lease of a cast that is driven, with what can be seen of its driver. */
export type Driving = CastLease & { readonly sight: Exclude<Sight, 'gone'> };

/** The number of the last fence that was given out. */
const LAST_FENCE = 'driver:fence';

export function leaseName(cast: string): string {
  return `cast:${cast}`;
}

/** The rows of the register that giving these casts to a driver, or renewing their leases, looks at. */
export function leaseNamesOf(casts: Iterable<string>): readonly string[] {
  return [...Array.from(casts, leaseName), LAST_FENCE];
}

export function leaseIn(value: string | null): CastLease | null {
  if (value === null) return null;
  const { fence = 0, until = null, ...rest } = JSON.parse(value) as Driver & Partial<CastLease>;
  return { ...rest, fence, until };
}

/**
 * Gives the cast to `driver`, unless a living driver has it. `over` is the fence of a lease that ends even though its holder
 * may live; `elapsedMs` is how long the cast has run, as far as the log knows.
 */
export function grantLease(held: LeaseValues, cast: string, driver: Driver, now: number, over?: number, elapsedMs = 0) {
  const name = leaseName(cast);
  const before = leaseIn(held(name));
  const isOwn = before !== null && isSame(before, driver);
  if (before && !isOwn && before.fence !== over && livesOn(before, now)) return { lease: before, changes: [] };
  const last = Math.max(Number(held(LAST_FENCE) ?? 0), before?.fence ?? 0);
  const fence = isOwn && before.fence > 0 ? before.fence : last + 1;
  const after = isOwn ? before.after : before && driverOf(before);
  const ran = { elapsedMs: Math.max(elapsedMs, before?.elapsedMs ?? 0) };
  const lease: CastLease = { ...driver, fence, until: now + LEASE_MS, ...ran, ...(after ? { after } : {}) };
  const changes: LeaseChange[] = [
    { name, value: JSON.stringify(lease) },
    { name: LAST_FENCE, value: String(Math.max(last, fence)) },
  ];
  return { lease, changes };
}

/** The change that renews a lease; null where it was lost. */
export function renewLease(
  held: LeaseValues,
  cast: string,
  fence: number,
  now: number,
  elapsedMs?: number,
): LeaseChange | null {
  const name = leaseName(cast);
  const lease = leaseIn(held(name));
  const ran = elapsedMs === undefined ? {} : { elapsedMs };
  return lease?.fence === fence ? { name, value: JSON.stringify({ ...lease, until: now + LEASE_MS, ...ran }) } : null;
}

/** The refusal for a driver whose lease another one has now; null while the lease is its own. */
export function refusalOfLost(value: string | null, cast: string, fence: number): Denied | null {
  const lease = leaseIn(value);
  if (lease?.fence === fence) return null;
  const holder = lease && driverOf(lease);
  const who = holder ? `process ${holder.pid} on ${holder.host}` : 'another process, which has ended since,';
  const reason = `${who} took over cast ${cast}; this process ends its agents and accepts nothing more`;
  return deny('LEASE_LOST', reason, { cast, fence, holder: holder && { ...holder } });
}

/** The living driver of a cast, as the register names it. Nothing is written. */
export async function drivingIn(log: Pick<Log, 'leases'>, cast: string, now: number): Promise<Driving | null> {
  const lease = leaseIn(await leaseValue(log, cast));
  const sight = lease && sightOf(lease);
  return lease && sight && sight !== 'gone' && livesOn(lease, now, sight) ? { ...lease, sight } : null;
}

export async function leaseValue(log: Pick<Log, 'leases'>, cast: string): Promise<string | null> {
  const name = leaseName(cast);
  return (await log.leases(name)).find((one) => one.name === name)?.value ?? null;
}

/** An earlier version renews nothing: its lease ends when its process is seen to be gone, or when a person takes over. */
function livesOn(lease: CastLease, now: number, sight = sightOf(lease)): boolean {
  if (sight !== 'unseen') return sight === 'runs';
  return lease.until === null || lease.until > now;
}

function driverOf({ host, pid, startTime, machine, namespace }: Driver): Driver {
  return {
    ...{ host, pid, startTime },
    ...(machine === undefined ? {} : { machine }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}
