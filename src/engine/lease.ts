// Which process drives a cast. A process is known by its machine, its boot, its process namespace, its number and the moment it
// started; the host name is only shown, because it may change. The driver holds a lease, which ends by itself if the process cannot be
// observed. Each lease has a larger fence than every lease before it in the workspace. A driver names its fence with every commit, so
// a driver that lost its lease cannot commit.

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  bootOf,
  isAlive,
  machineId,
  ownIdentity,
  processNamespace,
  startTimeOf,
} from '../agents/process/process-identity.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import type { LeaseChange, LeaseValues, Log } from './ports.ts';

export type Driver = {
  readonly host: string;
  readonly pid: number;
  /** Begins with the id of the boot. */
  readonly startTime: string;
  /** Missing if the machine has no reliable id of its own. */
  readonly machine?: string;
  /** Empty if unknown; missing in records of earlier versions. */
  readonly namespace?: string;
};

/** What this process can observe of another one. A process of another namespace or machine cannot be observed. */
type ProcessSight = 'runs' | 'gone' | 'unknown';

let own: Driver | null = null;

export function thisDriver(): Driver {
  own ??= ownDriver();
  return own;
}

function ownDriver(): Driver {
  const { pid, startTime } = ownIdentity();
  const where = whereabouts();
  // Without readable start times, processes of two sandboxes may have the same number.
  const moment = where.namespace === '' ? `${startTime}-${randomUUID()}` : startTime;
  return { host: hostname(), pid, startTime: moment, ...where };
}

/** Another process of this namespace, or null if it does not exist. */
export function driverWith(pid: number): Driver | null {
  const startTime = startTimeOf(pid);
  return startTime === null ? null : { host: hostname(), pid, startTime, ...whereabouts() };
}

function whereabouts(): Pick<Driver, 'machine' | 'namespace'> {
  const machine = machineId();
  return { ...(machine === null ? {} : { machine }), namespace: processNamespace() ?? '' };
}

/** A stopped or suspended process counts as running. */
export function sightOf(
  driver: Driver,
  me: Driver = thisDriver(),
  isPresent: (driver: Driver) => boolean = isAlive,
): ProcessSight {
  if (isSameProcess(driver, me)) return 'runs';
  if (driver.namespace === undefined) return sightOfEarlier(driver, me, isPresent);
  const [boot, ownBoot] = [bootOf(driver), bootOf(me)];
  if (boot === null || ownBoot === null) return 'unknown';
  if (boot === ownBoot && sharesProcesses(driver, me)) return isPresent(driver) ? 'runs' : 'gone';
  // Every process of an earlier boot has ended.
  const isSameMachine = driver.machine !== undefined && driver.machine === me.machine;
  return boot !== ownBoot && isSameMachine ? 'gone' : 'unknown';
}

/** Earlier versions recorded only the host name. */
function sightOfEarlier(driver: Driver, me: Driver, isPresent: (driver: Driver) => boolean): ProcessSight {
  if (isPresent(driver)) return 'runs';
  return driver.host === me.host ? 'gone' : 'unknown';
}

/** Whether two processes see the same processes. */
export function sharesProcesses(a: Driver, b: Driver = thisDriver()): boolean {
  return Boolean(a.namespace) && a.namespace === b.namespace && bootOf(a) === bootOf(b);
}

/** A process that cannot be observed counts as running. */
export function isRunning(driver: Driver): boolean {
  return sightOf(driver) !== 'gone';
}

export function isSameProcess(a: Driver, b: Driver): boolean {
  return a.pid === b.pid && a.startTime === b.startTime && a.namespace === b.namespace;
}

export const LEASE_MS = 60_000;
export const RENEW_MS = 15_000;

/** Earlier versions recorded neither fence nor end. */
export type CastLease = Driver & {
  readonly fence: number;
  /** By the clock of the store. Null in a lease of an earlier version, which is never renewed. */
  readonly until: number | null;
  /** How long the cast has run in all, measured at the last renewal. */
  readonly elapsedMs?: number;
  /** The driver before this one, if it ended without releasing the cast. */
  readonly after?: Driver;
};

/** The lease of a driven cast, with what can be observed of its driver. */
export type Driving = CastLease & { readonly sight: Exclude<ProcessSight, 'gone'> };

/** The last fence. */
const LAST_FENCE = 'driver:fence';

export function leaseName(cast: string): string {
  return `cast:${cast}`;
}

/** The rows that granting or renewing the leases of these casts reads. */
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
  const isOwn = before !== null && isSameProcess(before, driver);
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

/** The change that renews a lease. Null if the lease was lost. */
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

/** The refusal for a driver that lost its lease. Null while it has the lease. */
export function refusalOfLost(value: string | null, cast: string, fence: number): Denied | null {
  const lease = leaseIn(value);
  if (lease?.fence === fence) return null;
  const holder = lease && driverOf(lease);
  const who = holder ? `process ${holder.pid} on ${holder.host}` : 'another process, which has ended since,';
  const reason = `${who} took over cast ${cast}; this process ends its agents and accepts nothing more`;
  return deny('LEASE_LOST', reason, { cast, fence, holder: holder && { ...holder } });
}

/** The living driver of a cast. Only reads. */
export async function drivingIn(log: Pick<Log, 'leases'>, cast: string, now: number): Promise<Driving | null> {
  const lease = leaseIn(await leaseValue(log, cast));
  const sight = lease && sightOf(lease);
  return lease && sight && sight !== 'gone' && livesOn(lease, now, sight) ? { ...lease, sight } : null;
}

export async function leaseValue(log: Pick<Log, 'leases'>, cast: string): Promise<string | null> {
  const name = leaseName(cast);
  return (await log.leases(name)).find((one) => one.name === name)?.value ?? null;
}

/** A lease of an earlier version ends when its process is gone, or when a person takes over. */
function livesOn(lease: CastLease, now: number, sight = sightOf(lease)): boolean {
  if (sight !== 'unknown') return sight === 'runs';
  return lease.until === null || lease.until > now;
}

function driverOf({ host, pid, startTime, machine, namespace }: Driver): Driver {
  return {
    ...{ host, pid, startTime },
    ...(machine === undefined ? {} : { machine }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}
