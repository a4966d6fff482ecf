// Stops a cast that goes round in circles: starting a socket again that was already visited since the last finished
// item closes a cycle. Cycles closed over an edge with a retry budget of its own are that budget's business.
import type { Guard } from '../state.ts';

export const NO_ROUNDS: Guard = { key: '', count: 0, path: [] };

/**
 * The guard after `socket` was started for the item `key` (empty outside a loop). The first item that is started counts
 * from nothing. From then on only a finished item clears the count: a detour to a socket outside the loop, or to another
 * list, would otherwise let a cycle run for ever.
 */
export function tracked(guard: Guard, key: string, socket: string, budgeted: boolean): Guard {
  if (guard.key === '' && key !== '') return { key, count: 0, path: [socket] };
  if (!guard.path.includes(socket)) return { ...guard, path: [...guard.path, socket] };
  return { ...guard, count: budgeted ? guard.count : guard.count + 1, path: [socket] };
}
