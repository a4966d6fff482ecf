// Work that stops: a blocked turn, a parked item, and an item that a person takes out. The other items of the loop go on.
import type { Fact } from '../fact.ts';
import { firstEdge, loopOf } from '../graph/route.ts';
import type { Input } from '../input.ts';
import { isObject, isText, type JsonObject } from '../json.ts';
import { refuseTask } from '../ledger/fact.ts';
import { settle } from '../ledger/move.ts';
import { findTask, isTerminal, type Ledger, runOf, type Task, taskOf } from '../ledger/state.ts';
import { scrub } from '../secrets.ts';
import { fail, type Pen, type State } from '../state.ts';
import { counted } from '../text.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { edgeKey } from './bookkeeping.ts';
import { itemsAt } from './data.ts';
import {
  dependentsOf,
  entryOf,
  freeLaneNumber,
  isLeftOut,
  isParked,
  isUsedUp,
  parkedIn,
  taskOfTurn,
  waitForParked,
} from './item.ts';
import { noteKey, reasonIn } from './notes.ts';
import { ownerOf, socketOf } from './rules.ts';
import { continued, endLane, fillAllLanes, fillLanes, leaveLoop, openTurn, reopenTurn, startSocket } from './start.ts';
import { type Cast, isOver, type Parked, type ParkedWork, type Turn, turnOn } from './state.ts';
import { barrierAround } from './streams.ts';
import { blockPlanned, blockTask, reopen } from './task.ts';

/** Ends what a blocked turn had begun: its task is blocked, and where nothing else goes on the cast waits. */
export function giveUp(pen: Pen, cast: Cast, turn: Turn, refusal: Denied, result: JsonObject): Verdict {
  const { code, reason } = refusal;
  const task = taskOfTurn(pen.state, cast, turn);
  const next = isObject(result.agent_status) ? result.agent_status.next_action : undefined;
  const evidence = { turn: turn.id, result, ...(isText(next) ? { blocker: reason, next_step: next } : {}) };
  if (task) blockTask(pen, task, code, reason, evidence);
  if (task) blockPlanned(pen, task, ownerOf(cast, turn.socket), code, reason, evidence);
  if (turn.lane !== null) fillLanes(pen, cast, turn.lane);
  else {
    const why = continued(cast, `${turn.socket} is blocked: ${reason}`, code);
    pen.write({ kind: 'cast.waiting', cast: cast.id, code, reason: why });
  }
  return refusal;
}

/** A turn that fails ends its cast. Where lanes wait for one another it ends its lane, and the others finish. */
export function failTurn(pen: Pen, cast: Cast, turn: Turn, refusal: Denied, resumePoint: Cast['stand'] = null): void {
  if (barrierAround(cast, turn)) endLane(pen, cast, turn, refusal);
  else fail(pen, cast, refusal, turn.id, resumePoint);
}

/**
 * A turn without an item is a step of the graph: without what it hands on, nothing follows from it. And what was accepted is
 * not worked on any more: its claim lasts until it is merged.
 */
export function refusalOfMoveByHand(pen: Pen, input: Input): Denied | null {
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

/** A running cast follows what a person did to its tasks. A stopped one does when it is carried on. */
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
    if (turn.item !== null && isLeftOut(task)) endWalkLeftOut(pen, cast, turn);
  }
}

function endWalkLeftOut(pen: Pen, cast: Cast, turn: Turn): void {
  const { item } = turn;
  const common = { cast: cast.id, turn: turn.id };
  if (!item) return;
  // Nothing of it waits to be merged any more.
  if (turn.phase === 'merging') pen.write({ kind: 'turn.reopened', ...common });
  if (turn.lane !== null) return pen.write({ kind: 'lane.ended', ...common, item: item.key });
  const to = item.index + 1;
  const { length } = itemsAt(cast, item.items);
  const isAt = (cast.cursors[item.cursorKey] ?? 0) === item.index;
  const step = { cursor: item.cursorKey, to, item: item.key, exhausted: to >= length };
  if (isAt) pen.write({ kind: 'cursor.advanced', ...common, ...step });
  pen.write({ kind: 'turn.dropped', ...common });
  startSocket(pen, cast, entryOf(cast, turn.socket), false);
}

function castOf(state: State, ledger: Ledger, run: string): Cast | null {
  return runOf(ledger, run)?.cast && Object.hasOwn(state.casts, run) ? (state.casts[run] ?? null) : null;
}

/** An edge is spent that parks the item. In a worktree the item's work is taken out of it first. */
export function beginParking(pen: Pen, cast: Cast, turn: Turn): void {
  if (cast.root === undefined) return park(pen, cast, turn, null);
  pen.write({ kind: 'park.awaited', cast: cast.id, turn: turn.id });
}

export function takeParked(pen: Pen, cast: Cast, turn: Turn, kept: ParkedWork | null): Verdict {
  park(pen, cast, turn, kept);
  return allow(`the item of turn ${turn.id} is parked`);
}

