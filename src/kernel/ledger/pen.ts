// The pen of the ledger's rules. A fact is applied as it is written, so that later rules of the same decision see it.

import { isObject, isString } from '../json.ts';
import { type Denied, deny } from '../verdict.ts';
import type { Asked, LedgerFact } from './fact.ts';
import type { Ledger, Task } from './state.ts';

/** Whether a run holds together. */
export type Soundness = (run: string) => boolean;

export type LedgerPen = {
  readonly ledger: Ledger;
  readonly at: number;
  /** Which runs hold together, where the ledger at hand does not hold all of them. */
  readonly isSound?: Soundness;
  /** The cast whose run it is, where nothing of it runs; null for any other run. */
  standing?(run: string): Standing | null;
  write(fact: LedgerFact): void;
};

/** Writes the refusal down, and answers with it. */
export function refuse(pen: LedgerPen, asked: Asked, name: { run?: string; task: string }, given: Denied): Denied {
  const refusal = namingCast(given, (run) => pen.standing?.(run) ?? null);
  const { code, reason, details } = refusal;
  pen.write({ kind: 'task.refused', run: name.run ?? '', task: name.task, asked, code, reason, details });
  return refusal;
}

export function refuseTask(pen: LedgerPen, asked: Asked, { run, id }: Task, refusal: Denied): Denied {
  return refuse(pen, asked, { run, task: id }, refusal);
}

// Who is in the way, where it is a cast of which nothing runs: it keeps what it has claimed, because its work is half done,
// and time does not lift that. Whoever is refused is told so, and how a person frees the paths.
/** How a cast stands, and since when. Times are in milliseconds. */
export type Standing = { readonly status: string; readonly since: number | null };

/** The command that gives back what a task of such a cast has claimed. */
export function freeing(run: string, task: string): string {
  return `baton task move ${task} blocked --run ${run} --reason "…"`;
}

/** The refusal with the cast of its holder, if that stands. */
export function namingCast(refusal: Denied, standing: (run: string) => Standing | null): Denied {
  const { holder } = refusal.details;
  if (refusal.code !== 'LOCK_CONFLICT' || !isObject(holder) || !isString(holder.run) || !isString(holder.task)) {
    return refusal;
  }
  const found = standing(holder.run);
  if (!found || holder.cast !== undefined) return refusal;
  const { run, task } = holder;
  const free = freeing(run, task);
  const why = refusal.reason.replace(/(?:; wait until it is over)?\.$/, '');
  const reason = `${why}; cast ${run} is ${standingWords(found)}: carry it on with: baton continue ${run}, or free its paths with: ${free}`;
  const named = { ...holder, cast: run, status: found.status, since: stampOf(found), free };
  return deny(refusal.code, reason, { ...refusal.details, holder: named });
}

function standingWords(standing: Standing): string {
  const since = stampOf(standing);
  return since === null ? standing.status : `${standing.status} since ${since}`;
}

function stampOf({ since }: Standing): string | null {
  return since === null ? null : new Date(since).toISOString();
}
