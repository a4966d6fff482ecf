// From an accepted handoff to the next socket. An exit of the loop decides when the list is used up; otherwise the first
// matching edge does. The budget is checked before the cursor moves, and an item with its own worktree is merged first.
import type { Handoff } from '../dialect.ts';
import { type Edge, END, type Loop } from '../graph/config.ts';
import { exitTarget, firstEdge, matches } from '../graph/route.ts';
import type { MergeEnd } from '../input.ts';
import { settle } from '../ledger/move.ts';
import { isTerminal, type Task, taskOf } from '../ledger/state.ts';
import { fail, type Pen } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { edgeKey, NO_ROUNDS, remembersItems, tracked } from './bookkeeping.ts';
import { exhausted } from './budget.ts';
import { itemsAt } from './data.ts';
import { claimFor } from './dispatch.ts';
import type { DataChange } from './fact.ts';
import {
  entryOf,
  hasOpen,
  idAt,
  idsIn,
  isLeftFor,
  isToMerge,
  isUsedUp,
  itemKey,
  itemsLeft,
  leaveRest,
  leaveWith,
  loopOfItem,
  parkedIn,
  totalOf,
  waitForParked,
} from './item.ts';
import { clashNote, noteFor } from './notes.ts';
import { materiaOf, socketOf } from './rules.ts';
import { fillLanes, openTurn, startSocket } from './start.ts';
import { type Cast, FREE, type ReworkNote, type Turn, walkOf } from './state.ts';
import { beginParking, failTurn, giveUp } from './stop.ts';
import { fanIn } from './streams.ts';
import { finishItem } from './task.ts';

/**
 * Carries an accepted turn on. Its handoff stays until an edge or an exit has taken it over. A turn that already stood
 * at the edge it takes now has left its note there.
 */
export function route(pen: Pen, cast: Cast, turn: Turn, isNoted = false): void {
  const { handoff } = turn;
  if (!handoff) return;
  const spent = exhausted(cast, pen.ranUntil(cast));
  if (spent) return fail(pen, cast, spent, turn.id, { at: 'route', turn: turn.id });
  clearSettled(pen, cast, turn, handoff);
  const step = nextStep(pen, cast, turn, handoff);
  const found = firstEdge(socketOf(cast, turn.socket), handoff);
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
    if (cast.parked && parkedIn(pen, cast)?.length) {
      pen.write({ kind: 'turn.dropped', cast: cast.id, turn: turn.id });
      waitForParked(pen, cast);
      return;
    }
    return leaveLoop(pen, cast, turn, exitTarget(cast.rules.graph, turn.socket, handoff));
  }
  if (found) return takeEdge(pen, cast, turn, handoff, found.edge, step, isNoted);
  writeStep(pen, cast, turn, step);
  leaveLoop(pen, cast, turn, null);
}

/** A source that is satisfied now has nothing left to complain about for this item. */
function clearSettled(pen: Pen, cast: Cast, turn: Turn, handoff: Handoff): void {
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
  if (!advance || (advance.when !== null && !matches(advance.when, handoff))) return null;
  const cursor = cursorKeyOf(cast, turn, advance.cursor);
  const from = cast.cursors[cursor] ?? 0;
  const { length } = itemsAt(cast, advance.items);
  const item = from < length ? (turn.item?.key ?? itemKey(advance.items, null, from)) : null;
  const exhausted = from + 1 >= length || (cast.parked !== undefined && isUsedUp(pen, cast, cursor, from + 1));
  return { cursor, to: exhausted ? Math.max(from + 1, length) : from + 1, item, exhausted };
}

