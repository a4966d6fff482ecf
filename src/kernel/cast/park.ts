// Parked items: an edge was taken as often as it may be for an item, so the item is put off and its loop goes on with the
// others. When the list is used up, the cast waits until a person has retried or dropped every parked item. Only then is
// the loop left.
import type { CastFact, Fact } from '../fact.ts';
import type { Graph, Loop } from '../graph/config.ts';
import { exitTarget, firstEdge, loopOf } from '../graph/route.ts';
import type { Input } from '../input.ts';
import { settle } from '../ledger/move.ts';
import { isTerminal, type Task, taskKey, taskOf, tasksOf } from '../ledger/state.ts';
import { scrub } from '../secrets.ts';
import type { Cast, Kept, Parked, Turn } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { edgeKey, NO_ROUNDS, noteKey } from './bookkeeping.ts';
import { idAt, listOf } from './item.ts';
import { fillLanes, freePlace } from './lanes.ts';
import { reasonIn } from './notes.ts';
import { type Pen, socketOf } from './pen.ts';
import { leaveLoop, openTurn, startSocket } from './start.ts';
import { reopen } from './task.ts';
import { entryOf } from './task-by-hand.ts';

/** Whether items of a loop may be parked. */
export function mayPark({ sockets }: Graph, loop: Loop): boolean {
  return loop.sockets.some((id) => sockets[id]?.edges.some(({ then }) => then === 'park'));
}

/** The parked items of a cast that nobody has decided about. Null where none of its items was ever parked. */
export function parkedIn({ ledger }: Pick<Pen, 'ledger'>, cast: Pick<Cast, 'id' | 'parked'>): readonly Parked[] | null {
  if (!cast.parked) return null;
  return Object.values(cast.parked).filter(({ task }) => isParked(taskOf(ledger, cast.id, task)));
}

/** The parked item that a person means: by its key, its number, or the beginning of a title that only one has. */
export function parkedNamed(parked: readonly Parked[], word: string): Parked | Denied {
  const wanted = word.trim().toLowerCase();
  const by = (test: (item: Parked['item']) => boolean) => parked.filter(({ item }) => test(item));
  const tries = [
    by(({ key }) => key.toLowerCase() === wanted),
    by(({ index }) => `${index + 1}` === wanted),
    by(({ label }) => wanted !== '' && label.toLowerCase().startsWith(wanted)),
  ];
  const found = tries.find((each) => each.length > 0) ?? [];
  const [only] = found;
  if (only && found.length === 1) return only;
  const list = (found.length > 0 ? found : parked).map(({ item }) => `${item.key} (${item.label})`).join(', ');
  const reason = only
    ? `${word} may be any of these: ${list}`
    : parked.length === 0
      ? 'no item of the cast is parked'
      : `no parked item is called ${word}; these are parked: ${list}`;
  return deny('NOT_ALLOWED_NOW', reason, { item: word, parked: parked.map(({ item }) => item.key) });
}

export function isParked(task: Pick<Task, 'status' | 'code'> | null | undefined): boolean {
  return task?.status === 'blocked' && task.code === 'PARKED';
}

/** An edge is spent that parks the item. In a worktree the item's work is taken out of it first. */
export function beginParking(pen: Pen, cast: Cast, turn: Turn): void {
  if (cast.root === undefined) return park(pen, cast, turn, null);
  pen.write({ kind: 'park.awaited', cast: cast.id, turn: turn.id });
}

export function takeParked(pen: Pen, cast: Cast, turn: Turn, kept: Kept | null): Verdict {
  park(pen, cast, turn, kept);
  return allow(`the item of turn ${turn.id} is parked`);
}

function park(pen: Pen, cast: Cast, turn: Turn, kept: Kept | null): void {
  const { item, task: id, lane, handoff, socket } = turn;
  const edge = handoff && firstEdge(socketOf(cast, socket), handoff.satisfied)?.edge;
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
  const reason = `parked: the edge ${socket} → ${edge.to} was taken as often as it may be${note === '' ? '' : `; ${note}`}`;
  if (task && !isTerminal(task.status) && task.status !== 'blocked')
    settle(pen, task, 'blocked', { code: 'PARKED', reason });
  if (lane !== null) return fillLanes(pen, cast, lane);
  const { length } = listOf(cast, item.items);
  const isLast = isUsedUp(pen, cast, item.cursorKey, item.index + 1);
  const to = isLast ? length : item.index + 1;
  const step = { cursor: item.cursorKey, to, item: null, exhausted: isLast };
  pen.write({ kind: 'cursor.advanced', cast: cast.id, turn: turn.id, ...step });
  if (isLast) waitForParked(pen, cast);
  else startSocket(pen, cast, entryOf(cast, socket), false);
}

