// The items of a loop: how many may be in progress side by side, and which ones are not done when the loop is left. Only a
// member with `advance` finishes an item. An edge out of the loop cancels the items that remain.
import type { Loop } from '../graph/config.ts';
import { firstEdge, loopOf, reachedFrom } from '../graph/route.ts';
import { settle } from '../ledger/move.ts';
import { isTerminal, type Ledger, type Task, taskOf } from '../ledger/state.ts';
import type { Pen } from '../pen.ts';
import { type Denied, deny } from '../verdict.ts';
import { hasOpen, idsIn, isParked, lengthOf, listOf, parkedIn } from './item.ts';
import { hasLanes, socketOf } from './rules.ts';
import { type Cast, type Turn, walkOf } from './state.ts';
import { taskOfTurn } from './task.ts';

/** Whether items of loops with lanes are still to be done. */
export function hasOpenLanes(pen: Pen, cast: Cast): boolean {
  return cast.rules.graph.loops.some(
    ({ id, iterator }) => cast.lanes[id] && hasOpen(pen.ledger, cast.id, cast.lists[iterator?.cursorKey ?? '']),
  );
}

/** The lowest number of which no item walks. One that is blocked keeps its own, because its work lies there. */
export function freePlace({ lanes }: Cast): number {
  const taken = new Set(Object.values(lanes).flatMap(({ walks }) => Object.values(walks).map(({ place }) => place)));
  let place = 1;
  while (taken.has(place)) place += 1;
  return place;
}

export function inProgress(cast: Cast, loop: string): readonly Turn[] {
  return Object.values(cast.turns).filter(({ lane, phase }) => lane === loop && phase !== 'blocked');
}

/** A turn that is put off takes no place: it may wait for a task that still needs one. */
export function placesTaken(cast: Cast, loop: string): number {
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
export function unstarted(cast: Cast, tasks: readonly Task[]): readonly Task[] {
  const walking = tasksWalking(cast);
  return tasks.filter(({ id, status }) => status === 'todo' && !walking.has(id));
}

export function tasksWalking({ turns }: Cast): ReadonlySet<string | null> {
  return new Set(Object.values(turns).map(({ task }) => task));
}

export function tasksOfLoop({ ledger }: Pen, cast: Cast, { iterator }: Loop): readonly Task[] {
  return (iterator ? idsIn(cast.lists[iterator.cursorKey]) : []).flatMap((id) => taskOf(ledger, cast.id, id) ?? []);
}

// When the work of an item that walks in a worktree of its own has to be merged into the cast's branch: before the item is
// over, or leaves the loop in which it has that worktree.
/** `isOver` says that the accepted turn ends the walk of its item. */
export function isToMerge(cast: Cast, turn: Turn, isOver: boolean): boolean {
  if (turn.merged || walkOf(cast, turn)?.place === undefined) return false;
  return isOver || leavesLoop(cast, turn);
}

function leavesLoop(cast: Cast, { socket, lane, handoff }: Turn): boolean {
  const loop = cast.rules.graph.loops.find(({ id }) => id === lane);
  const found = handoff && firstEdge(socketOf(cast, socket), handoff);
  return found ? !loop?.sockets.includes(found.edge.to) : false;
}

// Items that are not done when their loop is left. An item is done only where a member with `advance` advanced it. A member
// that leads nowhere must not end the cast as if all were done; an edge out of the loop gives the remaining items up.
/** The loop whose item a turn works on; null outside loops and where the socket walks over a list of its own. */
export function loopOfItem(cast: Cast, { socket, item }: Turn): Loop | null {
  const loop = loopOf(cast.rules.graph, socket);
  return item && loop?.iterator?.cursorKey === item.cursorKey && !socketOf(cast, socket).foreach ? loop : null;
}

/** Whether an edge to this socket leaves the loop for good. */
export function isLeftFor(cast: Cast, { sockets }: Loop, target: string): boolean {
  const reached = reachedFrom(cast.rules.graph, [target]);
  return !sockets.some((id) => reached.has(id));
}

/** Cancels the item with which a turn leaves its loop, while the items beside it go on. */
export function leaveWith(pen: Pen, cast: Cast, turn: Turn): void {
  const task = taskOfTurn(pen.state, cast, turn);
  if (task) cancel(pen, task);
}

/** Cancels what is left of a loop. */
export function leaveRest(pen: Pen, cast: Cast, { iterator }: Loop): void {
  if (iterator) for (const task of unfinished(pen, cast, iterator.cursorKey)) cancel(pen, task);
}

/** Cancels what is left of all lists of a cast that completes. */
export function leaveAll(pen: Pen, cast: Cast): void {
  for (const cursor of Object.keys(cast.lists)) for (const task of unfinished(pen, cast, cursor)) cancel(pen, task);
}

function cancel(pen: Pen, task: Task): void {
  if (isTerminal(task.status)) return;
  settle(pen, task, 'canceled', { code: 'LEFT_EARLY', reason: 'an edge led out of its loop before it was done' });
}

/** How many items of a loop are not over, from a place in its list on. */
export function itemsLeft(pen: Pen, cast: Cast, loop: Loop, from?: number): number {
  const cursor = loop.iterator?.cursorKey ?? '';
  const unplanned = totalOf(cast, loop) - lengthOf(cast.lists[cursor]);
  return unfinished(pen, cast, cursor, from).length + Math.max(0, unplanned);
}

export function totalOf(cast: Cast, { iterator }: Loop): number {
  return iterator ? listOf(cast, iterator.items).length : 0;
}

/** The open tasks of a list. In a list that is walked one by one, what lies before the cursor is done. */
function unfinished({ ledger }: Pen, cast: Cast, cursor: string, from = cast.cursors[cursor] ?? 0): readonly Task[] {
  const isWalked = ({ iterator }: Loop) => iterator?.cursorKey === cursor;
  const isSideBySide = cast.rules.graph.loops.some((loop) => isWalked(loop) && hasLanes(cast, loop));
  const ids = idsIn(cast.lists[cursor]);
  const tasks = ids.flatMap((id, index) => {
    const task = taskOf(ledger, cast.id, id);
    return task && (isSideBySide || index >= from || (cast.parked && isParked(task))) ? [task] : [];
  });
  return tasks.filter(({ status }) => !isTerminal(status));
}

/** Lets the cast wait where its list is used up and items are parked. Answers whether it does. */
export function waitForParked(pen: Pen, cast: Cast): boolean {
  const parked = parkedIn(pen, cast) ?? [];
  const [first] = parked;
  if (!first || cast.status !== 'running') return false;
  const named = parked.map(({ item }) => `${item.key} (${item.label})`).join(', ');
  const how = `baton retry ${cast.id}:${first.item.key}, or baton drop ${cast.id}:${first.item.key} --reason "…"`;
  const reason = `${parked.length === 1 ? 'one item is' : `${parked.length} items are`} parked: ${named}; decide with: ${how}`;
  pen.write({ kind: 'cast.waiting', cast: cast.id, code: 'ITEMS_PARKED', reason });
  return true;
}

/** A cast that runs with nothing left to do but parked items waits, such as one that was aborted and runs again. */
export function waitIfParked(pen: Pen, cast: Cast): void {
  if (cast.status === 'running' && Object.keys(cast.turns).length === 0) waitForParked(pen, cast);
}
