// Claiming a task: it and all its locks go to one owner in one step, or nothing does. Every claim gets a fence, a number
// larger than any before it, which exposes a late answer to an earlier claim.
import type { Code } from '../codes.ts';
import { isText, type JsonObject } from '../json.ts';
import { allow, type Denied, deny, firstRefusal, type NamedCheck, type Verdict } from '../verdict.ts';
import { type LedgerPen, type RequestOf, refuse, refuseTask, type Soundness } from './fact.ts';
import { keyIn, type Lock, linksOfRoot, rivalOf } from './lock-tree.ts';
import { spokenPath } from './path.ts';
import {
  hasRanked,
  inOrder,
  inTheWayOf,
  isOwed,
  oldest,
  overtakenBy,
  owedBefore,
  owedUntil,
  PASSED_OVER_MAX,
  ranked,
} from './rank.ts';
import { refusalOfDependencies, refusalOfInconsistency, soundnessOf } from './run-index.ts';
import { refusalOfGoverning, refusalOfLinkOut } from './scope.ts';
import {
  findTask,
  keyOf,
  type Ledger,
  locksToTake,
  mayMove,
  type Run,
  runOf,
  type Task,
  taskKey,
  taskOf,
  UNASSIGNED,
} from './state.ts';

/** At most so many tasks that a search passed over are written down, the first in rank. */
const PASSED_OVER_NOTED_MAX = 16;
/** So many tasks behind the one taken are looked at. */
const OVERTAKEN_LOOKED_AT_MAX = 64;
/** So many tasks are named in the answer to a search in vain. */
const TRIED_TOLD_MAX = 10;

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

/**
 * The best task that can start now goes to the owner. It is a round of assignments: a run that does not hold together hands
 * nothing out, and of a search in vain it is written down which task came closest.
 */
export function claimNext(pen: LedgerPen, { run, owner }: RequestOf<'task.next'>): Verdict {
  const { ledger } = pen;
  const vain = (refusal: Denied, task = '') =>
    refuse(pen, 'next', { ...(run === undefined ? {} : { run }), task }, refusal);
  const refused = refusalOfOwner(owner) ?? refusalWhilePaused(ledger);
  if (refused) return vain(refused);
  const unsound = new Map<string, Denied | null>();
  const isSound = (id: string) => {
    const refusal = unsound.get(id) ?? refusalOfInconsistency(ledger, id);
    unsound.set(id, refusal);
    return refusal === null;
  };
  const byHand = Object.values(ledger.runs).filter(({ id, cast }) => !cast && (run === undefined || id === run));
  const runs = byHand.filter(({ index }) => hasRanked(index));
  const sound = runs.filter(({ id }) => isSound(id));
  const [first] = runs;
  const mistake = first && unsound.get(first.id);
  if (sound.length === 0 && mistake) return refuse(pen, 'next', { run: first.id, task: '' }, mistake);
  const { task, closest, verdict } = claimBest(pen, { runs: sound, has: () => true }, owner);
  if (task || verdict.allow) return verdict;
  if (closest) return refuseTask(pen, 'next', closest, verdict);
  return vain(noneReady([], unassigned(byHand)));
}

/** Where a task is looked for: in runs, and there among those in todo that it has. */
type Search = { readonly runs: readonly Run[]; has(task: Task): boolean };

/** The first task in rank that can start now goes to the owner. `closest` is the first of a search in vain. */
export function claimBest(
  pen: LedgerPen,
  search: Search,
  owner: string,
): { readonly task: Task | null; readonly closest: Task | null; readonly verdict: Verdict } {
  const { ledger, at } = pen;
  const passed = new Map<Task, Denied>();
  const isSound = soundnessOf(ledger);
  const refusalOf = (task: Task) => refusalOfClaim(ledger, task, owner, at, undefined, isSound);
  for (const task of ranked(ledger, search, at, ['startable'])) {
    const refusal = refusalOf(task);
    if (refusal) {
      passed.set(task, refusal);
      continue;
    }
    const noted = [...passed].filter(([task, refusal]) => refusal.code === 'LOCK_CONFLICT' && isWorthNoting(task, at));
    const wasOwed = isOwed(task, at);
    for (const [task, refusal] of noted.slice(0, PASSED_OVER_NOTED_MAX)) refuseTask(pen, 'claim', task, refusal);
    const verdict = take(pen, task, owner);
    noteOvertaken(pen, task, wasOwed, search, passed, owner);
    return { task, closest: null, verdict };
  }
  const tried: { readonly task: Task; readonly refusal: Denied }[] = [];
  for (const task of ranked(ledger, search, at, ['startable', 'unmet'])) {
    const refusal = passed.get(task) ?? refusalOf(task);
    if (refusal) tried.push({ task, refusal });
    if (tried.length === TRIED_TOLD_MAX) break;
  }
  return { task: null, closest: tried[0]?.task ?? null, verdict: noneReady(tried) };
}

/**
 * An older task that ranks after the one taken, could have started, and now cannot because of it, was passed over as well:
 * without that, the more urgent ones that keep coming would keep it waiting for ever. One round counts once, however many it
 * hands out. Only the first in rank are looked at: the others wait for those before them in any case.
 */