/** Whether nothing of a list is to be done from a place on. After a retry all that follows is over or parked again. */
export function isUsedUp({ ledger }: Pick<Pen, 'ledger'>, cast: Cast, cursor: string, from: number): boolean {
  const list = cast.lists[cursor];
  for (let index = from; ; index += 1) {
    const id = idAt(list, index);
    if (id === null) return true;
    const task = taskOf(ledger, cast.id, id);
    if (task && !isTerminal(task.status) && !isParked(task)) return false;
  }
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

export function retryItem(pen: Pen, cast: Cast, input: Extract<Input, { kind: 'item.retry' }>): Verdict {
  const found = decidable(pen, cast, input.task);
  if ('allow' in found) return found;
  const { parked, task } = found;
  const { item, edge, lane } = parked;
  pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `${item.key} is retried` });
  pen.write({ kind: 'item.retried', cast: cast.id, task: task.id });
  reopen(pen, task, 'a person retries it');
  const said = scrub(input.note ?? '').text.trim();
  if (said !== '') {
    const from = { from: edge.from, label: 'a person', target: edge.to, when: 'not_satisfied' } as const;
    const note = { ...from, item: item.key, itemLabel: item.label, reason: reasonIn(said) };
    pen.write({ kind: 'rework.noted', cast: cast.id, note });
  }
  openTurn(pen, cast, edge.to, item, true, lane, lane === null || cast.root === undefined ? null : freePlace(cast));
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

/** The tasks that wait for a task, directly or through others, and are not over. */
export function dependentsOf({ ledger }: Pick<Pen, 'ledger'>, cast: Pick<Cast, 'id'>, id: string): readonly Task[] {
  const open = tasksOf(ledger, cast.id).filter(({ status }) => !isTerminal(status));
  const found = new Set([id]);
  for (const one of found) {
    for (const task of open) if (task.dependencies.includes(one)) found.add(task.id);
  }
  return open.filter((task) => task.id !== id && found.has(task.id));
}

// The bookkeeping.
export function applyParking(cast: Cast, fact: ParkingFact): void {
  switch (fact.kind) {
    case 'park.awaited': {
      const turn = cast.turns[fact.turn];
      if (turn) turn.phase = 'parking';
      return;
    }
    case 'item.parked': {
      const { item, task, edge, lane, note, kept = null } = fact;
      cast.parked = { ...cast.parked, [task]: { item, task, edge, lane, note, kept } };
      cast.guard = NO_ROUNDS;
      // What was changed for it is looked at anew, from where a retry begins.
      delete cast.work?.[taskKey(cast.id, task)]?.diff;
      if (lane !== null) delete cast.lanes[lane]?.walks[item.key];
      delete cast.turns[fact.turn];
      return;
    }
    case 'item.retried': {
      const parked = cast.parked?.[fact.task];
      if (!parked || !cast.parked) return;
      delete cast.parked[fact.task];
      delete cast.traversals[parked.edge.key];
      if (parked.lane === null) cast.cursors[parked.item.cursorKey] = parked.item.index;
      if (parked.kept) cast.restores = { ...cast.restores, [fact.task]: parked.kept };
      return;
    }
    case 'item.dropped':
      delete cast.parked?.[fact.task];
      return;
  }
}

const PARKING = ['park.awaited', 'item.parked', 'item.retried', 'item.dropped'] as const;
export type ParkingFact = Extract<CastFact, { kind: (typeof PARKING)[number] }>;

export function isParkingFact(fact: Fact): fact is ParkingFact {
  return PARKING.some((kind) => kind === fact.kind);
}

/** Who advanced an item of a loop last, and with which verdict: the exit of a loop whose parked items are over asks for it. */
export function noteAdvanced(cast: Cast, cursor: string, turn: Turn | undefined): void {
  const loop = turn && loopOf(cast.rules.graph, turn.socket);
  if (!turn?.handoff || !loop || !mayPark(cast.rules.graph, loop)) return;
  cast.advancedBy = { ...cast.advancedBy, [cursor]: { socket: turn.socket, satisfied: turn.handoff.satisfied } };
}

/** The way out of a loop by the handoff of the last turn that advanced an item; null where none did. */
export function exitByLast(cast: Cast, cursor: string): ReturnType<typeof exitTarget> {
  const last = cast.advancedBy?.[cursor];
  return last ? exitTarget(cast.rules.graph, last.socket, last.satisfied) : null;
}
