// Heartbeats. While a claim lasts, when its owner was last heard of is kept outside the facts, under the claim's token; a
// sign of life that finds no such record comes here, to be told why and to be written down.
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { type BeatChange, beatName, beatText } from './beat.ts';
import type { LedgerFact } from './fact.ts';
import { refusalOfFence } from './move.ts';
import { type LedgerPen, refuse, refuseTask } from './pen.ts';
import type { RequestOf } from './request.ts';
import { findTask, type Ledger, runOf, type Task, taskOf } from './state.ts';

/** What a fact changes in the records: a claim opens one, and what ends a claim ends its record with it. */
export function beatChanges(ledger: Ledger, fact: LedgerFact, at: number): readonly BeatChange[] {
  if (fact.kind === 'task.moved' && fact.fence !== undefined) return [{ name: beatName(fact.fence), value: null }];
  if (fact.kind !== 'task.claimed') return [];
  const { run, task, owner, fence, replaces } = fact;
  const timeoutS = taskOf(ledger, run, task)?.timeoutS ?? 0;
  const runId = runOf(ledger, run)?.runId ?? run;
  const named = { run, ...(runId === run ? {} : { runId }), task, owner };
  const opened = { name: beatName(fence), value: beatText({ ...named, at, timeoutS }) };
  return replaces === undefined ? [opened] : [{ name: beatName(replaces), value: null }, opened];
}

export function hearTask(pen: LedgerPen, request: RequestOf<'task.heartbeat'>): Verdict {
  const found = findTask(pen.ledger, request);
  if (!found.ok) return refuse(pen, 'heartbeat', request, found.refusal);
  const { task } = found;
  const refusal = refusalOfEnd(task, request.fence) ?? refusalOfOwner(task, request.owner);
  if (refusal) return refuseTask(pen, 'heartbeat', task, refusal);
  return allow(`${task.id} is alive`, { run: task.run, task: task.id, owner: task.owner, fence: request.fence });
}

/** Unlike a result, a heartbeat is never repeated for a task that has ended. */
function refusalOfEnd(task: Task, fence: number): Denied | null {
  const { id, status, fence: current } = task;
  if (fence === current) return null;
  const late = refusalOfFence(task, fence);
  if (late) return late;
  const reason = `Fence ${fence} is no longer that of ${id}: it is ${status}. Stop working on it.`;
  return deny('CONCURRENCY_CONFLICT', reason, { task: id, fence, current, status });
}

function refusalOfOwner({ id, owner, status, fence }: Task, asking: string): Denied | null {
  if (asking === owner) return null;
  const reason = `${id} belongs to ${owner}, not to ${asking}; use the name under which it was claimed.`;
  return deny('CONCURRENCY_CONFLICT', reason, { task: id, fence, status, owner });
}
