// What a person does to the tasks of a cast, and what the cast makes of it. A task that is moved back to todo is worked on
// again; the item of one that is canceled or failed is left out: its walk ends without a handoff, and the cast goes on with
// what is left, or leaves the loop.
import type { Fact } from '../fact.ts';
import { loopOf } from '../graph/route.ts';
import type { Input } from '../input.ts';
import { refuseTask } from '../ledger/fact.ts';
import { findTask, type Ledger, runOf, type Task, taskOf } from '../ledger/state.ts';
import { type Cast, isOver, type State, type Turn } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';
import { reopenTurn } from './asked.ts';
import { listOf } from './item.ts';
import { fillAllLanes } from './lanes.ts';
import { isParked } from './park.ts';
import { type Pen, socketOf } from './pen.ts';
import { turnOn } from './recover.ts';
import { startSocket } from './start.ts';

/** Whether somebody has said that the task will not be done. */
export function isLeftOut(task: Pick<Task, 'status'> | null | undefined): boolean {
  return task?.status === 'canceled' || task?.status === 'failed';
}

/**
 * A turn without an item is a step of the graph: without what it hands on, nothing follows from it. And what was accepted is
 * not worked on any more: its claim lasts until it is merged.
 */
export function refusalOfMove(pen: Pen, input: Input): Denied | null {
  if (input.kind !== 'task.move') return null;
  const found = findTask(pen.ledger, input);
  const cast = found.ok ? castOf(pen.state, pen.ledger, found.task.run) : null;
  const parked = found.ok && isParked(found.task) ? cast?.parked?.[found.task.id] : undefined;
  if (found.ok && cast && parked) {
    const name = `${cast.id}:${parked.item.key}`;
    const reason = `${found.task.id} is parked; use: baton retry ${name}, or baton drop ${name} --reason "…"`;
    return refuseTask(pen, 'move', found.task, deny('NOT_ALLOWED_NOW', reason, { task: found.task.id, cast: cast.id }));
  }
  const turn = found.ok && cast && !isOver(cast.status) ? turnOn(cast, found.task.id) : null;
  if (!found.ok || !cast || !turn) return null;
  const { id, status } = found.task;
  const isAtWork = status === 'in_progress';
  // Whose it is then, the ledger says.
  if (isAtWork && cast.status === 'running') return null;
  if (isAtWork && (turn.phase === 'merging' || turn.phase === 'accepted')) {
    const why = `What ${id} did is accepted and only waits to be merged; carry the cast on with: baton continue ${cast.id}, or stop it with: baton abort ${cast.id}`;
    return refuseTask(pen, 'move', found.task, deny('NOT_ALLOWED_NOW', why, { task: id, cast: cast.id }));
  }
  if (turn.item !== null || (input.to !== 'canceled' && input.to !== 'failed')) return null;
  const reason = `${id} is the work of ${turn.socket}, which no other task can take the place of; stop the cast with: baton abort ${cast.id}`;
  return refuseTask(pen, 'move', found.task, deny('NOT_ALLOWED_NOW', reason, { task: id, cast: cast.id }));
}

/** A running cast takes notice of what a person did to its tasks; one that stands does when it is carried on. */
export function noticeMoves(pen: Pen, facts: readonly Fact[]): void {
  for (const fact of facts) {
    if (fact.kind !== 'task.moved' || fact.replay || fact.from === 'in_progress') continue;
    const cast = castOf(pen.state, pen.ledger, fact.run);
    if (cast?.status !== 'running') continue;
    const turn = turnOn(cast, fact.task);
    if (fact.to === 'todo' && turn?.phase === 'blocked') reopenTurn(pen, cast, turn);
    if (fact.to !== 'canceled' && fact.to !== 'failed') continue;
    leaveOut(pen, cast);
    fillAllLanes(pen, cast);
  }
}

/** Ends the walks of items that a person has taken out. */
export function leaveOut(pen: Pen, cast: Cast): void {
  for (const turn of Object.values(cast.turns)) {
    if (cast.status !== 'running') return;
    const task = turn.task === null ? null : taskOf(pen.ledger, cast.id, turn.task);
    if (turn.item !== null && isLeftOut(task)) endWalk(pen, cast, turn);
  }
}

function endWalk(pen: Pen, cast: Cast, turn: Turn): void {
  const { item } = turn;
  const common = { cast: cast.id, turn: turn.id };
  if (!item) return;
  // Nothing of it waits to be merged any more.
  if (turn.phase === 'merging') pen.write({ kind: 'turn.reopened', ...common });
  if (turn.lane !== null) return pen.write({ kind: 'lane.ended', ...common, item: item.key });
  const to = item.index + 1;
  const { length } = listOf(cast, item.items);
  const isAt = (cast.cursors[item.cursorKey] ?? 0) === item.index;
  const step = { cursor: item.cursorKey, to, item: item.key, exhausted: to >= length };
  if (isAt) pen.write({ kind: 'cursor.advanced', ...common, ...step });
  pen.write({ kind: 'turn.dropped', ...common });
  startSocket(pen, cast, entryOf(cast, turn.socket), false);
}

/** Where the next item begins: where the loop is entered from outside. A socket that walks over a list of its own goes on itself. */
export function entryOf(cast: Cast, socket: string): string {
  const { graph } = cast.rules;
  const loop = socketOf(cast, socket).foreach ? null : loopOf(graph, socket);
  if (!loop) return socket;
  const edges = Object.values(graph.sockets)
    .filter(({ id }) => !loop.sockets.includes(id))
    .flatMap((each) => each.edges.map(({ to }) => to));
  const exits = graph.loops.filter(({ id }) => id !== loop.id).flatMap(({ exits }) => exits);
  const targets = [...edges, ...exits.map(({ targetSocketId }) => targetSocketId), graph.entry];
  return targets.find((id) => loop.sockets.includes(id)) ?? loop.sockets[0] ?? socket;
}

function castOf(state: State, ledger: Ledger, run: string): Cast | null {
  return runOf(ledger, run)?.cast && Object.hasOwn(state.casts, run) ? (state.casts[run] ?? null) : null;
}
