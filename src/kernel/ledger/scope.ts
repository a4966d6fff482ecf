// What a task may have changed: paths inside its lock scope, and nothing that touches its forbidden scope, from above or
// from below. Its own worklog and report are always inside. The folder that governs the work is inside only for a scope
// that names it: whoever claims everything does not claim the rules.
import { type Denied, deny } from '../verdict.ts';
import { PathIndex } from './overlap.ts';
import { normalPath } from './path.ts';
import { coverOf, pathKey } from './path-key.ts';
import type { Task } from './state.ts';

const LISTED_MAX = 20;

export function refusalOfChanges(task: Task, changes: readonly string[], foldCase: boolean): Denied | null {
  const keyed = (paths: readonly string[]) => paths.map((path) => pathKey(path, foldCase));
  const own = [task.worklogPath, task.reportPath ?? ''].flatMap((path) => {
    const normal = normalPath(path);
    return normal.ok ? [pathKey(normal.path, foldCase)] : [];
  });
  const claimed = keyed(task.lockScope);
  const [covers, coversByName] = [coverOf(claimed), coverOf(claimed.filter((key) => key !== '.' && key !== '/'))];
  const isInside = (key: string) => (isGoverning(key) ? coversByName(key) : covers(key));
  const forbidden = new PathIndex(keyed(task.forbidden));
  const outside: string[] = [];
  const touching: string[] = [];
  for (const change of new Set(changes)) {
    const normal = normalPath(change);
    const key = normal.ok ? pathKey(normal.path, foldCase) : null;
    if (key === null || !(isInside(key) || own.includes(key))) outside.push(change);
    else if (forbidden.firstOverlap(key) !== null) touching.push(change);
  }
  if (outside.length + touching.length === 0) return null;
  const [first] = [...outside, ...touching];
  const why = outside.length > 0 ? 'lies outside its lock_scope' : 'touches its forbidden_scope';
  const more = outside.length + touching.length - 1;
  const reason = `${task.id} changed ${JSON.stringify(first)}, which ${why}${more > 0 ? ` (and ${more} more)` : ''}; take the change back.`;
  return deny('SCOPE_VIOLATION', reason, {
    task: task.id,
    outside: outside.slice(0, LISTED_MAX),
    forbidden: touching.slice(0, LISTED_MAX),
    count: more + 1,
    lock_scope: task.lockScope.slice(0, LISTED_MAX),
    forbidden_scope: task.forbidden.slice(0, LISTED_MAX),
  });
}

function isGoverning(key: string): boolean {
  return key === '.baton' || key.startsWith('.baton/');
}