function noteOvertaken(
  pen: LedgerPen,
  taken: Task,
  wasOwed: boolean,
  search: Search,
  passed: ReadonlyMap<Task, Denied>,
  owner: string,
): void {
  const { ledger, at } = pen;
  const isSound = soundnessOf(ledger);
  const isInTheWay = inTheWayOf(ledger, taken);
  let [noted, lookedAt] = [0, 0];
  for (const task of overtakenBy(ledger, taken, wasOwed, search, at)) {
    if (noted === PASSED_OVER_NOTED_MAX || lookedAt === OVERTAKEN_LOOKED_AT_MAX) return;
    lookedAt += 1;
    if (passed.has(task) || task.refusedAt === at || !isWorthNoting(task, at)) continue;
    if (!isInTheWay(task)) continue;
    const refusal = refusalOfClaim(ledger, task, owner, at, undefined, isSound);
    if (refusal?.code !== 'LOCK_CONFLICT') continue;
    refuseTask(pen, 'claim', task, refusal);
    noted += 1;
  }
}

/** What prevents a claim, or null. The order of the checks decides the code. */
export function refusalOfClaim(
  ledger: Ledger,
  task: Task,
  owner: string,
  at: number,
  expectedVersion?: number,
  isSound: Soundness = soundnessOf(ledger),
): Denied | null {
  const version = expectedVersion === undefined ? {} : { expectedVersion };
  return firstRefusal(CLAIM_CHECKS, { ledger, task, owner, at, isSound, ...version })?.refusal ?? null;
}

export type ClaimContext = {
  readonly ledger: Ledger;
  readonly task: Task;
  readonly owner: string;
  readonly at: number;
  readonly isSound: Soundness;
  readonly expectedVersion?: number;
};

/** Every check before a claim, in order. A cast passes them at its door before dispatch. */
export const CLAIM_CHECKS: readonly NamedCheck<ClaimContext>[] = [
  {
    name: 'owner',
    why: 'without an owner there is no claim to judge',
    check: ({ owner }) => refusalOfOwner(owner),
  },
  {
    name: 'hold',
    why: 'a paused workspace gives no task out, whatever the task is like',
    check: ({ ledger }) => refusalWhilePaused(ledger),
  },
  {
    name: 'version',
    why: 'a claim that rests on an old row is refused for that before the row is judged',
    check: ({ task, expectedVersion }) => refusalOfVersion(task, expectedVersion),
  },
  {
    name: 'status',
    why: 'only a task that may start is looked at further',
    check: ({ task }) => refusalOfStart(task),
  },
  {
    name: 'assignment',
    why: 'a row without an assignment has no scope and no dependencies to check',
    check: ({ task }) => refusalOfUnassigned(task),
  },
  {
    name: 'governed paths',
    why: 'a scope that no task may have is refused for good, before anything that time lifts',
    check: ({ ledger, task }) => refusalOfGoverning(task.id, task.lockScope, keyIn(ledger.locks, task.root)),
  },
  {
    name: 'linked paths',
    why: 'a scope that leads out of its folder is refused for good as well',
    check: ({ ledger, task }) => refusalOfLinkOut(task.id, task.lockScope, linksOfRoot(ledger.locks.links, task.root)),
  },
  {
    name: 'retry time',
    why: 'the time of a retry is known exactly; what follows may change before it',
    check: ({ task, at }) => refusalOfTime(task, at),
  },
  {
    name: 'dependencies',
    why: 'a task that waits for another one competes for no lock',
    check: ({ ledger, task }) => refusalOfDependencies(ledger, task),
  },
  {
    name: 'serial',
    why: 'a serial task excludes all others of its run, whatever their paths are',
    check: ({ ledger, task }) => refusalOfSerial(ledger, task),
  },
  {
    name: 'locks',
    why: 'all paths are free at once, or none is taken',
    check: ({ ledger, task }) => refusalOfLocks(ledger, task),
  },
  {
    name: 'turn in line',
    why: 'only a task that could start now can go before one that was passed over too often',
    check: ({ ledger, task, at, isSound }) => refusalOfTurn(ledger, task, at, isSound),
  },
];

/** Books the claim. */
export function take(pen: LedgerPen, task: Task, owner: string): Verdict {
  const { run, id } = task;
  const fence = pen.ledger.fence + 1;
  const locks = locksToTake(task);
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
  const reason = `${id} has version ${version} by now, not ${expected}; look at it again and decide again.`;
  return deny('CONCURRENCY_CONFLICT', reason, { task: id, expected, version, status });
}

export function refusalOfOwner(owner: string): Denied | null {
  if (isText(owner) && owner !== UNASSIGNED) return null;
  return deny('MISSING_REQUIRED_INPUT', 'A task in progress has an owner; say who claims it.', { missing: ['owner'] });
}

