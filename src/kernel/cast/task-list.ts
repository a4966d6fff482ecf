// The tasks of a list, by place. Numbered in a row they are known by the first number and how many there are, so that what
// a cast remembers does not grow with its lists.
import { inOrder } from '../ledger/rank.ts';
import { type Ledger, nameKey, runOf } from '../ledger/state.ts';
import type { TaskList } from '../state.ts';

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
