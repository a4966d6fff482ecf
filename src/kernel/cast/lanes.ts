// Items side by side: where the items of a loop are tasks that were assigned, each walks through the loop on its own, as
// many at once as the loop allows and dependencies, locks and priorities let through. The loop is left when all are over.
import { dialectCan } from '../capabilities.ts';
import type { Loop } from '../graph/config.ts';
import { firstEdge } from '../graph/route.ts';
import type { MergeEnd } from '../input.ts';
import { claimBest, refusalOfClaim } from '../ledger/claim.ts';
import { namingCast } from '../ledger/fact.ts';
import { spokenPaths } from '../ledger/path.ts';
import { refusalOfInconsistency } from '../ledger/run-index.ts';
import { type Ledger, runOf, type Task, taskOf } from '../ledger/state.ts';
import { type Cast, heldBy, type Item, type ReworkNote, type Turn, type Usage, walkOf } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { giveUp } from './answer.ts';
import { reopenTurn } from './asked.ts';
import { NO_ROUNDS, tracked } from './bookkeeping.ts';
import { claimFor } from './dispatch.ts';
import { hasOpen, idsIn, itemAt, lengthOf, listOf, placeOf } from './item.ts';
import { reasonIn } from './notes.ts';
import { isParked, mayPark, waitForParked } from './park.ts';
import { materiaOf, type Pen, socketOf } from './pen.ts';
import { route } from './route.ts';
import { leaveLoop, openTurn } from './start.ts';
import { ownerOf, taskOfTurn } from './task.ts';

/** Whether the items of a loop are assigned tasks: then they say themselves what may run beside what. */
export function hasLanes(cast: Cast, loop: Loop | null): loop is Loop {
  if (!loop?.iterator || loop.consumes === null) return false;
  return dialectCan(cast.rules, cast.rules.graph.sockets[loop.consumes]?.contract, 'assignsTasks');
}

export function enterLanes(pen: Pen, cast: Cast, loop: Loop, entry: string): void {
  pen.write({ kind: 'lanes.opened', cast: cast.id, loop: loop.id, entry });
  fillLanes(pen, cast, loop.id);
}

/** Whether items of loops with lanes are still to be done. */
export function hasOpenLanes(pen: Pen, cast: Cast): boolean {
  return cast.rules.graph.loops.some(
    ({ id, iterator }) => cast.lanes[id] && hasOpen(pen.ledger, cast.id, cast.lists[iterator?.cursorKey ?? '']),
  );
}

/** Starts whatever may start now in all loops of a cast that have lanes open. */
export function fillAllLanes(pen: Pen, cast: Cast): void {
  for (const loop of Object.keys(cast.lanes)) if (cast.status === 'running') fillLanes(pen, cast, loop);
}

/**
 * Starts as many items as may start now. Where more than one is in progress then, each new one walks in a worktree of its
 * own, if the cast works in one at all.
 */
export function fillLanes(pen: Pen, cast: Cast, loopId: string): void {
  const loop = cast.rules.graph.loops.find(({ id }) => id === loopId);
  const lanes = cast.lanes[loopId];
  if (!loop?.iterator || !lanes || cast.status !== 'running') return;
  reopenMoved(pen, cast, loopId);
  const running = inProgress(cast, loopId).length;
  const claimed = claimFree(pen, cast, loop, lanes.entry, loop.maxConcurrency - placesTaken(cast, loopId));
  // What is parked is taken out of a worktree, so an item that may be parked is alone in one.
  const isBeside = cast.root !== undefined && (running + claimed.length > 1 || mayPark(cast.rules.graph, loop));
  for (const task of claimed) {
    if (cast.status !== 'running') return;
    const place = isBeside ? freePlace(cast) : null;
    openTurn(pen, cast, lanes.entry, itemOf(cast, loop, task), false, loopId, place);
  }
  if (cast.status !== 'running' || inProgress(cast, loopId).length > 0) return;
  const list = cast.lists[loop.iterator.cursorKey];
  if (lengthOf(list) > 0 && !hasOpen(pen.ledger, cast.id, list)) leaveLoop(pen, cast, loop, lanes.entry);
  else stall(pen, cast, loop);
}

/** A person may move a blocked task back to todo while nothing of its cast runs; then its turn is opened again. */
function reopenMoved(pen: Pen, cast: Cast, loop: string): void {
  for (const turn of Object.values(cast.turns)) {
    if (turn.lane !== loop || turn.phase !== 'blocked') continue;
    if (taskOfTurn(pen.state, cast, turn)?.status === 'todo') reopenTurn(pen, cast, turn);
  }
}

function claimFree(pen: Pen, cast: Cast, loop: Loop, entry: string, countMax: number): readonly Task[] {
  const claimed: Task[] = [];
  // A round of assignments: on top of a mistake nothing is handed out.
  if (refusalOfInconsistency(pen.ledger, cast.id)) return claimed;
  const run = runOf(pen.ledger, cast.id);
  const list = cast.lists[loop.iterator?.cursorKey ?? ''];
  const walking = tasksWalking(cast);
  const search = { runs: run ? [run] : [], has: ({ id }: Task) => placeOf(list, id) !== null && !walking.has(id) };
  while (claimed.length < countMax && !pen.ledger.hold) {
    const { task } = claimBest(pen, search, ownerOf(cast, entry));
    if (!task) break;
    claimed.push(task);
  }
  return claimed;
}