function park(pen: Pen, cast: Cast, turn: Turn, kept: ParkedWork | null): void {
  const { item, task: id, lane, handoff, socket } = turn;
  const edge = handoff && firstEdge(socketOf(cast, socket), handoff)?.edge;
  const loop = loopOf(cast.rules.graph, socket);
  if (!item || id === null || !edge || !loop) return;
  const key = edgeKey(socket, edge.to, item.key);
  const last = (cast.rework[noteKey(edge.to, item.key)] ?? []).findLast(({ from }) => from === socket);
  const note = last?.reason ?? '';
  const task = taskOf(pen.ledger, cast.id, id);
  pen.write({
    ...{ kind: 'item.parked', cast: cast.id, turn: turn.id, item, task: id, lane },
    ...{ edge: { from: socket, to: edge.to, key }, count: cast.traversals[key] ?? 0, note },
    ...(kept === null ? {} : { kept }),
  });
  const reason = `put off after ${counted(cast.traversals[key] ?? 0, 'rejection')}${note === '' ? '' : `; the last one: ${note}`}`;
  if (task && !isTerminal(task.status) && task.status !== 'blocked')
    settle(pen, task, 'blocked', { code: 'PARKED', reason });
  if (lane !== null) return fillLanes(pen, cast, lane);
  const { length } = itemsAt(cast, item.items);
  const isLast = isUsedUp(pen, cast, item.cursorKey, item.index + 1);
  const to = isLast ? length : item.index + 1;
  const step = { cursor: item.cursorKey, to, item: null, exhausted: isLast };
  pen.write({ kind: 'cursor.advanced', cast: cast.id, turn: turn.id, ...step });
  if (isLast) waitForParked(pen, cast);
  else startSocket(pen, cast, entryOf(cast, socket), false);
}

export function retryItem(pen: Pen, cast: Cast, input: Extract<Input, { kind: 'item.retry' }>): Verdict {
  const found = decidable(pen, cast, input.task);
  if ('allow' in found) return found;
  const { parked, task } = found;
  const { item, edge, lane } = parked;
  pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `${item.key} is retried` });
  pen.write({ kind: 'item.retried', cast: cast.id, task: task.id });
  reopen(pen, task, 'a person retries it');
  const words = scrub(input.note ?? '').text.trim();
  if (words !== '') {
    const from = { from: edge.from, label: 'a person', target: edge.to, when: 'not_satisfied' } as const;
    const note = { ...from, item: item.key, itemLabel: item.label, reason: reasonIn(words) };
    pen.write({ kind: 'rework.noted', cast: cast.id, note });
  }
  openTurn(
    pen,
    cast,
    edge.to,
    item,
    true,
    lane,
    lane === null || cast.root === undefined ? null : freeLaneNumber(cast),
  );
  return allow(`${item.key} (${item.label}) is worked on again`, { cast: cast.id, task: task.id, item: item.key });
}

export function dropItem(pen: Pen, cast: Cast, input: Extract<Input, { kind: 'item.drop' }>): Verdict {
  const found = decidable(pen, cast, input.task);
  if ('allow' in found) return found;
  const { parked, task } = found;
  const { item, lane, edge } = parked;
  const others = dependentsOf(pen, cast, task.id);
  const named = others.map(({ id }) => id);
  if (!input.withDependents && others.length > 0) {
    const list = others.map(({ id, title }) => `${id} (${title})`).join(', ');
    const reason = `${item.key} (${item.label}) cannot be dropped alone: ${list} depend on it, and are dropped with it`;
    return deny('NOT_ALLOWED_NOW', reason, { cast: cast.id, task: task.id, dependents: named });
  }
  pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `${item.key} is dropped` });
  pen.write({ kind: 'item.dropped', cast: cast.id, task: task.id, reason: input.reason });
  settle(pen, task, 'canceled', { reason: input.reason });
  for (const other of others) settle(pen, other, 'canceled', { reason: `it depends on ${task.id}: ${input.reason}` });
  goOnWithoutParked(pen, cast, edge.from, lane);
  const details = { cast: cast.id, task: task.id, item: item.key, dependents: named };
  return allow(`${item.key} (${item.label}) is dropped`, details);
}

/** What a cast does when a person has decided about one of its parked items. */
function goOnWithoutParked(pen: Pen, cast: Cast, socket: string, lane: string | null): void {
  if (cast.status !== 'running') return;
  if (lane !== null && cast.lanes[lane]) return fillLanes(pen, cast, lane);
  if (waitForParked(pen, cast)) return;
  const loop = loopOf(cast.rules.graph, socket);
  if (loop) leaveLoop(pen, cast, loop, entryOf(cast, socket));
}

type Decidable = { readonly parked: Parked; readonly task: Task };

function decidable(pen: Pen, cast: Cast, id: string): Decidable | Denied {
  const parked = parkedIn(pen, cast)?.find(({ task }) => task === id);
  const task = parked ? taskOf(pen.ledger, cast.id, id) : null;
  if (!parked || !task) return deny('NOT_ALLOWED_NOW', `${id} of cast ${cast.id} is not parked`, { task: id });
  if (cast.status === 'waiting' && cast.code === 'ITEMS_PARKED') return { parked, task };
  const reason = `cast ${cast.id} is ${cast.status}; its parked items are decided about when it waits for that`;
  return deny('NOT_ALLOWED_NOW', reason, { cast: cast.id, task: id, status: cast.status, code: cast.code });
}
