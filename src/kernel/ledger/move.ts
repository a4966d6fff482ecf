// Moves of a task that are not claims: by hand, by a result, and when its owner is silent. The signs of life of an owner are kept
// outside the facts, under the fence of its claim, so that a heartbeat costs the same however long the log is.
import { CODES, type Code } from '../codes.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../json.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { claimTask, refusalOfCast, refusalOfVersion } from './claim.ts';
import { type LedgerFact, type LedgerPen, type Requester, type RequestOf, refuse, refuseTask } from './fact.ts';
import {
  findTask,
  isTerminal,
  type Ledger,
  mayMove,
  runOf,
  type Task,
  type TaskStatus,
  taskOf,
  UNASSIGNED,
} from './state.ts';

/** What a move changes in addition to the status. */
type MoveNote = {
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
  // A task that is given up is blocked first, because there is no other way back.
  if (isFreed && to === 'todo') settle(pen, task, 'blocked', { reason, code: request.code ?? 'ABORTED' });
  const code = to === 'blocked' ? (request.code ?? 'ABORTED') : (request.code ?? null);
  if (actor !== 'person' || to !== 'done') return settle(pen, task, to, { reason, code });
  const { by = 'a person' } = request;
  const note = `moved to done by ${by}, no evidence checked: ${reason}`;
  return settle(pen, task, to, { reason: note, code, evidence: { checked: false, by, reason } });
}

/**
 * A cast hands its tasks out and takes their results. A person may say of one that is not in progress that it is to be tried
 * again or left out; an agent may not.
 */
export function mayMoveInCast({ status }: Pick<Task, 'status'>, to: TaskStatus, actor: Requester): boolean {
  return actor === 'person' && status !== 'in_progress' && (to === 'todo' || to === 'canceled' || to === 'failed');
}