/** The lowest number of which no item walks. One that is blocked keeps its own, because its work lies there. */
export function freePlace({ lanes }: Cast): number {
  const taken = new Set(Object.values(lanes).flatMap(({ walks }) => Object.values(walks).map(({ place }) => place)));
  let place = 1;
  while (taken.has(place)) place += 1;
  return place;
}

function inProgress(cast: Cast, loop: string): readonly Turn[] {
  return Object.values(cast.turns).filter(({ lane, phase }) => lane === loop && phase !== 'blocked');
}

/** A turn that is put off takes no place: it may wait for a task that still needs one. */
function placesTaken(cast: Cast, loop: string): number {
  return inProgress(cast, loop).filter(({ phase }) => phase !== 'held').length;
}

/** Why a turn that is put off may not be tried again yet, though its paths may be free: every place is taken. */
export function refusalOfPlace(cast: Cast, { lane }: Turn): Denied | null {
  const loop = cast.rules.graph.loops.find(({ id }) => id === lane);
  return loop && placesTaken(cast, loop.id) >= loop.maxConcurrency ? noPlace(loop) : null;
}

/** Why a turn may not claim its task: as many items of its loop are in progress already as may be. */
export function refusalOfCrowd(ledger: Ledger, cast: Cast, turn: Turn): Denied | null {
  const loop = cast.rules.graph.loops.find(({ id }) => id === turn.lane);
  if (!loop) return null;
  const atWork = inProgress(cast, loop.id).filter(
    ({ id, task }) => id !== turn.id && task !== null && taskOf(ledger, cast.id, task)?.status === 'in_progress',
  );
  return atWork.length >= loop.maxConcurrency ? noPlace(loop) : null;
}

function noPlace({ id, maxConcurrency }: Loop): Denied {
  const reason = `all ${maxConcurrency} places of ${id} are taken`;
  return deny('NOT_ALLOWED_NOW', reason, { loop: id, maxConcurrency });
}

/** Tasks to be done whose item walks nowhere: one whose turn was put off has its turn already. */
function unstarted(cast: Cast, tasks: readonly Task[]): readonly Task[] {
  const walking = tasksWalking(cast);
  return tasks.filter(({ id, status }) => status === 'todo' && !walking.has(id));
}

function tasksWalking({ turns }: Cast): ReadonlySet<string | null> {
  return new Set(Object.values(turns).map(({ task }) => task));
}

function tasksOfLoop({ ledger }: Pen, cast: Cast, { iterator }: Loop): readonly Task[] {
  return (iterator ? idsIn(cast.lists[iterator.cursorKey]) : []).flatMap((id) => taskOf(ledger, cast.id, id) ?? []);
}

function itemOf(cast: Cast, { iterator }: Loop, { id }: Task): Item | null {
  if (!iterator) return null;
  const index = placeOf(cast.lists[iterator.cursorKey], id) ?? -1;
  return itemAt(iterator, listOf(cast, iterator.items), index);
}

/** Nothing is in progress. Either time helps, and it is said what is waited for; or a person has to. */
function stall(pen: Pen, cast: Cast, loop: Loop): void {
  const tasks = tasksOfLoop(pen, cast, loop);
  const owner = ownerOf(cast, cast.lanes[loop.id]?.entry ?? '');
  const waiting = unstarted(cast, tasks);
  const refusals = waiting.flatMap((task) => refusalOfClaim(pen.ledger, task, owner, pen.at) ?? []);
  const unsound = refusalOfInconsistency(pen.ledger, cast.id);
  if (unsound) refusals.unshift(unsound);
  const isLiftable = ({ code }: Denied) => code === 'LOCK_CONFLICT' || code === 'NOT_ALLOWED_NOW';
  const liftable = unsound ? undefined : refusals.find(isLiftable);
  const blocked = tasks.find((task) => task.status === 'blocked' && !isParked(task));
  if (liftable) return hold(pen, cast, loop, liftable);
  const [refusal] = refusals;
  if (!blocked && waitForParked(pen, cast)) return;
  if (!blocked && !refusal) return;
  const code = blocked?.code ?? refusal?.code ?? 'NO_PROGRESS';
  const [first] = waiting;
  const dead = refusal?.details.dead !== undefined && first ? `; leave it out with: ${leavingOut(cast, first.id)}` : '';
  const why = blocked
    ? `${blocked.id} (${blocked.title}) is blocked: ${blocked.reason}`
    : `${String(refusal?.reason).replace(/\.$/, '')}${dead}`;
  pen.write({ kind: 'cast.waiting', cast: cast.id, code, reason: continued(cast, why, code) });
}

