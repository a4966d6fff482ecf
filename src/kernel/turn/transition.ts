// Which status an agent may report after which, and how often in a row it may say that it is still at work. A report
// that is refused is not recorded: the agent stands where it stood and may make a legal move instead.
import { allow, deny, type Verdict } from '../verdict.ts';
import { isPlanStatus, PLAN_STATUSES, type PlanStatus } from './plan-status.ts';

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

/** Where an agent stands: the last status that counted. */
export type Progress = { readonly status: PlanStatus | null; readonly inProgressCount: number };

export const NOT_STARTED: Progress = { status: null, inProgressCount: 0 };

/** After an answer, an approval or rework the runtime itself sets the agent to work, which counts against no cap. */
export const SET_TO_WORK: Progress = { status: 'IN_PROGRESS', inProgressCount: 0 };

/** What an agent that stands there may report next. */
export function mayFollow({ status }: Pick<Progress, 'status'>): readonly PlanStatus[] {
  return status === null ? PLAN_STATUSES : LEGAL_TRANSITIONS[status];
}

/** Whether a report, already in capitals, may follow, and where the agent stands afterwards. */
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
