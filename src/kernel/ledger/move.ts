// Moves between statuses that are not claims: by hand, and when an owner has fallen silent.
import { CODES, type Code } from '../codes.ts';
import { isString, isText, type Json, type JsonObject } from '../json.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { claimTask, refusalOfCast, refusalOfVersion } from './claim.ts';
import type { Actor, RequestOf } from './fact.ts';
import { type LedgerPen, refuse, refuseTask } from './pen.ts';
import { findTask, isTerminal, mayMove, type Task, type TaskStatus, UNASSIGNED } from './state.ts';

/** What a move changes beside the status. */
export type MoveNote = {
  readonly reason: string;
  readonly code?: Code | null;
  readonly owner?: string;
  readonly notBefore?: number | null;
  readonly evidence?: JsonObject | null;
};

export function moveTask(pen: LedgerPen, request: RequestOf<'task.move'>): Verdict {
  const { to, reason, fence } = request;
  const found = findTask(pen.ledger, request);
  if (!found.ok) return refuse(pen, 'move', request, found.refusal);
  const { task } = found;
  const actor = request.actor ?? (fence === undefined ? 'person' : 'agent');
  const isFreed = mayFree(pen, task, to, actor);
  const refusal =
    refusalOfReason(reason) ??
    (isFreed || mayMoveInCast(task, to, actor) ? null : refusalOfCast(pen.ledger, task)) ??
    refusalOfVersion(task, request.expectedVersion) ??
    (fence === undefined ? null : refusalOfFence(task, fence)) ??
    (isFreed && to === 'todo' ? null : refusalOfMove(task, to)) ??
    refusalOfActor(task, to, actor, fence);
  if (refusal) return refuseTask(pen, 'move', task, refusal);
  if (to === 'in_progress') return claimTask(pen, task, request.owner ?? task.owner);
  // What is given up is blocked first, as there is no other way back.
  if (isFreed && to === 'todo') settle(pen, task, 'blocked', { reason, code: request.code ?? 'ABORTED' });
  const code = to === 'blocked' ? (request.code ?? 'ABORTED') : (request.code ?? null);
  if (actor !== 'person' || to !== 'done') return settle(pen, task, to, { reason, code });
  const { by = 'a person' } = request;
  const told = `moved to done by ${by}, no evidence checked: ${reason}`;
  return settle(pen, task, to, { reason: told, code, evidence: { checked: false, by, reason } });
}

/**
 * A cast hands its tasks out and takes their results. A person may say of one that is not in progress that it is to be tried
 * again or left out; an agent may not.
 */
function mayMoveInCast({ status }: Task, to: TaskStatus, actor: Actor): boolean {
  return actor === 'person' && status !== 'in_progress' && (to === 'todo' || to === 'canceled' || to === 'failed');
}

/** While nothing of its cast runs, a person may take a task in progress away from it, which gives the paths back. */
function mayFree(pen: LedgerPen, { run, status }: Task, to: TaskStatus, actor: Actor): boolean {
  if (actor !== 'person' || status !== 'in_progress' || !FREED.includes(to)) return false;
  return (pen.standing?.(run) ?? null) !== null;
}

const FREED: readonly TaskStatus[] = ['blocked', 'todo', 'canceled'];

/** Writes a legal move. What leaves `in_progress` gives its locks back in the same fact. */
export function settle(pen: LedgerPen, task: Task, to: TaskStatus, note: MoveNote): Verdict {
  const { run, id, status: from } = task;
  const replay = from === to && isTerminal(from);
  const releases = from === 'in_progress' && to !== 'in_progress';
  const isBack = to === 'todo';
  // How long it was to be left alone is not forgotten on the way back.
  const notBefore = isBack ? task.notBefore : null;
  const kept = { owner: isBack ? UNASSIGNED : task.owner, code: null, notBefore, evidence: null };
  pen.write({
    kind: 'task.moved',
    run,
    task: id,
    from,
    to,
    replay,
    releases,
    ...(releases && task.fence !== null ? { fence: task.fence } : {}),
    retries: task.retries + (to === 'blocked' && from !== 'blocked' ? 1 : 0),
    ...kept,
    ...note,
  });
  const details = { run, task: id, from, to, version: task.version, retries: task.retries, replay };
  return allow(replay ? `${id} is ${to} already` : `${id} is ${to}`, details);
}