function hold(pen: Pen, cast: Cast, loop: Loop, refusal: Denied): void {
  const held = heldBy(namingCast(refusal, pen.standing));
  const before = cast.lanes[loop.id]?.held;
  if (before?.reason === held.reason && before.until === held.until) return;
  pen.write({ kind: 'lanes.held', cast: cast.id, loop: loop.id, ...held });
}

/** How a person takes a task out of a cast. */
export function leavingOut({ id }: Cast, task: string): string {
  return `baton task move ${task} canceled --run ${id} --reason "…"`;
}

/** What a person reads who has to put something right. */
export function continued({ id, root }: Cast, why: string, code: string): string {
  // In a worktree an attempt begins from what was accepted, so nobody can mend for it what the last one left there.
  const isForAgent = code === 'SCOPE_VIOLATION' && root !== undefined;
  const fix = isForAgent
    ? 'That is for its agent: it begins over, and what lies in its worktree is put aside. Change what it is told if need be, then go on with'
    : 'Put it right, then go on with';
  return `${why.replace(/\.$/, '')}. ${fix}: baton continue ${id}`;
}

// What became of a merge: the item goes on as it was accepted, or, where others changed the same meanwhile, begins once more
// with the files named. An item that gets nowhere that way is blocked, and a person is asked.
const FREE: Usage = { input: 0, output: 0, cost: 0 };
/** So many files are named to whoever has to mend them. */
const FILES_NAMED_MAX = 20;

export function takeMerge(pen: Pen, cast: Cast, turn: Turn, end: MergeEnd): Verdict {
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  if (!end.ok) return refuse(pen, cast, turn, end);
  pen.write({ kind: 'turn.merged', ...common, commit: end.commit });
  // What is merged is done, also where its claim ran out while it was merged.
  claimFor(pen, cast, turn);
  route(pen, cast, turn);
  return allow(`turn ${turn.id} merged`);
}

/** Whether a merge that was cut off simply goes on: its task has to be the cast's again for that. */
export function carriesOn(pen: Pen, cast: Cast, turn: Turn): boolean {
  return claimFor(pen, cast, turn) === null;
}

function refuse(pen: Pen, cast: Cast, turn: Turn, { reason, files }: Extract<MergeEnd, { ok: false }>): Verdict {
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  const refusal = deny('MERGE_CONFLICT', reason, { socket: turn.socket, files: [...files] });
  pen.write({ kind: 'merge.refused', ...common, reason, files });
  const entry = (turn.lane !== null && cast.lanes[turn.lane]?.entry) || turn.socket;
  if (isSpent(cast, turn, entry)) return block(pen, cast, turn, refusal);
  pen.write({ kind: 'rework.noted', cast: cast.id, note: noteFor(cast, turn, entry, files) });
  pen.write({ kind: 'turn.dropped', cast: cast.id, turn: turn.id });
  openTurn(pen, cast, entry, turn.item, false, turn.lane);
  return refusal;
}

/** Whether one more round is one too many. */
function isSpent(cast: Cast, turn: Turn, entry: string): boolean {
  const guard = walkOf(cast, turn)?.guard ?? NO_ROUNDS;
  return tracked(guard, turn.item?.key ?? '', entry, false).count > cast.rules.limits.maxNoAdvanceCycles;
}

function block(pen: Pen, cast: Cast, turn: Turn, refusal: Denied): Verdict {
  const { code, reason } = refusal;
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  pen.write({ kind: 'turn.blocked', ...common, output: '', usage: FREE, code, reason });
  return giveUp(pen, cast, turn, refusal, {});
}

function noteFor(cast: Cast, turn: Turn, target: string, files: readonly string[]): ReworkNote {
  return {
    from: turn.socket,
    label: materiaOf(cast, turn.socket).label,
    target,
    when: 'not_satisfied',
    item: turn.item?.key ?? null,
    itemLabel: turn.item?.label ?? null,
    reason: clashNote(files),
  };
}

/** What an agent is told that has to bring two versions together. */
export function clashNote(files: readonly string[]): string {
  return reasonIn(`${ASKED} The files: ${spokenPaths(files, FILES_NAMED_MAX)}.`);
}

const ASKED = [
  'MERGE_CONFLICT: the work on this item cannot be joined with what others have finished since it began. The folder now',
  'holds both, and what clashes stands between lines of <<<<<<< and >>>>>>>. Mend it so that both hold, remove these',
  'lines, and report again.',
].join(' ');

// When the work of an item that walks in a worktree of its own has to be merged into the cast's branch: before the item is
// over, or leaves the loop in which it has that worktree.
/** `isOver` says that the accepted turn ends the walk of its item. */
export function isToMerge(cast: Cast, turn: Turn, isOver: boolean): boolean {
  if (turn.merged || walkOf(cast, turn)?.place === undefined) return false;
  return isOver || leavesLoop(cast, turn);
}

function leavesLoop(cast: Cast, { socket, lane, handoff }: Turn): boolean {
  const loop = cast.rules.graph.loops.find(({ id }) => id === lane);
  const found = handoff && firstEdge(socketOf(cast, socket), handoff.satisfied);
  return found ? !loop?.sockets.includes(found.edge.to) : false;
}
