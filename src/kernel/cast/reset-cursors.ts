// What a new list does to the walk over it.
import type { DataChange } from '../fact.ts';
import { settle } from '../ledger/move.ts';
import { isTerminal, type Task, taskOf } from '../ledger/state.ts';
import type { Cast, Turn } from '../state.ts';
import { remembersItems } from './item-memory.ts';
import type { Pen } from './pen.ts';
import { idsIn } from './task-list.ts';

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