/** Whether the fence is that of the present claim, or of the claim that ended the task for good. */
export function refusalOfFence(task: Task, fence: number): Denied | null {
  const { id, status, fence: current, lastFence } = task;
  if (fence === current || (isTerminal(status) && fence === lastFence)) return null;
  const now = current === null ? `${id} is ${status} and belongs to nobody` : `${id} was claimed again since`;
  const isOld = fence > 0 && (fence < (lastFence ?? 0) || current === null);
  const reason = isOld
    ? `Fence ${fence} is no longer that of ${id}: ${now}. Stop working on it.`
    : `Fence ${fence} was never given for ${id}; ${current === null ? now : `its claim has fence ${current}`}.`;
  return deny('CONCURRENCY_CONFLICT', reason, { task: id, fence, current, status });
}

export function refusalOfMove(task: Task, to: TaskStatus): Denied | null {
  const move = mayMove(task.status, to);
  return move.allow ? null : { ...move, details: { ...move.details, task: task.id, version: task.version } };
}

function refusalOfReason(reason: string): Denied | null {
  if (isText(reason)) return null;
  return deny('MISSING_REQUIRED_INPUT', 'A move needs a reason; say why.', { missing: ['reason'] });
}

/**
 * An agent may give its task up. That it is done it shows with a result; the rest is not for the agent to decide. A person who
 * says that a task is done takes the evidence upon himself, and the log says who it was.
 */
function refusalOfActor({ id, status }: Task, to: TaskStatus, actor: Actor, fence?: number): Denied | null {
  if (actor !== 'agent' || to === 'blocked' || to === status) return null;
  const details = { task: id, to, actor };
  if (to === 'done' && fence === undefined) {
    const reason = `Only a person may say without evidence that ${id} is done, and this process was started by an agent; finish it with a result.`;
    return deny('APPROVER_IS_AGENT', reason, details);
  }
  if (to === 'done') {
    return deny('ACCEPTANCE_FAILED', `${id} is done when its result shows it; finish it with a result.`, details);
  }
  const reason = `An agent cannot move ${id} to ${to}; report a blocked or failed result, or ask a person.`;
  return deny('NON_COMPLIANT', reason, details);
}

// Why a task stands still: the code it carries while it is blocked, and whether the same work may be tried again.
/** The code that a text names, or null. */
export function knownCode(value: Json | undefined): Code | null {
  return isString(value) && Object.hasOwn(CODES, value) ? (value as Code) : null;
}

/** Whether a task that stops now has used up its attempts. */
export function isSpent({ retries, retriesMax }: Task): boolean {
  return retries >= retriesMax;
}

/** The code of a result that is not done: its own, else that of the last worklog entry, else what its status means. */
export function codeOfResult(task: Task, result: JsonObject): Code {
  const said = knownCode(result.x_code) ?? knownCode(task.worklog.code);
  return said ?? (result.status === 'failed' ? 'ACCEPTANCE_FAILED' : 'MISSING_REQUIRED_INPUT');
}

/** What a result that is not done says about itself. */
export function reasonOfResult(result: JsonObject): string {
  const notes = Array.isArray(result.notes_for_orchestrator) ? result.notes_for_orchestrator.filter(isText) : [];
  return notes[0] ?? `the agent reported ${String(result.status)}`;
}

/** The code of a delta that blocks its task; one that says a task is still blocked keeps the code it has. */
export function codeOfDelta(delta: JsonObject, blockers: readonly JsonObject[], { code }: Task): Code {
  const blocker = blockers.find((each) => each.task_id === delta.task_id);
  const listed = knownCode(blocker?.x_code) ?? knownCode(blocker?.code);
  const said = knownCode(delta.x_code) ?? (delta.timed_out === true ? 'TASK_TIMEOUT' : listed);
  return said ?? code ?? 'MISSING_REQUIRED_INPUT';
}

/** Why a delta blocks its task: what the list of blockers says of it, else the reason of the delta itself. */
export function reasonOfDelta(delta: JsonObject, blockers: readonly JsonObject[]): string {
  const blocker = delta.status === 'blocked' ? blockers.find((each) => each.task_id === delta.task_id) : undefined;
  return isText(blocker?.reason) ? blocker.reason : String(delta.reason);
}