/** An item that walks on its own is over where it advances; the last one empties the loop. */
function walkStep(pen: Pen, cast: Cast, turn: Turn, handoff: Handoff): Step | null {
  const { item } = turn;
  const socket = socketOf(cast, turn.socket);
  const advances = socket.advance && (socket.advance.when === null || matches(socket.advance.when, handoff));
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
  const isOwn = turn.lane !== null || turn.item?.cursorKey === step.cursor;
  const id = isOwn ? turn.task : idAt(cast.lists[step.cursor], step.to - 1);
  const isSkipped = socketOf(cast, turn.socket).advance?.when === 'not_satisfied';
  const reason = isSkipped ? 'its item was skipped' : 'its item is finished';
  if (id) finishItem(pen, taskOf(pen.ledger, cast.id, id), turn, reason);
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
    ...(exit ? fanIn(pen, cast, exit.loop) : {}),
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
  // The reason is kept even where the edge is exhausted, so that a revival can hand it on. An item that advances here is
  // over.
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
    if (edge.then === 'park' && loopOfItem(cast, turn) && !step) return beginParking(pen, cast, turn);
    if (edge.then === 'ask') return pen.write({ kind: 'edge.spent', cast: cast.id, turn: turn.id, ...details, reason });
    const resumePoint = { at: 'edge', turn: turn.id, key, limit: edge.maxTraversals, to: edge.to } as const;
    return failTurn(pen, cast, turn, deny('EDGE_BUDGET_EXHAUSTED', reason, details), resumePoint);
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

/** A person lets the edge before which a turn waits be taken as often again. */
export function extendEdge(pen: Pen, cast: Cast, turn: Turn): void {
  const found = turn.handoff && firstEdge(socketOf(cast, turn.socket), turn.handoff);
  if (!found?.edge.maxTraversals) return;
  const { to, maxTraversals: more } = found.edge;
  const key = edgeKey(turn.socket, to, turn.item?.key ?? null);
  pen.write({ kind: 'edge.extended', cast: cast.id, turn: turn.id, key, more });
  route(pen, cast, turn, true);
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/**
 * An accepted turn found no way on inside its loop. Side by side its item is blocked and the others go on; otherwise the
 * cast fails. `isAdvanced` says that the turn has just finished its own item: then a recast goes on with the next one.
 */
function stopWithItemsLeft(pen: Pen, cast: Cast, turn: Turn, loop: Loop, isAdvanced: boolean): void {
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

/** A new list starts from its first item, and its items start with clean counters. */
export function resetCursors(pen: Pen, cast: Cast, turn: Turn, changes: readonly DataChange[]): void {
  for (const loop of cast.rules.graph.loops) {
    if (!loop.iterator) continue;
    const { cursorKey, items } = loop.iterator;
    // A member that rewrites the list it walks over refines what is left; starting again would never end.
    const isNew =
      loop.consumes === null
        ? !loop.sockets.includes(turn.socket) && changes.some((change) => replaces(change, items))
        : loop.consumes === turn.socket;
    const isUntouched = (cast.cursors[cursorKey] ?? 0) === 0 && !remembersItems(cast, loop) && !cast.lists[cursorKey];
    if (!isNew || isUntouched) continue;
    for (const id of idsIn(cast.lists[cursorKey])) dropTask(pen, taskOf(pen.ledger, cast.id, id));
    pen.write({ kind: 'cursor.reset', cast: cast.id, cursor: cursorKey, loop: loop.id });
  }
}

/** Whether a change puts another value in the place of the list, alone or with what holds it. */
function replaces(change: DataChange, items: string): boolean {
  const list = items.split('.');
  if (list[0] === 'state') list.shift();
  const changed = 'key' in change ? [change.key] : change.path.split('.');
  return changed.length <= list.length && changed.every((segment, index) => segment === list[index]);
}

/** Another list has taken the place of the one the task was in. */
function dropTask(pen: Pen, task: Task | undefined): void {
  if (!task || isTerminal(task.status) || task.status === 'blocked') return;
  settle(pen, task, 'blocked', { code: 'ABORTED', reason: 'another list took the place of its own' });
}

export function takeMerge(pen: Pen, cast: Cast, turn: Turn, end: MergeEnd): Verdict {
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  if (!end.ok) return refuseMerge(pen, cast, turn, end);
  pen.write({ kind: 'turn.merged', ...common, commit: end.commit });
  // Merged work is done, also where its claim ran out during the merge.
  claimFor(pen, cast, turn);
  route(pen, cast, turn);
  return allow(`turn ${turn.id} merged`);
}

/** Whether a merge that was cut off simply goes on: its task has to be the cast's again for that. */
export function carriesOn(pen: Pen, cast: Cast, turn: Turn): boolean {
  return claimFor(pen, cast, turn) === null;
}

function refuseMerge(pen: Pen, cast: Cast, turn: Turn, { reason, files }: Extract<MergeEnd, { ok: false }>): Verdict {
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  const refusal = deny('MERGE_CONFLICT', reason, { socket: turn.socket, files: [...files] });
  pen.write({ kind: 'merge.refused', ...common, reason, files });
  const entry = (turn.lane !== null && cast.lanes[turn.lane]?.entry) || turn.socket;
  if (isLastRound(cast, turn, entry)) return blockMerge(pen, cast, turn, refusal);
  pen.write({ kind: 'rework.noted', cast: cast.id, note: clashNoteFor(cast, turn, entry, files) });
  pen.write({ kind: 'turn.dropped', cast: cast.id, turn: turn.id });
  openTurn(pen, cast, entry, turn.item, false, turn.lane);
  return refusal;
}

/** Whether one more round is one too many. */
function isLastRound(cast: Cast, turn: Turn, entry: string): boolean {
  const guard = walkOf(cast, turn)?.guard ?? NO_ROUNDS;
  return tracked(guard, turn.item?.key ?? '', entry, false).count > cast.rules.limits.maxNoAdvanceCycles;
}

function blockMerge(pen: Pen, cast: Cast, turn: Turn, refusal: Denied): Verdict {
  const { code, reason } = refusal;
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  pen.write({ kind: 'turn.blocked', ...common, output: '', usage: FREE, code, reason });
  return giveUp(pen, cast, turn, refusal, {});
}

function clashNoteFor(cast: Cast, turn: Turn, target: string, files: readonly string[]): ReworkNote {
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
