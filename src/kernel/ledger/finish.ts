// Taking the result of a task. A result that is refused changes nothing: its owner may mend it and send it again.
import { isObject, isString, type Json, type JsonObject } from '../json.ts';
import { type Denied, deny, type Verdict } from '../verdict.ts';
import { refusalOfAcceptance } from './acceptance.ts';
import { codeOfResult, isSpent, isStructural, reasonOfResult } from './blocking.ts';
import { refusalOfCast } from './claim.ts';
import { refusalOfFence, refusalOfMove, settle } from './move.ts';
import { normalPath } from './path.ts';
import { pathKey } from './path-key.ts';
import { type LedgerPen, refuse, refuseTask } from './pen.ts';
import type { RequestOf } from './request.ts';
import { refusalOfChanges } from './scope.ts';
import { findTask, type Task } from './state.ts';
import { isTerminal, type TaskStatus } from './transition.ts';

export function finishTask(pen: LedgerPen, request: RequestOf<'task.finish'>): Verdict {
  const found = findTask(pen.ledger, request);
  if (!found.ok) return refuse(pen, 'finish', request, found.refusal);
  const { task } = found;
  const { result } = request;
  const to = statusAfter(task, result);
  const early =
    refusalOfCast(pen.ledger, task) ??
    refusalOfStranger(task, result) ??
    refusalOfFence(task, request.fence) ??
    refusalOfMove(task, to);
  if (early) return refuseTask(pen, 'finish', task, early);
  if (isTerminal(task.status)) return settle(pen, task, to, { reason: 'the same result again' });
  const isDone = to === 'done';
  const changes = [...changesOf(result), ...(request.changes ?? [])];
  const refusal =
    refusalOfChanges(task, changes, pen.ledger.locks) ??
    (isDone ? refusalOfAcceptance(task, result, request.checks ?? {}) : null);
  if (refusal) return refuseTask(pen, 'finish', task, refusal);
  const evidence: Record<string, Json> = { result };
  if (request.changes) evidence.changes = request.changes;
  if (request.checks) evidence.checks = request.checks;
  if (isDone) return settle(pen, task, to, { reason: 'every criterion passed', evidence });
  return settle(pen, task, to, { reason: reasonOfResult(result), code: codeOfResult(task, result), evidence });
}

/** A failure blocks the task, so that it can be planned again; it is final when the retries are used up. */
function statusAfter(task: Task, result: JsonObject): TaskStatus {
  if (result.status === 'done') return 'done';
  if (result.status !== 'failed') return 'blocked';
  const isFinal = isSpent(task) && !isStructural(codeOfResult(task, result));
  return isFinal || isTerminal(task.status) ? 'failed' : 'blocked';
}

/** A result belongs to its assignment by the names of run and task, and by the worklog that the assignment names. */
function refusalOfStranger(task: Task, result: JsonObject): Denied | null {
  const { run, id } = task;
  const { run_id, task_id } = result;
  if (run_id !== run || task_id !== id) {
    const reason = `The result is one of task ${String(task_id)} in run ${String(run_id)}, not of ${id} in run ${run}.`;
    return deny('SCHEMA_INVALID', reason, { task: id, run, result: { task: task_id ?? null, run: run_id ?? null } });
  }
  return refusalOfOtherWorklog(task, result);
}

/** Whoever names another worklog than its assignment speaks of other work. */
export function refusalOfOtherWorklog({ id, worklogPath }: Task, { worklog_path: written }: JsonObject): Denied | null {
  if (worklogPath === '' || written === undefined || sameFile(written, worklogPath)) return null;
  const reason = `The result names another worklog than the assignment of ${id}; copy its worklog_path, ${JSON.stringify(worklogPath)}.`;
  return deny('SCHEMA_INVALID', reason, { task: id, path: 'worklog_path', expected: worklogPath });
}

function sameFile(written: Json | undefined, named: string): boolean {
  if (written === named) return true;
  const [a, b] = [isString(written) ? normalPath(written) : null, normalPath(named)];
  return a?.ok === true && b.ok && pathKey(a.path, false) === pathKey(b.path, false);
}

function changesOf({ changes }: JsonObject): readonly string[] {
  if (!Array.isArray(changes)) return [];
  return changes.flatMap((change) => (isObject(change) && isString(change.resource) ? [change.resource] : []));
}
