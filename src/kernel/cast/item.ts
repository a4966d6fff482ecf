// Which item a socket works on, and what its prompt, its assignments and its utility can see.

import type { Entry } from '../fact.ts';
import type { Iterator, Loop, Rules } from '../graph/config.ts';
import { resolvePath, type Scope } from '../graph/path.ts';
import { loopOf } from '../graph/route.ts';
import { isObject, isText, type Json, type JsonObject } from '../json.ts';
import { inOrder } from '../ledger/rank.ts';
import { type Ledger, nameKey, runOf } from '../ledger/state.ts';
import type { Cast, Item, TaskList } from '../state.ts';
import { socketOf } from './pen.ts';

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

// How many items of a cast came to what end, told from its facts. All who count items ask here: the closing lines, `show`
// and `why`.
export type ItemCounts = {
  readonly total: number;
  /** Advanced by a member of their loop. */
  readonly done: number;
  /** Advanced by `advance.when: "not_satisfied"`. */
  readonly skipped: number;
  /** Given up because an edge led out of their loop. */
  readonly leftEarly: number;
  /** Taken out by a person. */
  readonly leftOut: number;
  /** Put off until a person decides. */
  readonly parked: number;
  readonly open: number;
};

type Fate = Exclude<keyof ItemCounts, 'total'>;

/** Null where the cast has no items. */
export function countItems(record: ItemsRecord): ItemCounts | null {
  const fates = fatesOf(record).map(({ fate }) => fate);
  if (fates.length === 0) return null;
  const count = (fate: Fate) => fates.filter((each) => each === fate).length;
  return {
    total: fates.length,
    done: count('done'),
    skipped: count('skipped'),
    leftEarly: count('leftEarly'),
    leftOut: count('leftOut'),
    parked: count('parked'),
    open: count('open'),
  };
}

/** What became of each item, by its task: in the ledger a skipped one is done. */
export function itemFates(record: ItemsRecord): ReadonlyMap<string, Fate> {
  return new Map(fatesOf(record).map(({ task, fate }) => [task, fate]));
}

/** Such as `2 of 4 items done, 1 skipped, 1 open`. */
export function itemsText({ total, done, skipped, leftEarly, leftOut, parked, open }: ItemCounts): string {
  const others = { skipped, 'left early': leftEarly, 'left out': leftOut, parked, open };
  const named = Object.entries(others).flatMap(([name, count]) => (count === 0 ? [] : [`, ${count} ${name}`]));
  return `${done} of ${total} item${total === 1 ? '' : 's'} done${named.join('')}`;
}

type Place = { readonly task: string; fate: Fate };

/** The items of a cast, as its entries tell them one after the other. */
export type ItemsRecord = {
  readonly lists: Map<string, Place[]>;
  /** Of a list that another list replaced, only what was done or skipped counts: the rest was planned anew. */
  readonly replaced: Place[];
  readonly turns: Map<number, { readonly socket: string; readonly item: Item | null }>;
  /** What a person or an edge gave up. */
  readonly given: Map<string, Fate>;
};

export function noItems(): ItemsRecord {
  return { lists: new Map(), replaced: [], turns: new Map(), given: new Map() };
}

/** `rules` are those of the cast. */
export function foldItem(record: ItemsRecord, fact: Entry['fact'], rules: Rules | null): void {
  const { lists, replaced, turns, given } = record;
  if (fact.kind === 'items.planned' && fact.cursor !== null) {
    const places = fact.tasks.map((task): Place => ({ task, fate: 'open' }));
    lists.set(fact.cursor, [...(lists.get(fact.cursor) ?? []), ...places]);
  } else if (fact.kind === 'turn.started') turns.set(fact.turn, fact);
  else if (fact.kind === 'cursor.advanced' && fact.item !== null) {
    const turn = turns.get(fact.turn);
    // Side by side the cursor counts and does not point.
    const index = turn?.item?.key === fact.item ? turn.item.index : fact.to - 1;
    const place = lists.get(fact.cursor)?.[index];
    const isSkipped = rules?.graph.sockets[turn?.socket ?? '']?.advance?.when === 'not_satisfied';
    if (place) place.fate = isSkipped ? 'skipped' : 'done';
  } else if (fact.kind === 'cursor.reset') {
    replaced.push(...(lists.get(fact.cursor) ?? []).filter(({ fate }) => fate !== 'open'));
    lists.delete(fact.cursor);
  } else if (fact.kind === 'item.parked') given.set(fact.task, 'parked');
  else if (fact.kind === 'item.retried') given.delete(fact.task);
  else if (fact.kind === 'task.moved' && (fact.to === 'canceled' || fact.to === 'failed')) {
    given.set(fact.task, fact.code === 'LEFT_EARLY' ? 'leftEarly' : 'leftOut');
  }
}

/** Every item once. */
function fatesOf({ lists, replaced, given }: ItemsRecord): readonly Place[] {
  const places = [...replaced, ...[...lists.values()].flat()];
  return places.map(({ task, fate }) => ({ task, fate: given.get(task) ?? fate }));
}
