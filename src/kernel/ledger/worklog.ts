// Adding an entry to the worklog of a task. Entries only ever come after each other; none is changed.
import { allow, deny, type Verdict } from '../verdict.ts';
import { refusalOfFence } from './move.ts';
import { type LedgerPen, refuse, refuseTask } from './pen.ts';
import type { RequestOf } from './request.ts';
import { findTask, runOf } from './state.ts';

export function addWorklog(pen: LedgerPen, request: RequestOf<'worklog.add'>): Verdict {
  const found = findTask(pen.ledger, request);
  if (!found.ok) return refuse(pen, 'worklog', request, found.refusal);
  const { task } = found;
  const { run, id } = task;
  const { entry, by } = request;
  const late = request.fence === undefined ? null : refusalOfFence(task, request.fence);
  if (late) return refuseTask(pen, 'worklog', task, late);
  const runId = runOf(pen.ledger, run)?.runId ?? run;
  if (entry.run_id !== runId || entry.task_id !== id) {
    const other = { run: entry.run_id ?? null, task: entry.task_id ?? null };
    const reason = `The entry is one of task ${String(other.task)} in run ${String(other.run)}, not of ${id} in run ${runId}.`;
    return refuseTask(pen, 'worklog', task, deny('SCHEMA_INVALID', reason, { run, task: id, entry: other }));
  }
  pen.write({ kind: 'worklog.added', run, task: id, by, entry });
  return allow(`entry ${task.worklog.entries} of ${id}`, { run, task: id, entries: task.worklog.entries });
}
