// Stops a cast that goes round in circles: starting a socket again that was already visited since the last finished
// item closes a cycle. Cycles closed over an edge with a retry budget of its own are that budget's business.
import type { Guard } from '../state.ts';

/** The guard after `socket` was started for the item `key` (empty outside a loop). */
export function tracked(guard: Guard, key: string, socket: string, budgeted: boolean): Guard {
  if (guard.key !== key) return { key, count: 0, path: [socket] };
  if (!guard.path.includes(socket)) return { key, count: guard.count, path: [...guard.path, socket] };
  return { key, count: budgeted ? guard.count : guard.count + 1, path: [socket] };
}
