// What a trial is made of, what it shows, and what is kept of it. It holds no rule: a page and a file of tests read it, too.
import type { Cast } from '../kernel/cast/state.ts';
import type { JsonObject } from '../kernel/json.ts';

/** The answer at a step. Without a text the attempt failed. */
export type TrialAnswer = { readonly socket: string; readonly text: string | null };

export type TrialScript = { readonly request: string; readonly answers: readonly TrialAnswer[] };

export type TrialItem = { readonly number: number; readonly title: string };

/** A step that waits for its answer. */
export type OpenStep = {
  readonly socket: string;
  readonly name: string;
  readonly item: TrialItem | null;
  readonly attempt: number;
  /** What the agent reads; for a utility, what it is given. */
  readonly brief: string;
  readonly isUtility: boolean;
  /** Why the answer before was refused. */
  readonly refusal: string | null;
  /** An answer that leads on. */
  readonly usual: string;
};

export type DoneStep = {
  readonly socket: string;
  readonly name: string;
  readonly item: TrialItem | null;
  readonly brief: string;
  readonly answer: string;
  readonly outcome: 'accepted' | 'refused' | 'failed';
  /** What came of it, each a sentence: where it led, why it was refused, how the cast ended. */
  readonly says: readonly string[];
  /** The data of the cast after it. */
  readonly data: JsonObject;
};

export type Trial = {
  readonly script: TrialScript;
  readonly done: readonly DoneStep[];
  readonly open: readonly OpenStep[];
  readonly data: JsonObject;
  readonly path: readonly string[];
  readonly status: Cast['status'];
  readonly code: string | null;
  readonly reason: string;
};

/** What is kept of a trial: played again, it must take the same path to the same end. */
export type TrialRecording = TrialScript & {
  readonly loadout: string;
  readonly path: readonly string[];
  readonly end: string;
  readonly code: string | null;
};

export function recordingOf(loadout: string, { script, path, status, code }: Trial): TrialRecording {
  return { loadout, ...script, path, end: status, code };
}