function refusalWhilePaused({ hold }: Ledger): Denied | null {
  if (!hold) return null;
  const reason = `${hold.by} has paused the workspace, so no task is given out: ${hold.reason}.`;
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
    const reason = `${id} is blocked by ${code}, and retrying does not help; correct its plan, then move it to todo.`;
    return deny('NOT_ALLOWED_NOW', reason, details);
  }
  if (retries <= retriesMax) return null;
  const reason = `${id} was blocked ${retries} times, and only ${retriesMax} retries are allowed; plan it again, then move it to todo.`;
  return deny('NOT_ALLOWED_NOW', reason, details);
}

/** A row that only a delta announced cannot be worked on, because its work and its paths are unknown. */
function refusalOfUnassigned({ id, assigned }: Task): Denied | null {
  if (assigned) return null;
  const reason = `${id} has no assignment yet; create it from a packet, which says what is to be done and on which paths.`;
  return deny('MISSING_REQUIRED_INPUT', reason, { task: id, missing: ['assignment'] });
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
    run.serial === null ? taskOf(ledger, run.id, oldest(run.index.atWork) ?? '') : taskOf(ledger, run.id, run.serial);
  const name = holder?.id ?? '';
  const why =
    run.serial === null ? `${task.id} is serial and ${name} is in progress` : `${name} is serial and in progress`;
  const who = { run: run.id, task: name, owner: holder?.owner ?? '' };
  return deny('LOCK_CONFLICT', `${why}; wait until it is over.`, { task: task.id, serial: true, holder: who });
}

function refusalOfLocks(ledger: Ledger, task: Task): Denied | null {
  const own = taskKey(task.run, '');
  const ignored = task.sequential ? { has: (key: string) => key.startsWith(own) } : undefined;
  for (const wanted of locksToTake(task)) {
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
    const name = `${String(who.task)}${otherRun(ledger, holder, task)} (${String(who.owner)})`;
    const reason = `${task.id} wants ${placeOf(wanted)}, and ${name} ${verb} ${placeOf(rival)}; wait until it is over.`;
    return deny('LOCK_CONFLICT', reason, { task: task.id, wanted: wanted.path, root: wanted.root, holder: who });
  }
  return null;
}

/** Ids of tasks are counted in each run from one, so a task of another run is named with that. */
function otherRun(ledger: Ledger, holder: Task | undefined, task: Task): string {
  if (!holder || holder.run === task.run) return '';
  return ` of ${runOf(ledger, holder.run)?.cast ? 'cast' : 'run'} ${holder.run}`;
}

function refusalOfTurn(ledger: Ledger, task: Task, at: number, isSound: Soundness): Denied | null {
  const waiter = owedBefore(ledger, task, at, isSound);
  if (!waiter) return null;
  const reason = `${waiter.id} was passed over ${waiter.passedOver} times and goes first; ${task.id} wants what it waits for.`;
  const reservedFor = { run: waiter.run, task: waiter.id, priority: waiter.priority, passed_over: waiter.passedOver };
  // It may have stopped asking. Then nothing happens that would wake the task, so the time is named.
  return deny('LOCK_CONFLICT', reason, { task: task.id, reservedFor, notBefore: owedUntil(waiter) + 1 });
}

/** A waiting task is noted often enough to keep its turn, and not at every attempt. */
export function isWorthNoting(task: Task, at: number): boolean {
  if (task.passedOver < PASSED_OVER_MAX || !isOwed(task, at)) return true;
  return at - (task.refusedAt ?? 0) > (task.timeoutS * 1000) / 2;
}

/** The answer to a search in vain is that of the task that came closest, the first in rank. */
function noneReady(
  passed: readonly { readonly task: Task; readonly refusal: Denied }[],
  announced: readonly string[] = [],
): Denied {
  const [best] = passed;
  const [first] = announced;
  if (!best && first !== undefined) {
    const more = announced.length > 1 ? ` (and ${announced.length - 1} more)` : '';
    const reason = `No task is ready: ${first}${more} has no assignment yet; create it from a packet.`;
    return deny('NOT_ALLOWED_NOW', reason, { tried: [], unassigned: announced.slice(0, TRIED_TOLD_MAX) });
  }
  if (!best) return deny('NOT_ALLOWED_NOW', 'No task is ready: none is left in todo.', { tried: [] });
  const tried = passed
    .slice(0, TRIED_TOLD_MAX)
    .map(({ task, refusal }) => ({ run: task.run, task: task.id, code: refusal.code }));
  const { code, reason, details } = best.refusal;
  return deny(code, `No task can start now. ${reason}`, { ...details, tried });
}

/** The rows in todo that no packet has filled in. */
function unassigned(runs: readonly Run[]): readonly string[] {
  return runs.flatMap(({ index }) => Array.from(inOrder(index.unassigned), ({ id }) => id));
}

function placeOf({ root, path }: Lock): string {
  return root === 'main' ? spokenPath(path) : `${spokenPath(path)} of ${root}`;
}

/** The packet or the plan is wrong; the same work would only fail again. */
const STRUCTURAL: readonly Code[] = ['SCHEMA_INVALID', 'SCOPE_VIOLATION', 'NON_COMPLIANT'];

export function isStructural(code: Code | null): boolean {
  return code !== null && STRUCTURAL.includes(code);
}
