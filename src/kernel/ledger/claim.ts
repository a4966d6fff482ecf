// Claiming a task: it and all its locks go to one owner in one step, or nothing does. Every claim gets a fence, a number
// larger than any before it, by which a late answer to an earlier claim is told apart.
import { isText, type JsonObject } from '../json.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { isStructural } from './blocking.ts';
import { refusalOfDependencies } from './dependency.ts';
import { type Lock, rivalOf } from './lock-tree.ts';
import { type LedgerPen, refuse, refuseTask } from './pen.ts';
import type { RequestOf } from './request.ts';
import { refusalOfGoverning } from './scope.ts';
import {
  findTask,
  keyOf,
  type Ledger,
  runOf,
  type Task,
  taskKey,
  taskOf,
  tasksOf,
  UNASSIGNED,
  wantedLocks,
} from './state.ts';
import { mayMove } from './transition.ts';
import { compareRank, isOwed, owedBefore, PASSED_OVER_MAX } from './waiting.ts';

/** At most so many tasks that a search passed over are written down, the first in rank. */
export const PASSED_OVER_NOTED_MAX = 16;

export function claim(pen: LedgerPen, request: RequestOf<'task.claim'>): Verdict {
  const found = findTask(pen.ledger, request);
  if (!found.ok) return refuse(pen, 'claim', request, found.refusal);
  const refusal = refusalOfCast(pen.ledger, found.task);
  if (refusal) return refuseTask(pen, 'claim', found.task, refusal);
  return claimTask(pen, found.task, request.owner, request.expectedVersion);
}

export function claimTask(pen: LedgerPen, task: Task, owner: string, expectedVersion?: number): Verdict {
  const refusal = refusalOfClaim(pen.ledger, task, owner, pen.at, expectedVersion);
  return refusal ? refuseTask(pen, 'claim', task, refusal) : take(pen, task, owner);
}

/** The best task that can start now goes to the owner; those that rank before it and lack their locks were passed over. */
export function claimNext(pen: LedgerPen, { run, owner }: RequestOf<'task.next'>): Verdict {
  const { ledger } = pen;
  const refused = refusalOfOwner(owner) ?? refusalOfHold(ledger);
  if (refused) return refused;
  const ready = Object.keys(ledger.ready)
    .flatMap((key) => ledger.tasks[key] ?? [])
    .filter((task) => (run === undefined || task.run === run) && !runOf(ledger, task.run)?.cast);
  return claimBest(pen, ready, owner).verdict;
}

/** The first of these tasks in rank that can start now goes to the owner. */
export function claimBest(
  pen: LedgerPen,
  candidates: readonly Task[],
  owner: string,
): { readonly task: Task | null; readonly verdict: Verdict } {
  const { ledger, at } = pen;
  const ready = candidates.toSorted((a, b) => compareRank(a, b, at));
  const passed: { readonly task: Task; readonly refusal: Denied }[] = [];
  for (const task of ready) {
    const refusal = refusalOfClaim(ledger, task, owner, at);
    if (refusal) {
      passed.push({ task, refusal });
      continue;
    }
    const noted = passed.filter(({ task, refusal }) => refusal.code === 'LOCK_CONFLICT' && isWorthNoting(task, at));
    for (const { task, refusal } of noted.slice(0, PASSED_OVER_NOTED_MAX)) refuseTask(pen, 'claim', task, refusal);
    return { task, verdict: take(pen, task, owner) };
  }
  return { task: null, verdict: noneReady(passed) };
}

/** What stands in the way of a claim, or null. The order of the checks decides which code is given. */
export function refusalOfClaim(
  ledger: Ledger,
  task: Task,
  owner: string,
  at: number,
  expectedVersion?: number,
): Denied | null {
  return (
    refusalOfOwner(owner) ??
    refusalOfHold(ledger) ??
    refusalOfVersion(task, expectedVersion) ??
    refusalOfStart(task) ??
    refusalOfGoverning(task.id, task.lockScope, ledger.locks.foldCase) ??
    refusalOfTime(task, at) ??
    refusalOfDependencies(ledger, task) ??
    refusalOfSerial(ledger, task) ??
    refusalOfLocks(ledger, task) ??
    refusalOfTurn(ledger, task, at)
  );
}

/** Books the claim. */
export function take(pen: LedgerPen, task: Task, owner: string): Verdict {
  const { run, id } = task;
  const fence = pen.ledger.fence + 1;
  const locks = wantedLocks(task);
  const replaced = task.fence === null ? {} : { replaces: task.fence };
  pen.write({ kind: 'task.claimed', run, task: id, owner, fence, ...replaced, locks });
  const times = { timeout_seconds: task.timeoutS, heartbeat_interval_seconds: task.heartbeatS };
  const details = { run, task: id, title: task.title, owner, fence, version: task.version, locks, ...times };
  return allow(`${id} belongs to ${owner}`, details);
}

/** What a cast works on is the cast's to hand out and to finish. */
export function refusalOfCast(ledger: Ledger, { run, id }: Task): Denied | null {
  if (!runOf(ledger, run)?.cast) return null;
  const reason = `${id} belongs to cast ${run}, which hands it out and takes its result; steer the cast instead.`;
  return deny('NOT_ALLOWED_NOW', reason, { task: id, cast: run });
}