/** While nothing of its cast runs, a person may take a task in progress away from it, which gives the paths back. */
function mayFree(pen: LedgerPen, { run, status }: Task, to: TaskStatus, actor: Requester): boolean {
  if (actor !== 'person' || status !== 'in_progress' || !FREED.includes(to)) return false;
  return (pen.stoppedRun?.(run) ?? null) !== null;
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
  const now = current === null ? `${id} is ${status} and has no owner` : `${id} was claimed again since`;
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
function refusalOfActor({ id, status }: Task, to: TaskStatus, actor: Requester, fence?: number): Denied | null {
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
  const stated = knownCode(result.x_code) ?? knownCode(task.worklog.code);
  return stated ?? (result.status === 'failed' ? 'ACCEPTANCE_FAILED' : 'MISSING_REQUIRED_INPUT');
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
  const stated = knownCode(delta.x_code) ?? (delta.timed_out === true ? 'TASK_TIMEOUT' : listed);
  return stated ?? code ?? 'MISSING_REQUIRED_INPUT';
}

/** Why a delta blocks its task: what the list of blockers says of it, else the reason of the delta itself. */
export function reasonOfDelta(delta: JsonObject, blockers: readonly JsonObject[]): string {
  const blocker = delta.status === 'blocked' ? blockers.find((each) => each.task_id === delta.task_id) : undefined;
  return isText(blocker?.reason) ? blocker.reason : String(delta.reason);
}

/** What is known of the life of a claim's owner. */
export type Beat = {
  readonly run: string;
  /** The id by which packets call the run, where it is not the same. */
  readonly runId?: string;
  readonly task: string;
  readonly owner: string;
  /** The last sign of life of the owner, in milliseconds. */
  readonly at: number;
  /** The owner's clock at its last sign, where it was far below `at`: one of the two was wrong. */
  readonly latest?: number;
  readonly timeoutS: number;
  /** The process that works on the task, where the owner named it. */
  readonly worker?: BeatProcess;
};

export type BeatProcess = {
  readonly host: string;
  readonly pid: number;
  readonly startTime: string;
  readonly machine?: string;
  readonly namespace?: string;
};

/** A change to the records of life that goes with a fact: a new record, or the end of one. */
type BeatChange = { readonly name: string; readonly value: string | null };

/** As far as the clocks of two machines may differ. */
export const SKEW_MS_MAX = 30_000;

export const BEATS = 'fence:';

export function beatName(fence: number): string {
  return `${BEATS}${fence}`;
}

export function beatText(beat: Beat): string {
  return JSON.stringify(beat);
}

/** The record in a text that was kept, or null where it is none. */
export function beatOf(text: string | null): Beat | null {
  if (text === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  const { run, task, owner, at, latest = 0, timeoutS } = value;
  const isBeat = isString(run) && isString(task) && isString(owner) && [at, latest, timeoutS].every(Number.isFinite);
  return isBeat ? (value as unknown as Beat) : null;
}

/** The record after a sign of life, or null when it is not the owner of this very claim who gives it. */
export function beatAgain(
  held: Beat | null,
  sign: Pick<Beat, 'task' | 'owner' | 'at'> & { run?: string },
): Beat | null {
  if (!held || held.task !== sign.task || held.owner !== sign.owner) return null;
  if (sign.run !== undefined && sign.run !== held.run && sign.run !== held.runId) return null;
  const { latest, at, ...rest } = held;
  if (!isAhead(at, sign.at)) return { ...rest, at: Math.max(at, sign.at) };
  // A clock that was set back still measures the time between its own signs.
  const unknown = Math.min(SKEW_MS_MAX, (held.timeoutS * 1000) / 2);
  const passed = latest === undefined ? unknown : Math.max(0, sign.at - latest);
  return { ...rest, at: at + passed, latest: sign.at };
}

/** Whether a time lies further ahead than clocks may differ, in whole seconds. */
export function isAhead(at: number, now: number): boolean {
  return (Math.floor(at / 1000) - Math.floor(now / 1000)) * 1000 > SKEW_MS_MAX;
}

/** The last sign of life for a reader whose clock says `now`. An impossible time gives way to a possible one. */
export function lastSignAt({ at, latest = at }: Pick<Beat, 'at' | 'latest'>, now: number): number {
  return isAhead(at, now) ? latest : at;
}

/** The same with the claim as the first sign of life. The log's times never go back, so that a claim may seem to lie ahead. */
export function lastSign(lastBeat: number | null, claimedAt: number | null, now: number): number {
  if (lastBeat === null) return claimedAt ?? 0;
  return claimedAt === null || isAhead(claimedAt, now) ? lastBeat : Math.max(lastBeat, claimedAt);
}

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

/** A silent task is blocked, which frees its paths, and handed out again while its retries last. */
export function expireTask(pen: LedgerPen, request: RequestOf<'task.expire'>): Verdict {
  const found = findTask(pen.ledger, request);
  if (!found.ok) return refuse(pen, 'expire', request, found.refusal);
  const { task } = found;
  const lastBeat = lastSign(request.lastHeartbeatAt, task.claimedAt, pen.at);
  const silentS = Math.floor(pen.at / 1000) - Math.floor(lastBeat / 1000);
  const late = request.fence === undefined ? null : refusalOfFence(task, request.fence);
  const refusal = refusalOfExpiry(task) ?? late ?? (request.why === 'silent' ? refusalOfAlive(task, silentS) : null);
  if (refusal) return refuseTask(pen, 'expire', task, refusal);
  const { id, owner } = task;
  const [isLast, retry] = [isSpent(task), task.retries + 1];
  const silence = request.why === 'gone' ? `${owner} is gone` : `${owner} was silent for ${silentS} s`;
  const what = request.observed === undefined ? silence : `${silence} (${request.observed})`;
  const fate = isLast ? `its ${task.retriesMax} retries are used up; a person decides` : 'it is handed out again';
  const seen = request.observed === undefined ? {} : { observed: request.observed };
  const evidence = { lastHeartbeatAt: lastBeat, timeoutS: task.timeoutS, silentS, why: request.why, ...seen };
  settle(pen, task, 'blocked', { reason: `${what}: ${fate}`, code: 'TASK_TIMEOUT', evidence });
  if (!isLast) settle(pen, task, 'todo', { reason: `${what}: retry ${retry} of ${task.retriesMax}` });
  const details = { run: task.run, task: id, status: task.status, code: task.code, retries: task.retries };
  return allow(`${id} timed out; ${fate}`, { ...details, escalates: isLast, version: task.version });
}

function refusalOfExpiry({ id, status, version }: Task): Denied | null {
  if (status === 'in_progress') return null;
  const reason = `${id} is ${status}; only a task in progress can time out.`;
  return deny('INVALID_TRANSITION', reason, { task: id, from: status, to: 'blocked', version });
}

/** A heartbeat exactly as old as the limit is still in time. */
export function isSilent(ageS: number, timeoutS: number): boolean {
  return ageS > timeoutS;
}

function refusalOfAlive({ id, timeoutS }: Task, silentS: number): Denied | null {
  if (isSilent(silentS, timeoutS)) return null;
  const reason = `${id} was heard of ${silentS} s ago and has ${timeoutS} s; it is alive.`;
  return deny('NOT_ALLOWED_NOW', reason, { task: id, age_seconds: silentS, timeout_seconds: timeoutS });
}
