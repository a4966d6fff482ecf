// What a cast remembers of the items of its loops: how often a budgeted edge was taken for one, and what was said about
// it. Items are known by their place in a list, so all of it goes when the item is finished or its list replaced.
import type { Loop } from '../graph/config.ts';
import type { Cast } from '../state.ts';

export type ItemMemory = Pick<Cast, 'traversals' | 'extended' | 'rework'>;

/** The counter of an edge for one item; outside loops there is one for the whole cast. */
export function edgeKey(from: string, to: string, item: string | null): string {
  return `${from}->${to}@${item ?? ''}`;
}

/** The notes for a socket about one item, or about none. */
export function noteKey(target: string, item: string | null): string {
  return `${target}@${item ?? ''}`;
}

/** A finished item takes its counters and its notes with it. */
export function forgetItem(cast: ItemMemory, item: string): void {
  for (const counts of [cast.traversals, cast.extended]) {
    for (const key of Object.keys(counts)) if (key.endsWith(`@${item}`)) delete counts[key];
  }
  for (const key of Object.keys(cast.rework)) if (key.endsWith(`@${item}`)) delete cast.rework[key];
}

/** A new list makes the places in the old one meaningless. */
export function forgetItems(cast: ItemMemory, loop: Loop): void {
  for (const counts of [cast.traversals, cast.extended]) {
    for (const key of Object.keys(counts)) if (isInside(key, loop)) delete counts[key];
  }
  for (const key of Object.keys(cast.rework)) if (isInside(key, loop)) delete cast.rework[key];
}

export function remembersItems(cast: Cast, loop: Loop): boolean {
  return [...Object.keys(cast.traversals), ...Object.keys(cast.rework)].some((key) => isInside(key, loop));
}

/**
 * Whether a key is of an item of this loop. An edge that leads out of the loop is not: it may lead back to the planner,
 * and a budget for planning anew would never be used up if every new plan refilled it.
 */
function isInside(key: string, loop: Loop): boolean {
  const at = key.lastIndexOf('@');
  const sockets = key.slice(0, at).split('->');
  return at < key.length - 1 && sockets.every((socket) => loop.sockets.includes(socket));
}
