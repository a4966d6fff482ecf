// What the processes of a workspace share about a runner, in small values outside the chain, because it concerns the present: the
// slots of its attempts, and whether it is down. While a provider does not answer or refuses the sign-in, all turns of its runner
// wait, in every cast and process, and one at a time probes it. The slot or probe of a process that ended does not count.
import type { Slot } from '../kernel/cast/packet.ts';
import { type Driver, isRunning, isSameProcess, LEASE_MS, sightOf } from './lease.ts';
import type { Log } from './ports.ts';

const MINUTE_MS = 60_000;
/** A free slot is not announced, so waiting drivers look this often. */
const LOOK_AGAIN_MS = 1_000;

/** `until` counts if the driver cannot be observed. A driver renews its slot by asking for it again. */
export type Holder = { readonly driver: Driver; readonly key: string; readonly until?: number };

type SlotUse = { readonly held: readonly Holder[]; readonly startedAt: readonly number[] };

type Grant = {
  readonly value: string;
  /** 0 if the slot was granted, else how long to wait before asking again. */
  readonly waitMs: number;
};

export function slotName({ runner }: Pick<Slot, 'runner'>): string {
  return `slots:${runner}`;
}

/** Asks for a slot. `isForced`: an attempt that already runs, from before a crash, gets one regardless of the limits. */
export function grantSlot(value: string | null, slot: Slot, holder: Holder, now: number, isForced = false): Grant {
  const { held, startedAt } = slotUseIn(value, now);
  const others = held.filter((one) => !isHeldBy(one, holder));
  const { maxConcurrent, perMinute } = slot;
  const isFull = maxConcurrent !== null && others.length >= maxConcurrent;
  const oldest = startedAt[startedAt.length - (perMinute ?? Number.POSITIVE_INFINITY)];
  if (!isForced && (isFull || oldest !== undefined)) {
    const waitMs = isFull ? LOOK_AGAIN_MS : Math.max(1, (oldest ?? now) + MINUTE_MS - now);
    return { value: JSON.stringify({ held: others, startedAt }), waitMs };
  }
  const begun = isForced ? startedAt : [...startedAt, now];
  const granted = { ...holder, until: now + LEASE_MS };
  return { value: JSON.stringify({ held: [...others, granted], startedAt: begun }), waitMs: 0 };
}

export function withoutHolder(value: string | null, holder: Holder, now: number): string {
  const { held, startedAt } = slotUseIn(value, now);
  return JSON.stringify({ held: held.filter((one) => !isHeldBy(one, holder)), startedAt });
}

function slotUseIn(value: string | null, now: number): SlotUse {
  const { held, startedAt } = value === null ? { held: [], startedAt: [] } : (JSON.parse(value) as SlotUse);
  return {
    held: held.filter((holder) => isHeld(holder, now)),
    // A little ahead of ours is who looked at the clock after us and was let in before us. Far ahead is what a clock wrote
    // that has been set back since.
    startedAt: startedAt.filter((at) => Math.abs(now - at) < MINUTE_MS).sort((a, b) => a - b),
  };
}

function isHeld({ driver, until = 0 }: Holder, now: number): boolean {
  const sight = sightOf(driver);
  // An end further ahead than a lease lasts was written by a clock that was set back since.
  return sight === 'unknown' ? until > now && until <= now + 2 * LEASE_MS : sight === 'runs';
}

function isHeldBy(one: Holder, other: Holder): boolean {
  return one.key === other.key && isSameProcess(one.driver, other.driver);
}

/** The first probe comes soon. Each later one waits twice as long. */
const ASK_AFTER_MS = 5_000;
const ASK_AFTER_MS_MAX = 60_000;
/** A waiting turn looks this often whether the runner is back. */
const LOOK_EVERY_MS = 1_000;
/** A probe counts no longer than this. */
const ASKS_MS_MAX = 1_800_000;
/** After this time without a waiting turn, the outage is forgotten. */
const FORGOTTEN_AFTER_MS = 120_000;

/** A runner that answered within this time is set up correctly. */
const ANSWER_COUNTS_MS = 7 * 86_400_000;
/** An answer is recorded at most this often. */
const ANSWER_AGAIN_MS = 3_600_000;

const OUTAGES = 'outage:';

/** The names of the values about a runner: its outage, and when it answered. */
export function runnerRows(runner: string): { readonly outage: string; readonly answered: string } {
  return { outage: `${OUTAGES}${runner}`, answered: `answered:${runner}` };
}

