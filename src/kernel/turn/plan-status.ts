// How the work of an agent stands, in the five words in which it reports.
import type { Outcome } from '../dialect.ts';

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
