// The five statuses of a report, which may follow which, and the loop that holds a COMPLETE while iterations are left.
import type { Outcome } from '../dialect.ts';
import { isObject, isString, type Json, type JsonObject } from '../json.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { integerOf, reportedNumber } from './sections.ts';

export const PLAN_STATUSES = ['IN_PROGRESS', 'APPROVAL_REQUEST', 'COMPLETE', 'BLOCKED', 'NEEDS_INPUT'] as const;
export type PlanStatus = (typeof PLAN_STATUSES)[number];

export function isPlanStatus(value: unknown): value is PlanStatus {
  return PLAN_STATUSES.some((word) => word === value);
}

/** Letter case and trailing punctuation are forgiven; white space around the word is not. */
export function normaliseStatus(text: string): string {
  let end = text.length;
  while (end > 0 && '.,;'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).toUpperCase();
}

/** What each status means for the cast. */
export const OUTCOME_OF: Readonly<Record<PlanStatus, Outcome>> = {
  COMPLETE: 'done',
  BLOCKED: 'blocked',
  IN_PROGRESS: 'continue',
  NEEDS_INPUT: 'ask',
  APPROVAL_REQUEST: 'approval',
};

export function statusOf(outcome: Outcome): PlanStatus {
  const found = PLAN_STATUSES.find((status) => OUTCOME_OF[status] === outcome);
  // A report that asks for rework has a status of its own only in other dialects.
  return found ?? 'BLOCKED';
}

/** At most this many IN_PROGRESS in a row. */
export const IN_PROGRESS_MAX = 2;

/** What may follow. Only an agent at work may go anywhere; every other status waits until it is set to work again. */
export const LEGAL_TRANSITIONS: Readonly<Record<PlanStatus, readonly PlanStatus[]>> = {
  IN_PROGRESS: PLAN_STATUSES,
  APPROVAL_REQUEST: ['IN_PROGRESS'],
  COMPLETE: ['IN_PROGRESS'],
  BLOCKED: ['IN_PROGRESS'],
  NEEDS_INPUT: ['IN_PROGRESS'],
};

/** The last status of an agent that counted. */
export type Progress = { readonly status: PlanStatus | null; readonly inProgressCount: number };

export const NOT_STARTED: Progress = { status: null, inProgressCount: 0 };

/** After an answer, an approval or rework the runtime itself sets the agent to work, which counts against no cap. */
export const SET_TO_WORK: Progress = { status: 'IN_PROGRESS', inProgressCount: 0 };

/** The statuses that may follow. */
export function mayFollow({ status }: Pick<Progress, 'status'>): readonly PlanStatus[] {
  return status === null ? PLAN_STATUSES : LEGAL_TRANSITIONS[status];
}

/** Whether a report, in capitals, may follow, and the progress after it. */
export function step(progress: Progress, to: string): { readonly verdict: Verdict; readonly progress: Progress } {
  const { status: from, inProgressCount: before } = progress;
  const allowed = mayFollow(progress);
  if (!isPlanStatus(to) || !allowed.includes(to)) {
    const details = { in_progress_count: before, warning: null, from, to, allowed };
    const reason = `${to || 'nothing'} cannot follow ${from ?? 'the start'}; what may follow is ${allowed.join(', ')}`;
    return { verdict: deny('ILLEGAL_TRANSITION', reason, details), progress };
  }
  const count = to !== 'IN_PROGRESS' ? 0 : from === 'IN_PROGRESS' ? before + 1 : 1;
  if (count > IN_PROGRESS_MAX) {
    const details = { in_progress_count: count, warning: null, from, to, allowed: allowed.filter((s) => s !== to) };
    const reason = `IN_PROGRESS was reported ${count} times in a row and ${IN_PROGRESS_MAX} are allowed`;
    return { verdict: deny('RETRY_LIMIT', reason, details), progress };
  }
  const warning = count === IN_PROGRESS_MAX ? `IN_PROGRESS ${count} times in a row: another one will be refused` : null;
  const verdict = allow(`${to} may follow ${from ?? 'the start'}`, { in_progress_count: count, warning, from, to });
  return { verdict, progress: { status: to, inProgressCount: count } };
}

