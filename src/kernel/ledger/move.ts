// Moves between statuses that are not claims: by hand, and when an owner has fallen silent.
import type { Code } from '../codes.ts';
import { isText, type JsonObject } from '../json.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { lastHeard } from './beat.ts';
import { isSpent } from './blocking.ts';
import { claimTask, refusalOfCast, refusalOfVersion } from './claim.ts';
import { type LedgerPen, refuse, refuseTask } from './pen.ts';
import type { Actor, RequestOf } from './request.ts';
import { findTask, type Task, UNASSIGNED } from './state.ts';
import { isTerminal, mayMove, type TaskStatus } from './transition.ts';

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

/** A silent task is blocked, which frees its paths, and handed out again while its retries last. */
export function expireTask(pen: LedgerPen, request: RequestOf<'task.expire'>): Verdict {
  const found = findTask(pen.ledger, request);
  if (!found.ok) return refuse(pen, 'expire', request, found.refusal);
  const { task } = found;
  const heard = lastHeard(request.lastHeartbeatAt, task.claimedAt, pen.at);
  const silentS = Math.floor(pen.at / 1000) - Math.floor(heard / 1000);
  const late = request.fence === undefined ? null : refusalOfFence(task, request.fence);
  const refusal = refusalOfExpiry(task) ?? late ?? (request.why === 'silent' ? refusalOfAlive(task, silentS) : null);
  if (refusal) return refuseTask(pen, 'expire', task, refusal);
  const { id, owner } = task;
  const [isLast, retry] = [isSpent(task), task.retries + 1];
  const told = request.why === 'gone' ? `${owner} is gone` : `${owner} was silent for ${silentS} s`;
  const what = request.observed === undefined ? told : `${told} (${request.observed})`;
  const fate = isLast ? `its ${task.retriesMax} retries are used up; a person decides` : 'it is handed out again';
  const seen = request.observed === undefined ? {} : { observed: request.observed };
  const evidence = { lastHeartbeatAt: heard, timeoutS: task.timeoutS, silentS, why: request.why, ...seen };
  settle(pen, task, 'blocked', { reason: `${what}: ${fate}`, code: 'TASK_TIMEOUT', evidence });
  if (!isLast) settle(pen, task, 'todo', { reason: `${what}: retry ${retry} of ${task.retriesMax}` });
  const details = { run: task.run, task: id, status: task.status, code: task.code, retries: task.retries };
  return allow(`${id} timed out; ${fate}`, { ...details, escalates: isLast, version: task.version });
}

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

function refusalOfExpiry({ id, status, version }: Task): Denied | null {
  if (status === 'in_progress') return null;
  const reason = `${id} is ${status}; only a task in progress can time out.`;
  return deny('INVALID_TRANSITION', reason, { task: id, from: status, to: 'blocked', version });
}

/** A heartbeat exactly as old as the limit is still in time; one of an earlier claim does not count. */
function refusalOfAlive({ id, timeoutS }: Task, silentS: number): Denied | null {
  if (silentS > timeoutS) return null;
  const reason = `${id} was heard of ${silentS} s ago and has ${timeoutS} s; it is alive.`;
  return deny('NOT_ALLOWED_NOW', reason, { task: id, age_seconds: silentS, timeout_seconds: timeoutS });
}
