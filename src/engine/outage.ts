// A runner that is down: its provider does not answer, or its sign-in is refused. All turns of the runner wait while it is,
// whichever cast and process they belong to, and one of them at a time asks whether it is back. Kept outside the chain, in
// one small value by runner, because it is about now: a process that has ended asks no more.
import { isRunning, isSame } from './driver.ts';
import type { Log } from './ports.ts';
import type { Holder } from './slots.ts';

/** The first question comes soon, the next ones after twice as long each. */
const ASK_AFTER_MS = 5_000;
const ASK_AFTER_MS_MAX = 60_000;
/** Who waits looks this often whether the runner is back. */
const LOOK_EVERY_MS = 1_000;
/** Who asks is given up after this. */
const ASKS_MS_MAX = 1_800_000;
/** Nobody waits any more, so nobody knows whether it is still down. */
const FORGOTTEN_AFTER_MS = 120_000;

/** A runner that answered within this time is set up well. */
const ANSWER_COUNTS_MS = 7 * 86_400_000;
/** Not every answer is written down. */
const ANSWER_AGAIN_MS = 3_600_000;

const OUTAGES = 'outage:';

/** The rows of the register about a runner: its outage, and when it answered. */
export function runnerRows(runner: string): { readonly outage: string; readonly answered: string } {
  return { outage: `${OUTAGES}${runner}`, answered: `answered:${runner}` };
}

/** Whether the runner has answered in this workspace lately, whichever process asked it. */
export function hasAnswered(value: string | null, now: number): boolean {
  return value !== null && Math.abs(now - Number(value)) < ANSWER_COUNTS_MS;
}

/** When the runner answered, as it is written down after an answer. */
export function answeredAt(value: string | null, now: number): string {
  return value !== null && Math.abs(now - Number(value)) < ANSWER_AGAIN_MS ? value : String(now);
}

export type Outage = {
  readonly runner: string;
  readonly code: string;
  readonly reason: string;
  readonly since: number;
  /** When it may be asked again, or was asked last. */
  readonly askAt: number;
  readonly failures: number;
  /** Who asks now. */
  readonly asks: Holder | null;
  /** The runner had answered before, so that it is an outage and no mistake in its set-up: turns wait until it is over. */
  readonly isProven: boolean;
};

/** What an attempt found out about its runner. */
export type Found = Pick<Outage, 'code' | 'reason' | 'isProven'>;

export type Admission = {
  readonly value: string | null;
  /** 0 where the turn may start. */
  readonly waitMs: number;
  /** Null where the runner is not known to be down. A turn that may start all the same asks whether it is back. */
  readonly outage: Outage | null;
};

/** The answer to a turn that wants to start. */
export type Admitted = Omit<Admission, 'value'> & {
  /** The runner answered lately, so that a failure now is an outage and no mistake in its set-up. */
  readonly hasAnswered: boolean;
};

/** The outage that a register value tells of, unless it is forgotten. */
export function outageIn(value: string | null, now: number): Outage | null {
  const outage = value === null ? null : (JSON.parse(value) as Outage);
  if (!outage || isAsking(outage, now)) return outage;
  // A clock that was set back must not hold anybody for long.
  return Math.abs(now - outage.askAt) > FORGOTTEN_AFTER_MS ? null : outage;
}

/** The runners that are down. */
export async function outagesIn(log: Pick<Log, 'leases'>, now: number): Promise<readonly Outage[]> {
  return (await log.leases(OUTAGES)).flatMap(({ value }) => outageIn(value, now) ?? []);
}

/** Whether a turn may start, and who asks where the runner is down. */
export function admit(value: string | null, holder: Holder, now: number): Admission {
  const outage = outageIn(value, now);
  if (!outage) return { value: null, waitMs: 0, outage };
  if (isAsking(outage, now)) return { value, waitMs: LOOK_EVERY_MS, outage };
  const waitMs = Math.min(outage.askAt - now, LOOK_EVERY_MS);
  if (waitMs > 0) return { value, waitMs, outage };
  return { value: JSON.stringify({ ...outage, asks: holder, askAt: now }), waitMs: 0, outage };
}

/** After an attempt that found the runner down. `found` is null after one that found it well. */
export function noted(
  value: string | null,
  runner: string,
  holder: Holder,
  found: Found | null,
  now: number,
): string | null {
  if (found === null) return null;
  const before = outageIn(value, now);
  // Those who were under way when it was found say the same, and are no further question.
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

/** After an attempt that was stopped: somebody else asks. */
export function withdrawn(value: string | null, holder: Holder): string | null {
  if (value === null) return null;
  const outage = JSON.parse(value) as Outage;
  return isAskedBy(outage, holder) ? JSON.stringify({ ...outage, asks: null }) : value;
}

/** A process that cannot be looked at counts as running, but not for ever. */
function isAsking({ asks, askAt }: Outage, now: number): boolean {
  return asks !== null && isRunning(asks.driver) && Math.abs(now - askAt) < ASKS_MS_MAX;
}

function isAskedBy({ asks }: Outage, holder: Holder): boolean {
  return asks !== null && asks.key === holder.key && isSame(asks.driver, holder.driver);
}
