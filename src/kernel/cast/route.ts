// From an accepted handoff to the next socket: where the cursor's move uses up the list, a loop's exit decides, else the
// first edge that matches. Budgets are asked before anything moves.
import type { Handoff } from '../dialect.ts';
import { type Edge, END } from '../graph/config.ts';
import { exitTarget, firstEdge, matches } from '../graph/route.ts';
import { taskOf } from '../ledger/state.ts';
import type { Cast, Turn } from '../state.ts';
import { deny } from '../verdict.ts';
import { exhausted } from './budget.ts';
import { itemKey, listOf } from './item.ts';
import { edgeKey } from './item-memory.ts';
import { isLeftFor, itemsLeft, leaveRest, leaveWith, loopOfItem, stopWithItemsLeft } from './items-left.ts';
import { fillLanes } from './lanes.ts';
import { isToMerge } from './merge-due.ts';
import { fail, materiaOf, type Pen, socketOf } from './pen.ts';
import { noteFor } from './rework.ts';
import { startSocket } from './start.ts';
import { finish } from './task.ts';
import { hasOpen, idAt } from './task-list.ts';

/**
 * Carries an accepted turn on. Its handoff stays until an edge or an exit has taken it over. A turn that already stood
 * at the edge it takes now has left its note there.
 */
export function route(pen: Pen, cast: Cast, turn: Turn, isNoted = false): void {
  const { handoff } = turn;
  if (!handoff) return;
  const spent = exhausted(cast, pen.ranUntil(cast));
  if (spent) return fail(pen, cast, spent, turn.id, { at: 'route', turn: turn.id });
  clearMended(pen, cast, turn, handoff);
  const step = nextStep(pen, cast, turn, handoff);
  const found = firstEdge(socketOf(cast, turn.socket), handoff.satisfied);
  const loop = loopOfItem(cast, turn);
  const isAtEnd = !found || found.edge.to === END;
  const isOnward = turn.lane === null ? !step?.exhausted : !step;
  const isAdvanced = step?.cursor === loop?.iterator?.cursorKey;
  if (loop && isAtEnd && isOnward && itemsLeft(pen, cast, loop, isAdvanced ? step?.to : undefined) > 0) {
    writeStep(pen, cast, turn, step);
    return stopWithItemsLeft(pen, cast, turn, loop, isAdvanced);
  }
  if (isToMerge(cast, turn, step !== null)) return pen.write({ kind: 'merge.awaited', cast: cast.id, turn: turn.id });
  if (turn.lane !== null && step && !step.exhausted) return endWalk(pen, cast, turn, step);
  if (step?.exhausted) {
    writeStep(pen, cast, turn, step);
    return leaveLoop(pen, cast, turn, exitTarget(cast.rules.graph, turn.socket, handoff.satisfied));
  }
  if (found) return takeEdge(pen, cast, turn, handoff, found.edge, step, isNoted);
  writeStep(pen, cast, turn, step);
  leaveLoop(pen, cast, turn, null);
}

/** A source that is satisfied now has nothing left to complain about for this item. */
function clearMended(pen: Pen, cast: Cast, turn: Turn, handoff: Handoff): void {
  const item = turn.item?.key ?? null;
  const open = Object.values(cast.rework).some((notes) =>
    notes.some((note) => note.from === turn.socket && note.item === item),
  );
  if (handoff.satisfied === true && open) pen.write({ kind: 'rework.cleared', cast: cast.id, from: turn.socket, item });
}

/** A cursor moves on. `item` is the one it leaves behind finished; null where the list had nothing there. */
type Step = {
  readonly cursor: string;
  readonly to: number;
  readonly item: string | null;
  readonly exhausted: boolean;
};

/** Where the socket's `advance` moves its cursor, or null where the item stays. */
function nextStep(pen: Pen, cast: Cast, turn: Turn, handoff: Handoff): Step | null {
  const { advance } = socketOf(cast, turn.socket);
  if (turn.lane !== null) return walkStep(pen, cast, turn, handoff);
  if (!advance || (advance.when !== null && !matches(advance.when, handoff.satisfied))) return null;
  const cursor = cursorKeyOf(cast, turn, advance.cursor);
  const from = cast.cursors[cursor] ?? 0;
  const { length } = listOf(cast, advance.items);
  const item = from < length ? (turn.item?.key ?? itemKey(advance.items, null, from)) : null;
  return { cursor, to: from + 1, item, exhausted: from + 1 >= length };
}

/** An item that walks on its own is over where it advances; the last one empties the loop. */
function walkStep(pen: Pen, cast: Cast, turn: Turn, handoff: Handoff): Step | null {
  const { item } = turn;
  const socket = socketOf(cast, turn.socket);
  const advances = socket.advance && (socket.advance.when === null || matches(socket.advance.when, handoff.satisfied));
  if (!item || !advances) return null;
  const isLast = !hasOpen(pen.ledger, cast.id, cast.lists[item.cursorKey], turn.task);
  const to = (cast.cursors[item.cursorKey] ?? 0) + 1;
  return { cursor: item.cursorKey, to, item: item.key, exhausted: isLast };
}