export function refusalOfVersion({ id, version, status }: Task, expected: number | undefined): Denied | null {
  if (expected === undefined || expected === version) return null;
  const reason = `${id} has version ${version} by now, not ${expected}; look at it again and decide anew.`;
  return deny('CONCURRENCY_CONFLICT', reason, { task: id, expected, version, status });
}

export function refusalOfOwner(owner: string): Denied | null {
  if (isText(owner) && owner !== UNASSIGNED) return null;
  return deny('MISSING_REQUIRED_INPUT', 'A task in progress has an owner; say who claims it.', { missing: ['owner'] });
}

function refusalOfHold({ hold }: Ledger): Denied | null {
  if (!hold) return null;
  const reason = `${hold.by} holds the workspace, so nothing is handed out: ${hold.reason}.`;
  return deny('NOT_ALLOWED_NOW', reason, { hold: { ...hold } });
}

/** A blocked task may be claimed again, unless the same work would fail the same way or its attempts are used up. */
function refusalOfStart(task: Task): Denied | null {
  const { id, status, owner, version, code, retries, retriesMax } = task;
  const move = mayMove(status, 'in_progress');
  if (!move.allow) return { ...move, details: { ...move.details, task: id, owner, version } };
  if (status !== 'blocked') return null;
  const details = { task: id, blocked_by: code, retries, retries_max: retriesMax };
  if (isStructural(code)) {
    const reason = `${id} is blocked by ${code}, which trying again does not mend; mend its plan, then move it to todo.`;
    return deny('NOT_ALLOWED_NOW', reason, details);
  }
  if (retries <= retriesMax) return null;
  const reason = `${id} was blocked ${retries} times, and only ${retriesMax} retries are allowed; plan it again, then move it to todo.`;
  return deny('NOT_ALLOWED_NOW', reason, details);
}

function refusalOfTime({ id, notBefore }: Task, at: number): Denied | null {
  if (notBefore === null || at >= notBefore) return null;
  const reason = `${id} is not to be tried again for ${notBefore - at} ms.`;
  return deny('NOT_ALLOWED_NOW', reason, { task: id, notBefore });
}

/** A serial task is alone in its run while it is in progress. */
function refusalOfSerial(ledger: Ledger, task: Task): Denied | null {
  const run = runOf(ledger, task.run);
  if (!run || run.running === 0 || (run.serial === null && task.type !== 'serial')) return null;
  const holder =
    run.serial === null
      ? tasksOf(ledger, run.id).find(({ status }) => status === 'in_progress')
      : taskOf(ledger, run.id, run.serial);
  const name = holder?.id ?? '';
  const why =
    run.serial === null ? `${task.id} is serial and ${name} is in progress` : `${name} is serial and in progress`;
  const who = { run: run.id, task: name, owner: holder?.owner ?? '' };
  return deny('LOCK_CONFLICT', `${why}; wait until it is over.`, { task: task.id, serial: true, holder: who });
}

function refusalOfLocks(ledger: Ledger, task: Task): Denied | null {
  const own = taskKey(task.run, '');
  const ignored = task.sequential ? { has: (key: string) => key.startsWith(own) } : undefined;
  for (const wanted of wantedLocks(task)) {
    const rival = rivalOf(ledger.locks, { ...wanted, task: keyOf(task) }, ignored);
    if (!rival) continue;
    const holder = ledger.tasks[rival.task];
    const who: JsonObject = {
      run: holder?.run ?? '',
      task: holder?.id ?? rival.task,
      owner: holder?.owner ?? '',
      path: rival.path,
    };
    const verb = rival.mode === 'read' ? 'reads' : 'holds';
    const reason = `${task.id} wants ${placeOf(wanted)}, and ${String(who.task)} (${String(who.owner)}) ${verb} ${placeOf(rival)}; wait until it is over.`;
    return deny('LOCK_CONFLICT', reason, { task: task.id, wanted: wanted.path, root: wanted.root, holder: who });
  }
  return null;
}

function refusalOfTurn(ledger: Ledger, task: Task, at: number): Denied | null {
  const waiter = owedBefore(ledger, task, at);
  if (!waiter) return null;
  const reason = `${waiter.id} was passed over ${waiter.passedOver} times and goes first; ${task.id} wants what it waits for.`;
  const reservedFor = { run: waiter.run, task: waiter.id, priority: waiter.priority, passed_over: waiter.passedOver };
  return deny('LOCK_CONFLICT', reason, { task: task.id, reservedFor });
}

/** A task that is owed its turn need not be told so each time, only often enough that it is not taken to have given up. */
export function isWorthNoting(task: Task, at: number): boolean {
  if (task.passedOver < PASSED_OVER_MAX || !isOwed(task, at)) return true;
  return at - (task.refusedAt ?? 0) > (task.timeoutS * 1000) / 2;
}

/** The answer to a search in vain is that of the task that came closest, the first in rank. */
function noneReady(passed: readonly { readonly task: Task; readonly refusal: Denied }[]): Denied {
  const [best] = passed;
  if (!best) return deny('NOT_ALLOWED_NOW', 'No task is ready: none is left in todo.', { tried: [] });
  const tried = passed.slice(0, 10).map(({ task, refusal }) => ({ run: task.run, task: task.id, code: refusal.code }));
  const { code, reason, details } = best.refusal;
  return deny(code, `No task can start now. ${reason}`, { ...details, tried });
}

function placeOf({ root, path }: Lock): string {
  return root === 'main' ? `"${path}"` : `"${path}" of ${root}`;
}
