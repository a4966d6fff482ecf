// Statuses that one agent reported, in the words in which it reported them.
import type { Json } from '../../kernel/json.ts';
import { NOT_STARTED, type Progress, step } from '../../kernel/report/status.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { normaliseStatus } from './contract.ts';
import { textOf } from './finding.ts';

export {
  IN_PROGRESS_MAX,
  LEGAL_TRANSITIONS,
  NOT_STARTED,
  type Progress,
  SET_TO_WORK,
} from '../../kernel/report/status.ts';

/** Whether the report may follow, and where the agent stands afterwards. */
export function follow(progress: Progress, report: Json): { readonly verdict: Verdict; readonly progress: Progress } {
  return step(progress, normaliseStatus(textOf(report).trim()));
}

/** The verdict about the last of the statuses one agent reported, in order. */
export function judgeTransitions({ reports }: { readonly reports: readonly Json[] }): Verdict {
  let progress = NOT_STARTED;
  let last: Verdict | null = null;
  for (const report of reports) {
    const next = follow(progress, report);
    progress = next.progress;
    last = next.verdict;
  }
  if (last !== null) return last;
  const details = { in_progress_count: 0, warning: null };
  return deny('CONTRACT_VIOLATION', 'reports is empty: give at least one plan_status', details);
}
