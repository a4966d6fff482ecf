// Checks records of locks and whole lock tables. A lock claims a path and everything below it for one task, and no two tasks
// may hold overlapping paths.
import type { Json } from '../../kernel/json.ts';
import { conflictsAmong, PathIndex } from '../../kernel/ledger/path.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { LOCK_TABLE, type OperatorOptions } from './contract.ts';
import {
  checkExtensions,
  checkMembers,
  checkOptionalHead,
  inQuotes,
  normalPaths,
  OperatorFindings,
  objectsOf,
  payloadOf,
} from './findings.ts';

/** Checks a lock table: `{locks: [{task_id, resource, active}]}`. */
export function validateLocks(input: unknown, options: OperatorOptions = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const { payload } = given;
  const found = new OperatorFindings(options);
  const refusal = found.through([
    () => {
      if (Array.isArray(payload.locks)) return;
      found.add('MISSING_REQUIRED_INPUT', 'locks', 'must be there and be an array', { missing: ['locks'] });
    },
    () => checkOptionalHead(found, payload, LOCK_TABLE),
    () => {
      checkMembers(found, payload, LOCK_TABLE, ['locks']);
      checkExtensions(found, payload, LOCK_TABLE, '');
    },
    () => checkConflicts(found, payload.locks, 'locks'),
  ]);
  if (refusal) return refusal;
  const active = activeLocks(payload.locks).length;
  return found.allowed(`${active} active locks, no conflict`, { active_lock_count: active });
}

/** All pairs of active locks of different tasks that overlap. The records must have been checked. */
export function checkConflicts(found: OperatorFindings, value: Json | undefined, path: string): void {
  const { pairs, truncated } = conflictsOf(activeLocks(value));
  const conflicts = pairs.map(([a, b]) => ({
    task_a: a.holder,
    resource_a: a.path,
    task_b: b.holder,
    resource_b: b.path,
  }));
  const [first] = conflicts;
  if (!first) return;
  const message = `${first.task_a} holds ${inQuotes(first.resource_a)}, which overlaps ${inQuotes(first.resource_b)} of ${first.task_b}`;
  found.add('LOCK_CONFLICT', path, message, { conflicts, ...(truncated ? { truncated } : {}) });
}

type ActiveLock = { readonly holder: string; readonly path: string; readonly root: Json };

/** The locks in force, with normal paths; where a record says so in `x_root`, below another root than the workspace. */
export function activeLocks(value: Json | undefined): readonly ActiveLock[] {
  return objectsOf(value).flatMap(({ active, resource, task_id, x_root: root = null }) => {
    const [path] = active === true ? normalPaths([resource ?? null]) : [];
    return path === undefined ? [] : [{ holder: String(task_id), path, root }];
  });
}

/** The pairs of locks that overlap, root by root: the same path below two roots is two places. */
export function conflictsOf(active: readonly ActiveLock[]): {
  readonly pairs: readonly (readonly [ActiveLock, ActiveLock])[];
  readonly truncated: boolean;
} {
  const roots = Map.groupBy(active, ({ root }) => JSON.stringify(root));
  const found = [...roots.values()].map((locks) => ({ locks, ...conflictsAmong(locks) }));
  return {
    pairs: found.flatMap(({ locks, pairs }) =>
      pairs.flatMap(([first, second]): [ActiveLock, ActiveLock][] => {
        const [a, b] = [locks[first], locks[second]];
        return a && b ? [[a, b]] : [];
      }),
    ),
    truncated: found.some(({ truncated }) => truncated),
  };
}

/** The pairs of one scope that overlap; `index` is the place of the second. */
export function overlapsIn(scope: Json | undefined) {
  const paths = normalPaths(scope);
  const { pairs } = conflictsAmong(paths.map((path, place) => ({ holder: String(place), path })));
  return pairs.map(([first, index]) => ({
    resource: paths[first] ?? '',
    conflict_resource: paths[index] ?? '',
    index,
  }));
}

/** What is forbidden and claimed at once. */
export function overlapsBetween(scope: Json | undefined, forbidden: Json | undefined) {
  const overlapOf = overlapWith(scope);
  return normalPaths(forbidden).flatMap((path) => {
    const resource = overlapOf(path);
    return resource === undefined ? [] : [{ forbidden_resource: path, resource }];
  });
}

/** The first path of a scope that overlaps another path. */
export function overlapWith(scope: Json | undefined): (path: string) => string | undefined {
  const paths = normalPaths(scope);
  const index = new PathIndex(paths);
  return (path) => paths[index.firstOverlap(path) ?? -1];
}
