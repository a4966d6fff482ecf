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
  readonly timeoutS: number;
  /** The process that works on the task, where the owner named it. */
  readonly worker?: BeatProcess;
};

export type BeatProcess = { readonly host: string; readonly pid: number; readonly startTime: string };

/** A change to the records of life that goes with a fact: a new record, or the end of one. */
export type BeatChange = { readonly name: string; readonly value: string | null };

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
  const { run, task, owner, at, timeoutS } = value;
  const isBeat = isString(run) && isString(task) && isString(owner) && [at, timeoutS].every(Number.isFinite);
  return isBeat ? (value as unknown as Beat) : null;
}

/** The record after a sign of life, or null when it is not the owner of this very claim who gives it. */
export function beatAgain(
  held: Beat | null,
  sign: Pick<Beat, 'task' | 'owner' | 'at'> & { run?: string },
): Beat | null {
  if (!held || held.task !== sign.task || held.owner !== sign.owner) return null;
  if (sign.run !== undefined && sign.run !== held.run && sign.run !== held.runId) return null;
  return { ...held, at: Math.max(held.at, sign.at) };
}
