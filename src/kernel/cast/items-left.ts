// Items that are not done when their loop is left. An item is done only where a member with `advance` advanced it. A member
// that leads nowhere must not end the cast as if all were done; an edge out of the loop gives the remaining items up.
import type { Loop } from '../graph/config.ts';
import { reachedFrom } from '../graph/reach.ts';
import { loopOf } from '../graph/route.ts';
import { settle } from '../ledger/move.ts';
import { isTerminal, type Task, taskOf } from '../ledger/state.ts';
import { type Cast, FREE, type Turn } from '../state.ts';
import { deny } from '../verdict.ts';
import { giveUp } from './answer.ts';
import { listOf } from './item.ts';
import { hasLanes } from './lanes.ts';
import { fail, type Pen, socketOf } from './pen.ts';
import { taskOfTurn } from './task.ts';
import { entryOf } from './task-by-hand.ts';
import { idsIn, lengthOf } from './task-list.ts';

/** The loop whose item a turn works on; null outside loops and where the socket walks over a list of its own. */
export function loopOfItem(cast: Cast, { socket, item }: Turn): Loop | null {
  const loop = loopOf(cast.rules.graph, socket);
  return item && loop?.iterator?.cursorKey === item.cursorKey && !socketOf(cast, socket).foreach ? loop : null;
}

/**
 * An accepted turn found no way on inside its loop. Side by side its item is blocked and the others go on; otherwise the
 * cast fails. `isAdvanced` says that the turn has just finished its own item: then a recast goes on with the next one.
 */
export function stopWithItemsLeft(pen: Pen, cast: Cast, turn: Turn, loop: Loop, isAdvanced: boolean): void {
  const total = totalOf(cast, loop);
  const left = itemsLeft(pen, cast, loop);
  const hasEdge = socketOf(cast, turn.socket).edges.length > 0;
  const how = hasEdge ? 'has no edge back into its loop for this outcome' : 'has no edge';
  const what = turn.lane === null ? `${left} of ${total} items ${left === 1 ? 'is' : 'are'}` : 'its item is';
  const reason = `${turn.socket} ${how}, and ${what} not done`;
  const refusal = deny('ITEMS_LEFT', reason, { loop: loop.id, socket: turn.socket, total, left });
  const common = { cast: cast.id, turn: turn.id };
  if (turn.lane !== null) {
    const { code } = refusal;
    pen.write({ kind: 'turn.blocked', ...common, attempt: turn.attempt, output: '', usage: FREE, code, reason });
    giveUp(pen, cast, turn, refusal, {});
    return;
  }
  pen.write({ kind: 'turn.dropped', ...common });
  const socket = isAdvanced ? entryOf(cast, turn.socket) : turn.socket;
  fail(pen, cast, refusal, turn.id, { at: 'start', socket });
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

function totalOf(cast: Cast, { iterator }: Loop): number {
  return iterator ? listOf(cast, iterator.items).length : 0;
}

/** The open tasks of a list. In a list that is walked one by one, what lies before the cursor is done. */
function unfinished({ ledger }: Pen, cast: Cast, cursor: string, from = cast.cursors[cursor] ?? 0): readonly Task[] {
  const isWalked = ({ iterator }: Loop) => iterator?.cursorKey === cursor;
  const isSideBySide = cast.rules.graph.loops.some((loop) => isWalked(loop) && hasLanes(cast, loop));
  const tasks = idsIn(cast.lists[cursor]).slice(isSideBySide ? 0 : from);
  return tasks.flatMap((id) => taskOf(ledger, cast.id, id) ?? []).filter(({ status }) => !isTerminal(status));
}
