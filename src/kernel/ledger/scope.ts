// What a task may have changed: paths inside its lock scope, and nothing that touches its forbidden scope, from above or
// from below. Its own worklog and report are always inside. The folder that governs the work is never inside: whoever
// claims everything does not claim the rules, and nobody can claim them by name.
import { type Denied, deny } from '../verdict.ts';
import { keyIn, type LockTree } from './lock-tree.ts';
import { PathIndex } from './overlap.ts';
import { normalPath } from './path.ts';
import { coverOf } from './path-key.ts';
import type { Task } from './state.ts';
import { filesOf } from './task-file.ts';

const LISTED_MAX = 20;

/** What a task has changed, or would. */
export type Tense = 'changed' | 'would change';

export function refusalOfChanges(
  task: Task,
  changes: readonly string[],
  locks: LockTree,
  tense: Tense = 'changed',
): Denied | null {
  const keyOf = keyIn(locks, task.root);
  const keyed = (paths: readonly string[]) => paths.map(keyOf);
  const own = keyed(filesOf(task));
  const covers = coverOf(keyed(task.lockScope));
  const isInside = (key: string) => !isGoverning(key) && covers(key);
  const forbidden = new PathIndex(keyed(task.forbidden));
  const outside: string[] = [];
  const touching: string[] = [];
  for (const change of new Set(changes)) {
    const normal = normalPath(change);
    const key = normal.ok ? keyOf(normal.path) : null;
    if (key === null || !(isInside(key) || own.includes(key))) outside.push(change);
    else if (forbidden.firstOverlap(key) !== null) touching.push(change);
  }
  if (outside.length + touching.length === 0) return null;
  const [first] = [...outside, ...touching];
  const why = outside.length > 0 ? 'lies outside its lock_scope' : 'touches its forbidden_scope';
  const more = outside.length + touching.length - 1;
  const way = tense === 'changed' ? 'take the change back' : 'leave it as it is, or ask for a task that may';
  const reason = `${task.id} ${tense} ${JSON.stringify(first)}, which ${why}${more > 0 ? ` (and ${more} more)` : ''}; ${way}.`;
  return deny('SCOPE_VIOLATION', reason, {
    task: task.id,
    outside: outside.slice(0, LISTED_MAX),
    forbidden: touching.slice(0, LISTED_MAX),
    count: more + 1,
    lock_scope: task.lockScope.slice(0, LISTED_MAX),
    forbidden_scope: task.forbidden.slice(0, LISTED_MAX),
  });
}

/** Of one who may change no file at all, for a reason that is named; `way` is what a person can do about it. */
export function refusalOfAnyChange(
  socket: string,
  changes: readonly string[],
  why: string,
  way: string,
  isPutBack = false,
): Denied | null {
  const [first] = changes;
  if (first === undefined) return null;
  const more = changes.length > 1 ? ` (and ${changes.length - 1} more)` : '';
  const reason = `${socket} changed ${JSON.stringify(first)}${more} and may change no file, because ${why}; ${isPutBack ? 'it is put back' : 'take back what it changed and nothing else'}. ${way}`;
  const outside = changes.slice(0, LISTED_MAX);
  return deny('SCOPE_VIOLATION', reason, { socket, outside, forbidden: [], count: changes.length, lock_scope: [] });
}

/** What governs the work is nobody's to lock. A scope that merely lies above it does not reach it. */
export function refusalOfGoverning(
  id: string,
  lockScope: readonly string[],
  keyOf: (path: string) => string,
): Denied | null {
  const governing = lockScope.find((path) => isGoverning(keyOf(path)));
  if (governing === undefined) return null;
  const reason = `${id} wants ${JSON.stringify(governing)}, and what governs the work is no task's to change; take it out of lock_scope.`;
  return deny('SCOPE_VIOLATION', reason, { task: id, resource: governing });
}

/** What of the forbidden scope is said in a packet: that the rules are forbidden to whoever claims all goes without saying. */
export function forbiddenOnWire({ lockScope, forbidden }: Pick<Task, 'lockScope' | 'forbidden'>): readonly string[] {
  const covers = coverOf(lockScope);
  return forbidden.filter((path) => !(isGoverning(path) && covers(path)));
}

export function isGoverning(key: string): boolean {
  return key === '.baton' || key.startsWith('.baton/');
}
