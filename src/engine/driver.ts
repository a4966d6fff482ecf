// Who drives a cast: one process on one machine. A process is known by its number and the moment it started, so that a
// number that was given out again is not taken for it.
import { hostname } from 'node:os';
import { isAlive, startTimeOf } from '../agents/process/process-identity.ts';
import type { Log } from './ports.ts';

export type Driver = { readonly host: string; readonly pid: number; readonly startTime: string };

/** The holder of a lease, and the process it took the cast over from, where that one is gone without giving it back. */
export type Lessee = Driver & { readonly after?: Driver };

/** What the lease says when `driver` asks for it: a living holder keeps it, a dead one is remembered. */
export function leaseFor(held: string | null, driver: Driver): string {
  const holder = held === null ? null : (JSON.parse(held) as Lessee);
  if (holder && isRunning(holder)) return held ?? '';
  if (!holder) return JSON.stringify(driver);
  const { host, pid, startTime } = holder;
  return JSON.stringify({ ...driver, after: { host, pid, startTime } });
}

export function thisDriver(): Driver {
  return { host: hostname(), pid: process.pid, startTime: startTimeOf(process.pid) ?? '' };
}

/** A driver on another machine cannot be looked at from here and counts as running. */
export function isRunning(driver: Driver): boolean {
  if (driver.host !== hostname()) return true;
  return isAlive({ pid: driver.pid, startTime: driver.startTime });
}

/** The living process that drives a cast, as the register of leases names it. */
export async function driverIn(log: Pick<Log, 'lease'>, cast: string): Promise<Driver | null> {
  const value = await log.lease(`cast:${cast}`, (held) => held);
  const driver = value === null ? null : (JSON.parse(value) as Driver);
  return driver && isRunning(driver) ? driver : null;
}

export function isSame(a: Driver, b: Driver): boolean {
  return a.host === b.host && a.pid === b.pid && a.startTime === b.startTime;
}
