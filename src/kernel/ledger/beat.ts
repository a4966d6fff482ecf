// The record of a claim's life, kept outside the facts under the claim's token, so that a heartbeat costs the same however
// long the log is.
import { isObject, isString } from '../json.ts';

/** What is known of the life of a claim's owner. */
export type Beat = {
  readonly run: string;
  /** The id by which packets call the run, where it is not the same. */
  readonly runId?: string;
  readonly task: string;
  readonly owner: string;
  /** When the owner was last heard of, in milliseconds. */
  readonly at: number;
  /** What the owner's clock said last, where it said far less than `at`: it was set back, or `at` was never true. */
  readonly latest?: number;
  readonly timeoutS: number;
  /** The process that works on the task, where the owner named it. */
  readonly worker?: BeatProcess;
};

export type BeatProcess = {
  readonly host: string;
  readonly pid: number;
  readonly startTime: string;
  readonly machine?: string;
  readonly namespace?: string;
};

/** A change to the records of life that goes with a fact: a new record, or the end of one. */
export type BeatChange = { readonly name: string; readonly value: string | null };

/** As far as the clocks of two machines may differ. */
export const SKEW_MS_MAX = 30_000;

export const BEATS = 'fence:';

export function beatName(fence: number): string {
  return `${BEATS}${fence}`;
}

export function beatText(beat: Beat): string {
  return JSON.stringify(beat);
}

/** The record in a text that was kept, or null where it is none. */
export function beatOf(text: string | null): Beat | null {
  if (text === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  const { run, task, owner, at, latest = 0, timeoutS } = value;
  const isBeat = isString(run) && isString(task) && isString(owner) && [at, latest, timeoutS].every(Number.isFinite);
  return isBeat ? (value as unknown as Beat) : null;
}

/** The record after a sign of life, or null when it is not the owner of this very claim who gives it. */
export function beatAgain(
  held: Beat | null,
  sign: Pick<Beat, 'task' | 'owner' | 'at'> & { run?: string },
): Beat | null {
  if (!held || held.task !== sign.task || held.owner !== sign.owner) return null;
  if (sign.run !== undefined && sign.run !== held.run && sign.run !== held.runId) return null;
  const { latest, at, ...rest } = held;
  if (!isAhead(at, sign.at)) return { ...rest, at: Math.max(at, sign.at) };
  // A clock that was set back still tells how long ago it spoke before; when it was set, nobody knows how long that was.
  const unknown = Math.min(SKEW_MS_MAX, (held.timeoutS * 1000) / 2);
  const passed = latest === undefined ? unknown : Math.max(0, sign.at - latest);
  return { ...rest, at: at + passed, latest: sign.at };
}

/** Whether a time lies further ahead than clocks may differ, in whole seconds. */
export function isAhead(at: number, now: number): boolean {
  return (Math.floor(at / 1000) - Math.floor(now / 1000)) * 1000 > SKEW_MS_MAX;
}

/** When the owner was last heard of, for somebody whose clock says `now`: a time that cannot be true gives way to one that can. */
export function heardAt({ at, latest = at }: Pick<Beat, 'at' | 'latest'>, now: number): number {
  return isAhead(at, now) ? latest : at;
}

/** The same with the claim as the first sign of life. The log's times never go back, so that a claim may seem to lie ahead. */
export function lastHeard(heard: number | null, claimedAt: number | null, now: number): number {
  if (heard === null) return claimedAt ?? 0;
  return claimedAt === null || isAhead(claimedAt, now) ? heard : Math.max(heard, claimedAt);
}