function endWalk(pen: Pen, cast: Cast, turn: Turn, step: Step): void {
  writeStep(pen, cast, turn, step);
  pen.write({ kind: 'lane.ended', cast: cast.id, turn: turn.id, item: step.item });
  fillLanes(pen, cast, turn.lane ?? '');
}

function writeStep(pen: Pen, cast: Cast, turn: Turn, step: Step | null): void {
  if (!step) return;
  pen.write({ kind: 'cursor.advanced', cast: cast.id, turn: turn.id, ...step });
  const id = turn.lane === null ? idAt(cast.lists[step.cursor], step.to - 1) : turn.task;
  const isSkipped = socketOf(cast, turn.socket).advance?.when === 'not_satisfied';
  const reason = isSkipped ? 'its item was skipped' : 'its item is finished';
  if (id) finish(pen, taskOf(pen.ledger, cast.id, id), turn, reason);
}

/** The name written on a socket means the cursor of the walk it takes part in, where that walk goes by this name. */
function cursorKeyOf(cast: Cast, turn: Turn, name: string): string {
  const loops = cast.rules.graph.loops.filter((loop) => loop.sockets.includes(turn.socket));
  const walks = [socketOf(cast, turn.socket).foreach, ...loops.map((loop) => loop.iterator)];
  return walks.find((walk) => walk?.cursor === name)?.cursorKey ?? name;
}

function leaveLoop(pen: Pen, cast: Cast, turn: Turn, exit: ReturnType<typeof exitTarget>): void {
  const to = exit?.route.targetSocketId ?? END;
  pen.write({
    kind: 'exit.taken',
    cast: cast.id,
    turn: turn.id,
    loop: exit?.loop.id ?? turn.lane,
    route: exit?.route.id ?? null,
    from: turn.socket,
    to,
    empty: false,
    ...(turn.item ? { settles: turn.item.key } : {}),
  });
  startSocket(pen, cast, to, false);
}

function takeEdge(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  handoff: Handoff,
  edge: Edge,
  step: Step | null,
  isNoted: boolean,
): void {
  const socket = socketOf(cast, turn.socket);
  const item = turn.item?.key ?? null;
  // The reason is kept even where the edge is spent, so that a later revival can still hand it on. An item that advances
  // here is over: nobody works on it again.
  if (edge.when === 'not_satisfied' && !isNoted && !step) {
    pen.write({
      kind: 'rework.noted',
      cast: cast.id,
      note: noteFor(turn, socket, materiaOf(cast, turn.socket), edge, handoff),
    });
  }
  const key = edgeKey(socket.id, edge.to, item);
  const count = (cast.traversals[key] ?? 0) + 1;
  const limit = edge.maxTraversals === null ? null : edge.maxTraversals + (cast.extended[key] ?? 0);
  if (edge.maxTraversals !== null && limit !== null && count > limit) {
    const what = turn.item ? ` for ${turn.item.key} (${turn.item.label})` : '';
    const reason = `the edge ${socket.id} → ${edge.to} was taken ${times(limit)}${what} and is wanted once more`;
    const details = { from: socket.id, to: edge.to, item, key, count, limit };
    const stand = { at: 'edge', turn: turn.id, key, limit: edge.maxTraversals, to: edge.to } as const;
    return fail(pen, cast, deny('EDGE_BUDGET_EXHAUSTED', reason, details), turn.id, stand);
  }
  // Only now does the cursor move: a cast that fails here has not finished its item.
  writeStep(pen, cast, turn, step);
  const loop = loopOfItem(cast, turn);
  const isLeaving = loop !== null && !loop.sockets.includes(edge.to);
  const isLeavingLane = isLeaving && turn.lane !== null;
  if (isLeavingLane) {
    leaveWith(pen, cast, turn);
    pen.write({ kind: 'lane.ended', cast: cast.id, turn: turn.id, item });
  }
  const isLast = isLeavingLane && !hasOpen(pen.ledger, cast.id, cast.lists[loop.iterator?.cursorKey ?? '']);
  pen.write({
    kind: 'edge.taken',
    cast: cast.id,
    turn: turn.id,
    from: socket.id,
    to: edge.to,
    when: edge.when,
    item,
    ...(edge.maxTraversals === null ? {} : { counts: key }),
    ...((step || isLeavingLane) && item !== null ? { settles: item } : {}),
    ...(isLast ? { leaves: loop.id } : {}),
  });
  if (isLeaving && !isLeavingLane && isLeftFor(cast, loop, edge.to)) leaveRest(pen, cast, loop);
  startSocket(pen, cast, edge.to, edge.maxTraversals !== null, turn);
  if (isLeavingLane) fillLanes(pen, cast, loop.id);
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
