// Which item a socket works on, and what its prompt, its assignments and its utility can see.
import type { Iterator, Loop } from '../graph/config.ts';
import { resolvePath, type Scope } from '../graph/path.ts';
import { loopOf } from '../graph/route.ts';
import { isObject, isText, type Json, type JsonObject } from '../json.ts';
import type { Cast, Item } from '../state.ts';
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
