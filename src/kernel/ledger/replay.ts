// The ledger alone, told from the facts that concern it: for those who only ask who holds what, and have no time for the casts.
import { type Entry, timeOf } from '../fact.ts';
import { applyLedger, openRun, planTasks } from './apply.ts';
import { isLedgerFact } from './fact.ts';
import { type Ledger, runOf } from './state.ts';

/**
 * How the kinds of these facts begin. What makes tasks comes last: whoever reads kind after kind while others append must not
 * hear what became of a task without having heard of the task.
 */
export const LEDGER_KINDS = [
  ...['worklog.', 'deltas.', 'ledger.', 'task.'],
  ...['items.planned', 'run.named', 'cast.started'],
] as const;

/** Does to the ledger what the fact does to it within the whole state. Facts that do not concern it may be left out. */
export function applyToLedger(ledger: Ledger, entry: Pick<Entry, 'at' | 'clock' | 'fact'>): void {
  const { fact } = entry;
  if (fact.kind === 'cast.started') openRun(ledger, fact.cast, fact.runId ?? fact.cast);
  else if (fact.kind === 'items.planned') {
    if (fact.spec) planTasks(ledger, fact.cast, fact.tasks, fact.spec, fact.rows);
  } else if (fact.kind === 'run.named') {
    const run = runOf(ledger, fact.cast);
    if (run) run.runId = fact.runId;
  } else if (isLedgerFact(fact)) applyLedger(ledger, fact, timeOf(entry));
}