/** Whether the runner answered any process of this workspace recently. */
export function hasAnswered(value: string | null, now: number): boolean {
  return value !== null && Math.abs(now - Number(value)) < ANSWER_COUNTS_MS;
}

/** The new value after an answer. */
export function answeredAt(value: string | null, now: number): string {
  return value !== null && Math.abs(now - Number(value)) < ANSWER_AGAIN_MS ? value : String(now);
}

export type Outage = {
  readonly runner: string;
  readonly code: string;
  readonly reason: string;
  readonly since: number;
  /** When it may be probed again, or was probed last. */
  readonly askAt: number;
  readonly failures: number;
  /** Who probes it now. */
  readonly asks: Holder | null;
  /** The runner had answered before, so this is an outage and no mistake in the set-up. Turns wait until it is over. */
  readonly isProven: boolean;
};

/** What an attempt learned about its runner. */
export type RunnerFinding = Pick<Outage, 'code' | 'reason' | 'isProven'>;

type Admission = {
  readonly value: string | null;
  /** 0 if the turn may start. */
  readonly waitMs: number;
  /** Null if the runner is not known to be down. A turn that may start despite an outage is the probe. */
  readonly outage: Outage | null;
};

/** The answer to a turn that is about to start. */
export type Admitted = Omit<Admission, 'value'> & {
  /** The runner answered recently, so a failure now is an outage and no mistake in the set-up. */
  readonly hasAnswered: boolean;
};

/** The outage in a value, unless it is forgotten. */
export function outageIn(value: string | null, now: number): Outage | null {
  const outage = value === null ? null : (JSON.parse(value) as Outage);
  if (!outage || isAsking(outage, now)) return outage;
  // A clock that was set back must not delay turns for long.
  return Math.abs(now - outage.askAt) > FORGOTTEN_AFTER_MS ? null : outage;
}

/** The runners that are down. */
export async function outagesIn(log: Pick<Log, 'leases'>, now: number): Promise<readonly Outage[]> {
  return (await log.leases(OUTAGES)).flatMap(({ value }) => outageIn(value, now) ?? []);
}

/** Whether a turn may start. If the runner is down, the turn may become the probe. */
export function admit(value: string | null, holder: Holder, now: number): Admission {
  const outage = outageIn(value, now);
  if (!outage) return { value: null, waitMs: 0, outage };
  if (isAsking(outage, now)) return { value, waitMs: LOOK_EVERY_MS, outage };
  const waitMs = Math.min(outage.askAt - now, LOOK_EVERY_MS);
  if (waitMs > 0) return { value, waitMs, outage };
  return { value: JSON.stringify({ ...outage, asks: holder, askAt: now }), waitMs: 0, outage };
}

/** The value after an attempt. `found` is null if the runner was well. */
export function afterFinding(
  value: string | null,
  runner: string,
  holder: Holder,
  found: RunnerFinding | null,
  now: number,
): string | null {
  if (found === null) return null;
  const before = outageIn(value, now);
  // Attempts that already ran at the start of the outage are no probes.
  if (before && !isAskedBy(before, holder)) return value;
  const failures = (before?.failures ?? 0) + 1;
  const waitMs = Math.min(ASK_AFTER_MS * 2 ** (failures - 1), ASK_AFTER_MS_MAX);
  const { code, reason } = found;
  const outage: Outage = {
    ...{ runner, code, reason, since: before?.since ?? now, askAt: now + waitMs, failures, asks: null },
    isProven: found.isProven || (before?.isProven ?? false),
  };
  return JSON.stringify(outage);
}

/** The value after a stopped attempt: another turn probes. */
export function afterStop(value: string | null, holder: Holder): string | null {
  if (value === null) return null;
  const outage = JSON.parse(value) as Outage;
  return isAskedBy(outage, holder) ? JSON.stringify({ ...outage, asks: null }) : value;
}

/** A process that cannot be observed counts as running, but not forever. */
function isAsking({ asks, askAt }: Outage, now: number): boolean {
  return asks !== null && isRunning(asks.driver) && Math.abs(now - askAt) < ASKS_MS_MAX;
}

function isAskedBy({ asks }: Outage, holder: Holder): boolean {
  return asks !== null && asks.key === holder.key && isSameProcess(asks.driver, holder.driver);
}
