// The items of a cast's loops: which one a socket works on, the tasks of a list, which items are parked, how many go side by
// side, and which are not done when a loop is left. Only a member with `advance` finishes an item. An edge out of the loop
// cancels the items that remain.
import type { Graph, Iterator, Loop } from '../graph/config.ts';
import { exitTarget, firstEdge, isOnWay, loopOf, reachedFrom } from '../graph/route.ts';
import { isObject, isText, type Json } from '../json.ts';
import { settle } from '../ledger/move.ts';
import { inOrder } from '../ledger/rank.ts';
import { isTerminal, type Ledger, nameKey, runOf, type Task, taskOf, tasksOf } from '../ledger/state.ts';
import type { Pen, State } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';
import { itemsAt } from './data.ts';
import { hasLanes, socketOf } from './rules.ts';
import { type Cast, type Item, type Parked, type TaskList, type Turn, walkOf } from './state.ts';

type Selection =
  | { readonly found: true; readonly item: Item | null }
  /** The list has nothing (more) at the cursor: the socket is passed over. */
  | { readonly found: false; readonly loop: Loop | null };

export function selectItem(cast: Cast, socketId: string): Selection {
  const loop = loopOf(cast.rules.graph, socketId);
  const iterator = socketOf(cast, socketId).foreach ?? loop?.iterator;
  if (!iterator) return { found: true, item: null };
  const list = itemsAt(cast, iterator.items);
  const index = cast.cursors[iterator.cursorKey] ?? 0;
  if (index >= list.length) return { found: false, loop };
  return { found: true, item: itemAt(iterator, list, index) };
}

export function itemAt(iterator: Iterator, list: readonly Json[], index: number): Item {
  const value = list[index];
  const { items, as, cursorKey } = iterator;
  const key = itemKey(items, as, index);
  return { key, label: labelOf(value, key), index, total: list.length, items, as, cursorKey };
}

/** How an item is called by its place: `WI-1` in a list of work, `0` in any other. */
export function itemKey(items: string, as: string | null, index: number): string {
  const isWork = items.split('.').includes('workItems') || as === 'workItem';
  return isWork ? `WI-${index + 1}` : String(index);
}

function labelOf(value: Json | undefined, key: string): string {
  if (isObject(value)) {
    if (isText(value.title)) return value.title;
    if (isText(value.name)) return value.name;
  }
  return key;
}

const EMPTY: TaskList = { ids: [], places: {} };

/** Whether a loop of the cast has an item by this name. */
export function hasItem(cast: Cast, key: string): boolean {
  return cast.rules.graph.loops.some((loop) => {
    const { iterator } = loop;
    const total = iterator ? totalOf(cast, loop) : 0;
    return iterator && Array.from({ length: total }, (_, at) => itemKey(iterator.items, iterator.as, at)).includes(key);
  });
}

export function numbered(number: number): string {
  return `T-${number}`;
}

export function idAt(list: TaskList | undefined, index: number): string | null {
  if (!list) return null;
  if ('ids' in list) return list.ids[index] ?? null;
  return index < list.count ? numbered(list.first + index) : null;
}

export function idsIn(list: TaskList | undefined): readonly string[] {
  if (!list) return [];
  return 'ids' in list ? list.ids : Array.from({ length: list.count }, (_, index) => numbered(list.first + index));
}

/** The index of a task in the list; null where it is not in it. */
export function placeOf(list: TaskList | undefined, id: string): number | null {
  if (!list) return null;
  if ('ids' in list) return list.places[nameKey(id)] ?? null;
  const index = Number(id.slice(2)) - list.first;
  return idAt(list, index) === id ? index : null;
}

/** Whether a task of the list is not over. */
export function hasOpen(
  ledger: Ledger,
  run: string,
  list: TaskList | undefined,
  except: string | null = null,
): boolean {
  const open = runOf(ledger, run)?.index.open ?? {};
  for (const { id } of inOrder(open)) if (id !== except && placeOf(list, id) !== null) return true;
  return false;
}

export function lengthOf(list: TaskList | undefined): number {
  if (!list) return 0;
  return 'ids' in list ? list.ids.length : list.count;
}

export function extended(list: TaskList = EMPTY, tasks: readonly string[]): TaskList {
  const [head] = tasks;
  const first = 'ids' in list ? Number(head?.slice(2)) : list.first;
  const count = lengthOf(list) + tasks.length;
  const isRow = 'first' in list || lengthOf(list) === 0;
  const from = first + count - tasks.length;
  if (isRow && tasks.every((id, index) => id === numbered(from + index))) return { first, count };
  const ids = [...idsIn(list), ...tasks];
  return { ids, places: Object.fromEntries(ids.map((id, index) => [nameKey(id), index] as const).reverse()) };
}

/** Whether a task is canceled or failed, so that it will not be done. */
export function isLeftOut(task: Pick<Task, 'status'> | null | undefined): boolean {
  return task?.status === 'canceled' || task?.status === 'failed';
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

/** Whether items of a loop may be parked. */
export function mayPark({ sockets }: Graph, loop: Loop): boolean {
  return loop.sockets.some((id) => sockets[id]?.edges.some(({ then }) => then === 'park'));
}

/** The parked items of a cast that wait for a decision. Null where none was ever parked. */
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
    parked.filter(({ task }) => task.toLowerCase() === wanted),
    by(({ label }) => wanted !== '' && label.toLowerCase().startsWith(wanted)),
  ];
  const found = tries.find((each) => each.length > 0) ?? [];
  const [only] = found;
  if (only && found.length === 1) return only;
  const list = (found.length > 0 ? found : parked).map(({ item }) => named(item)).join(', ');
  const reason = only
    ? `${word} may be any of these: ${list}`
    : parked.length === 0
      ? 'no item of the cast is parked'
      : `no parked item is called ${word}; these are parked: ${list}`;
  return deny('NOT_ALLOWED_NOW', reason, { item: word, parked: parked.map(({ item }) => item.key) });
}

