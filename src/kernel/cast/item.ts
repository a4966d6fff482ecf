// The item that a socket works on, what its prompt and its assignments can see, and the state of the items in a list.
import type { Graph, Iterator, Loop } from '../graph/config.ts';
import { resolvePath, type Scope } from '../graph/path.ts';
import { exitTarget, loopOf } from '../graph/route.ts';
import { isObject, isText, type Json, type JsonObject } from '../json.ts';
import { inOrder } from '../ledger/rank.ts';
import { isTerminal, type Ledger, nameKey, runOf, type Task, taskOf, tasksOf } from '../ledger/state.ts';
import type { Pen } from '../pen.ts';
import { type Denied, deny } from '../verdict.ts';
import { socketOf } from './rules.ts';
import type { Cast, Item, Parked, TaskList } from './state.ts';

export type Selection =
  | { readonly found: true; readonly item: Item | null }
  /** The list has nothing (more) at the cursor: the socket is passed over. */
  | { readonly found: false; readonly loop: Loop | null };

export function selectItem(cast: Cast, socketId: string): Selection {
  const loop = loopOf(cast.rules.graph, socketId);
  const iterator = socketOf(cast, socketId).foreach ?? loop?.iterator;
  if (!iterator) return { found: true, item: null };
  const list = listOf(cast, iterator.items);
  const index = cast.cursors[iterator.cursorKey] ?? 0;
  if (index >= list.length) return { found: false, loop };
  return { found: true, item: itemAt(iterator, list, index) };
}

/** The list behind a path; whatever is no list counts as an empty one. */
export function listOf(cast: Cast, items: string): readonly Json[] {
  const list = resolvePath(items, scopeOf(cast, null));
  return Array.isArray(list) ? list : [];
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

export function itemValue(cast: Cast, item: Item): Json | undefined {
  return listOf(cast, item.items)[item.index];
}

/** What paths and templates resolve against. Item variables are seen beside the data and never stored in it. */
export function scopeOf(cast: Cast, item: Item | null): Scope {
  const value = item === null ? undefined : itemValue(cast, item);
  return {
    request: cast.request,
    data: cast.data,
    item: value,
    itemVars: item === null || value === undefined ? {} : itemVars(item, value),
    cursors: cursorsSeen(cast, item),
    lastOutput: cast.lastOutput,
    lastJson: cast.lastJson ?? undefined,
  };
}

/** Cursors by the names people gave them; the one of the current item wins over another loop's of the same name. */
function cursorsSeen(cast: Cast, item: Item | null): Record<string, number> {
  const seen: Record<string, number> = {};
  for (const [key, index] of Object.entries(cast.cursors)) seen[cursorName(key)] ??= index;
  if (item) seen[cursorName(item.cursorKey)] = item.index;
  return seen;
}

/** The name people gave a cursor; where two loops left it to us, they share it. */
export function cursorName(cursorKey: string): string {
  const at = cursorKey.indexOf('@');
  return at === -1 ? cursorKey : cursorKey.slice(0, at);
}

function itemVars(item: Item, value: Json): JsonObject {
  const vars: Record<string, Json> = { item: value, currentWorkItem: value, [item.as]: value };
  if (item.key.startsWith('WI-')) vars.workItem = value;
  return vars;
}

// The tasks of a list, by place. Numbered in a row they are known by the first number and how many there are, so that what
// a cast remembers does not grow with its lists.
const EMPTY: TaskList = { ids: [], places: {} };

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

/** Where a task stands in the list; null where it is not in it. */
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

/** Whether somebody has said that the task will not be done. */
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
