// Who drives a cast: one process. It is known by its machine, the boot, the process namespace, its number and the moment it
// started. The host name is only shown: it may change while the process runs.
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

export type Driver = {
  readonly host: string;
  readonly pid: number;
  /** Begins with the id of the boot. */
  readonly startTime: string;
  /** Absent where the machine has no id that is certainly its own. */
  readonly machine?: string;
  /** Empty where it cannot be told; absent in records of earlier versions. */
  readonly namespace?: string;
};

/** What can be told of a process from here. A process of another namespace or machine cannot be looked at. */
export type Sight = 'runs' | 'gone' | 'unseen';

let own: Driver | null = null;

export function thisDriver(): Driver {
  own ??= ownDriver();
  return own;
}

function ownDriver(): Driver {
  const { pid, startTime } = ownIdentity();
  const where = whereabouts();
  // Where start times cannot be read, two processes of two sandboxes may have the same number.
  const moment = where.namespace === '' ? `${startTime}-${randomUUID()}` : startTime;
  return { host: hostname(), pid, startTime: moment, ...where };
}

/** Another process of this namespace, or null where there is none of this number. */
export function driverWith(pid: number): Driver | null {
  const startTime = startTimeOf(pid);
  return startTime === null ? null : { host: hostname(), pid, startTime, ...whereabouts() };
}

function whereabouts(): Pick<Driver, 'machine' | 'namespace'> {
  const machine = machineId();
  return { ...(machine === null ? {} : { machine }), namespace: processNamespace() ?? '' };
}

/** Looks for a process. A stopped or suspended one runs. */
export function sightOf(
  driver: Driver,
  me: Driver = thisDriver(),
  isPresent: (driver: Driver) => boolean = isAlive,
): Sight {
  if (isSame(driver, me)) return 'runs';
  if (driver.namespace === undefined) return sightOfEarlier(driver, me, isPresent);
  const [boot, ownBoot] = [bootOf(driver), bootOf(me)];
  if (boot === null || ownBoot === null) return 'unseen';
  if (boot === ownBoot && sharesProcesses(driver, me)) return isPresent(driver) ? 'runs' : 'gone';
  // Every process of an earlier boot has ended.
  const isSameMachine = driver.machine !== undefined && driver.machine === me.machine;
  return boot !== ownBoot && isSameMachine ? 'gone' : 'unseen';
}

/** Earlier versions wrote down the host name only. */
function sightOfEarlier(driver: Driver, me: Driver, isPresent: (driver: Driver) => boolean): Sight {
  if (isPresent(driver)) return 'runs';
  return driver.host === me.host ? 'gone' : 'unseen';
}

/** Whether two processes see the same processes. */
export function sharesProcesses(a: Driver, b: Driver = thisDriver()): boolean {
  return Boolean(a.namespace) && a.namespace === b.namespace && bootOf(a) === bootOf(b);
}

/** A process without a lease that cannot be looked at counts as running. */
export function isRunning(driver: Driver): boolean {
  return sightOf(driver) !== 'gone';
}

export function isSame(a: Driver, b: Driver): boolean {
  return a.pid === b.pid && a.startTime === b.startTime && a.namespace === b.namespace;
}
