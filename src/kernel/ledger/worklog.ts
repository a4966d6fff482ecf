// Adding an entry to the worklog of a task. Entries only ever come after each other; none is changed, and none covers up the
// closing words of a task that stands still.
import { isText, type JsonObject } from '../json.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { refusalOfFence } from './move.ts';
import { type LedgerPen, refuse, refuseTask } from './pen.ts';
import type { RequestOf } from './request.ts';
import { findTask, runOf, type Task } from './state.ts';
import { unknownMembers } from './worklog-entry.ts';

export function addWorklog(pen: LedgerPen, request: RequestOf<'worklog.add'>): Verdict {
  const found = findTask(pen.ledger, request);
  if (!found.ok) return refuse(pen, 'worklog', request, found.refusal);
  const { task } = found;
  const { run, id } = task;
  const { entry, by } = request;
  const late =
    request.fence === undefined ? refusalOfUnfenced(task, request.actor) : refusalOfFence(task, request.fence);
  if (late) return refuseTask(pen, 'worklog', task, late);
  const runId = runOf(pen.ledger, run)?.runId ?? run;
  if (entry.run_id !== runId || entry.task_id !== id) {
    const other = { run: entry.run_id ?? null, task: entry.task_id ?? null };
    const reason = `The entry is one of task ${String(other.task)} in run ${String(other.run)}, not of ${id} in run ${runId}.`;
    return refuseTask(pen, 'worklog', task, deny('SCHEMA_INVALID', reason, { run, task: id, entry: other }));
  }
  const unknown = refusalOfUnknown(task, entry);
  if (unknown) return refuseTask(pen, 'worklog', task, unknown);
  const buried = refusalOfBurying(task, entry);
  if (buried) return refuseTask(pen, 'worklog', task, buried);
  pen.write({ kind: 'worklog.added', run, task: id, by, entry });
  return allow(`entry ${task.worklog.entries} of ${id}`, { run, task: id, entries: task.worklog.entries });
}

/** An agent that has lost its claim must not be heard only because it leaves its token out. */
function refusalOfUnfenced({ id, status }: Task, actor: RequestOf<'worklog.add'>['actor']): Denied | null {
  if (actor !== 'agent' || status !== 'in_progress') return null;
  const reason = `${id} is in progress, and an agent writes its worklog under its claim; give the fence of the claim.`;
  return deny('MISSING_REQUIRED_INPUT', reason, { task: id, missing: ['fence'] });
}

function refusalOfUnknown({ id }: Task, entry: JsonObject): Denied | null {
  const unknown = unknownMembers(entry);
  if (unknown.length === 0) return null;
  const shown = JSON.stringify(unknown[0]?.slice(0, NAME_SHOWN_MAX));
  const reason = `The entry of ${id} has the member ${shown}, which is not part of the contract; leave it out, or start its name with x_.`;
  return deny('SCHEMA_INVALID', reason, { task: id, unknown: unknown.slice(0, UNKNOWN_LISTED_MAX) });
}

const NAME_SHOWN_MAX = 60;
const UNKNOWN_LISTED_MAX = 20;

/** What a blocked or failed task has for its last words says why and what comes next, and stays that way. */
function refusalOfBurying({ id, status }: Task, { code, next_step }: JsonObject): Denied | null {
  if ((status !== 'blocked' && status !== 'failed') || (isText(code) && isText(next_step))) return null;
  const missing = Object.entries({ code, next_step }).flatMap(([name, value]) => (isText(value) ? [] : [name]));
  const reason = `${id} is ${status}: its last entry says why and what comes next; give ${missing.join(' and ')} too.`;
  return deny('MISSING_REQUIRED_INPUT', reason, { task: id, status, missing });
}