/** Its title leads; the key is what commands take. */
function named({ key, label }: Item): string {
  return label === '' ? key : `${label} (${key})`;
}

export function isParked(task: Pick<Task, 'status' | 'code'> | null | undefined): boolean {
  return task?.status === 'blocked' && task.code === 'PARKED';
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

/** The tasks that wait for a task, directly or through others, and are not over. */
export function dependentsOf({ ledger }: Pick<Pen, 'ledger'>, cast: Pick<Cast, 'id'>, id: string): readonly Task[] {
  const open = tasksOf(ledger, cast.id).filter(({ status }) => !isTerminal(status));
  const found = new Set([id]);
  for (const one of found) {
    for (const task of open) if (task.dependencies.includes(one)) found.add(task.id);
  }
  return open.filter((task) => task.id !== id && found.has(task.id));
}

/** The way out of a loop by the handoff of the last turn that advanced an item; null where none did. */
export function exitByLast(cast: Cast, cursor: string): ReturnType<typeof exitTarget> {
  const last = cast.advancedBy?.[cursor];
  return last ? exitTarget(cast.rules.graph, last.socket, last) : null;
}

/** Whether items of loops with lanes are still to be done. */
export function hasOpenLanes(pen: Pen, cast: Cast): boolean {
  return cast.rules.graph.loops.some(
    ({ id, iterator }) => cast.lanes[id] && hasOpen(pen.ledger, cast.id, cast.lists[iterator?.cursorKey ?? '']),
  );
}

/** The lowest number of which no item walks. One that is blocked keeps its own, because its work lies there. */
export function freeLaneNumber({ lanes }: Cast): number {
  const taken = new Set(Object.values(lanes).flatMap(({ walks }) => Object.values(walks).map(({ place }) => place)));
  let place = 1;
  while (taken.has(place)) place += 1;
  return place;
}

export function inProgress(cast: Cast, loop: string): readonly Turn[] {
  return Object.values(cast.turns).filter(({ lane, phase }) => lane === loop && phase !== 'blocked');
}

/** A turn that is put off takes no place: it may wait for a task that still needs one. */
export function lanesTaken(cast: Cast, loop: string): number {
  return inProgress(cast, loop).filter(({ phase }) => phase !== 'held').length;
}

/** Why a turn that is put off may not be tried again yet, though its paths may be free: every place is taken. */
export function refusalOfFullLoop(cast: Cast, { lane }: Turn): Denied | null {
  const loop = cast.rules.graph.loops.find(({ id }) => id === lane);
  return loop && lanesTaken(cast, loop.id) >= loop.maxConcurrency ? allLanesTaken(loop) : null;
}

/** Why a turn may not claim its task: as many items of its loop are in progress already as may be. */
export function refusalOfCrowd(ledger: Ledger, cast: Cast, turn: Turn): Denied | null {
  const loop = cast.rules.graph.loops.find(({ id }) => id === turn.lane);
  if (!loop) return null;
  const atWork = inProgress(cast, loop.id).filter(
    ({ id, task }) => id !== turn.id && task !== null && taskOf(ledger, cast.id, task)?.status === 'in_progress',
  );
  return atWork.length >= loop.maxConcurrency ? allLanesTaken(loop) : null;
}

function allLanesTaken({ id, maxConcurrency }: Loop): Denied {
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

/**
 * Whether the work of an item in a worktree of its own is merged now: before the item is over, or leaves the loop. `isOver`
 * says that the accepted turn ends the walk of its item.
 */
export function isToMerge(cast: Cast, turn: Turn, isOver: boolean): boolean {
  if (turn.merged || walkOf(cast, turn)?.place === undefined) return false;
  return isOver || leavesLoop(cast, turn);
}

function leavesLoop(cast: Cast, { socket, lane, handoff }: Turn): boolean {
  const loop = cast.rules.graph.loops.find(({ id }) => id === lane);
  const found = handoff && firstEdge(socketOf(cast, socket), handoff);
  return found ? !(loop && isOnWay(loop, found.edge.to)) : false;
}

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

/** Cancels the item with which a turn leaves its loop. The other items go on. */
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
  return iterator ? itemsAt(cast, iterator.items).length : 0;
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
  const names = parked.map(({ item }) => named(item)).join(', ');
  const how = `baton retry ${cast.id}:${first.item.key}, or baton drop ${cast.id}:${first.item.key} --reason "…"`;
  const reason = `${parked.length === 1 ? 'one item is' : `${parked.length} items are`} parked: ${names}; decide with: ${how}`;
  pen.write({ kind: 'cast.waiting', cast: cast.id, code: 'ITEMS_PARKED', reason });
  return true;
}

/** A cast that runs with nothing left to do but parked items waits, such as one that was aborted and runs again. */
export function waitIfParked(pen: Pen, cast: Cast): void {
  if (cast.status === 'running' && Object.keys(cast.turns).length === 0) waitForParked(pen, cast);
}

export function taskOfTurn({ ledger }: Pick<State, 'ledger'>, cast: Cast, turn: Turn): Task | null {
  return (turn.task !== null && taskOf(ledger, cast.id, turn.task)) || null;
}