type LoopState = {
  readonly iteration: number;
  readonly max: number;
  readonly metric: number;
  readonly threshold: number;
};

/** However many iterations an agent names, its COMPLETE is held this often in one turn and no more. */
export const HELD_MAX = 50;

const CODE = 'LOOP_STATE_INCOMPLETE:';

/** Null where a value is no number: the rule is off then, for it can only hold back what disproves itself. */
export function loopStateIn({ loop_state: loop }: JsonObject): LoopState | null {
  if (!isObject(loop)) return null;
  const [iteration, max] = [integerOf(loop.iteration), integerOf(loop.max_iterations)];
  const [metric, threshold] = [reportedNumber(loop.metric), reportedNumber(loop.threshold)];
  if (iteration === null || max === null || metric === null || threshold === null) return null;
  return { iteration, max, metric, threshold };
}

export function isUnfinished({ iteration, max, metric, threshold }: LoopState): boolean {
  return iteration < max && metric < threshold;
}

export function codeOfLoop({ iteration, max, metric, threshold }: LoopState): string {
  return `${CODE}iteration=${iteration}<max=${max},metric=${decimal(metric)}<threshold=${decimal(threshold)}`;
}

/** Measures are printed with a fraction and iterations without one, so that the code tells them apart. */
function decimal(number: number): string {
  const text = String(number);
  return Number.isInteger(number) && !text.includes('e') ? `${text}.0` : text;
}

export type UnfinishedLoop = {
  /** How often a COMPLETE of this turn was held by now. */
  readonly round: number;
  /** The words of the agent, and the answer to it. */
  readonly said: string;
  readonly told: string;
};

/** Whether a refusal is about nothing but an unfinished loop. */
export function isOnlyLoop({ code, details }: Denied): boolean {
  const [missing, invalid] = [textsIn(details.missing), textsIn(details.invalid)];
  return code === 'CONTRACT_VIOLATION' && invalid.length === 0 && missing.length === 1 && isLoopCode(missing[0]);
}

/** How the loop goes on after a refusal that is about nothing else; null where its iterations, or ours, are spent. */
export function unfinishedLoop(refusal: Denied, heldBefore: number): UnfinishedLoop | null {
  if (!isOnlyLoop(refusal)) return null;
  const { code, iteration, max, metric, threshold } = partsIn(refusal);
  if (!(heldBefore < roundsMax(max))) return null;
  const said = `COMPLETE at iteration ${iteration} of ${max}`;
  const told = `COMPLETE is not accepted yet (${code}): the metric is ${metric}, below its threshold of ${threshold}, and iterations are left. Go on with the next iteration, and report COMPLETE when the threshold is reached or the iterations are used up.`;
  return { round: heldBefore + 1, said, told };
}

/** A refusal in words for people. A COMPLETE whose loop is unfinished is refused without being a broken report. */
export function shownRefusal({ verdict, loop }: { readonly verdict: Denied; readonly loop?: UnfinishedLoop }): Denied {
  if (!loop) return verdict;
  const { iteration, max, metric, threshold } = partsIn(verdict);
  const reason = `COMPLETE is not accepted yet, round ${loop.round} of ${roundsMax(max)}: at iteration ${iteration} of ${max} the metric is ${metric}, below its threshold of ${threshold}`;
  return deny('LOOP_STATE_INCOMPLETE', reason, verdict.details);
}

function roundsMax(max: string): number {
  return Math.min(Number(max), HELD_MAX);
}

function partsIn({ details }: Denied) {
  const [code = ''] = textsIn(details.missing);
  const [, iteration = '', max = '', metric = '', threshold = ''] = PARTS.exec(code) ?? [];
  return { code, iteration, max, metric, threshold };
}

const PARTS = /^LOOP_STATE_INCOMPLETE:iteration=([^<]{1,40})<max=([^,]{1,40}),metric=([^<]{1,40})<threshold=(.{1,40})$/;

function isLoopCode(code: string | undefined): boolean {
  return code?.startsWith(CODE) === true;
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter(isString) : [];
}
