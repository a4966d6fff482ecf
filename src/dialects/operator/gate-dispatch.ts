// The gate before a dispatch: the assignment is whole, its scopes are apart, and nobody holds what it claims. The checks
// of a lock table that was changed stand here too.
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { conflictsAmong, normalPath, PathIndex } from '../../kernel/ledger/path.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { HEARTBEAT_SECONDS_MIN, TIMEOUT_SECONDS_MIN } from './contract.ts';
import { listOf, normalPaths } from './field.ts';
import { Findings, quoted } from './findings.ts';
import { breaks } from './gate-rule.ts';
import { payloadOf } from './head.ts';
import { isTaskId } from './identifiers.ts';
import { activeLocks, validateLocks } from './locks.ts';

const FIELDS = [
  'lock_scope',
  'forbidden_scope',
  'acceptance_criteria',
  'worklog_path',
  'timeout_seconds',
  'heartbeat_interval_seconds',
];

/** Checks `{task_id, assignment, active_locks}`. */
export function gatePreDispatch(input: unknown): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const { payload } = given;
  const assignment = isObject(payload.assignment) ? payload.assignment : {};
  const { lock_scope: scope, forbidden_scope: forbidden } = assignment;
  const found = new Findings();
  const refusal = found.through([
    () => checkNames(found, payload, assignment),
    () => checkScope(found, 'R-PD-002', scope, 'assignment.lock_scope', 1),
    () => checkScope(found, 'R-PD-004', forbidden, 'assignment.forbidden_scope', 0),
    () => checkCriteria(found, assignment.acceptance_criteria),
    () => {
      if (!Array.isArray(payload.active_locks)) breaks(found, 'R-PD-007', 'active_locks', 'must be an array of locks');
    },
    () => checkWorklog(found, assignment.worklog_path),
    () => checkTimes(found, assignment),
    () => checkPaths(found, 'R-PD-002', scope, 'assignment.lock_scope'),
    () => checkPaths(found, 'R-PD-004', forbidden, 'assignment.forbidden_scope'),
    () => checkOwnOverlap(found, scope),
    () => checkForbidden(found, scope, forbidden),
    () => checkLocks(found, payload, scope),
  ]);
  return refusal ?? found.allowed('the task may be dispatched', { task_id: payload.task_id ?? null });
}

/** Checks a bare array of records of locks. Whatever is wrong with it breaks the one rule of lock tables. */
export function gateLockUpdate(input: unknown): Verdict {
  const verdict = Array.isArray(input)
    ? validateLocks({ locks: input })
    : deny('SCHEMA_INVALID', 'The payload is not usable: expected a JSON array of locks.', { path: '$' });
  if (verdict.allow) return verdict;
  return deny('R-LK-001', verdict.reason, { contract_code: verdict.code, ...verdict.details });
}

function checkNames(found: Findings, payload: JsonObject, assignment: JsonObject): void {
  const top = ['task_id', 'assignment', 'active_locks'].filter((name) => payload[name] === undefined);
  const inner = isObject(payload.assignment) ? FIELDS.filter((name) => assignment[name] === undefined) : [];
  const missing = [...top, ...inner.map((name) => `assignment.${name}`)];
  if (missing.length > 0) breaks(found, 'R-PD-001', '$', `required and missing: ${missing.join(', ')}`, { missing });
  else if (!isTaskId(payload.task_id)) breaks(found, 'R-PD-001', 'task_id', 'must be a task id');
  else if (!isObject(payload.assignment)) breaks(found, 'R-PD-001', 'assignment', 'must be an object');
}

function checkScope(
  found: Findings,
  rule: 'R-PD-002' | 'R-PD-004',
  scope: Json | undefined,
  path: string,
  min: number,
): void {
  const isList = Array.isArray(scope) && scope.every(isString) && scope.length >= min;
  const least = min > 0 ? ' with at least one entry' : '';
  if (!isList) breaks(found, rule, path, `must be an array of paths${least}`);
}

function checkCriteria(found: Findings, criteria: Json | undefined): void {
  if (Array.isArray(criteria) && criteria.length > 0 && criteria.every(isText)) return;
  breaks(found, 'R-PD-001', 'assignment.acceptance_criteria', 'must hold at least one criterion, and no blank one');
}

function checkWorklog(found: Findings, path: Json | undefined): void {
  if (isText(path) && normalPath(path).ok) return;
  breaks(found, 'R-PD-005', 'assignment.worklog_path', 'must be the path of a file inside the workspace');
}

function checkTimes(found: Findings, assignment: JsonObject): void {
  const { timeout_seconds: timeout, heartbeat_interval_seconds: heartbeat } = assignment;
  const isWhole = (value: Json | undefined, min: number) => Number.isSafeInteger(value) && Number(value) >= min;
  if (!isWhole(timeout, TIMEOUT_SECONDS_MIN)) {
    const message = `must be a whole number of at least ${TIMEOUT_SECONDS_MIN}`;
    breaks(found, 'R-PD-006', 'assignment.timeout_seconds', message);
  } else if (!isWhole(heartbeat, HEARTBEAT_SECONDS_MIN) || Number(heartbeat) >= Number(timeout)) {
    const message = `must be a whole number of at least ${HEARTBEAT_SECONDS_MIN}, and smaller than timeout_seconds`;
    breaks(found, 'R-PD-006', 'assignment.heartbeat_interval_seconds', message);
  }
}

function checkPaths(found: Findings, rule: 'R-PD-002' | 'R-PD-004', scope: Json | undefined, path: string): void {
  for (const [index, item] of listOf(scope).entries()) {
    if (!normalPath(String(item)).ok) breaks(found, rule, `${path}[${index}]`, 'names no path inside', { index });
  }
}

function checkOwnOverlap(found: Findings, scope: Json | undefined): void {
  const own = normalPaths(scope);
  const { pairs } = conflictsAmong(own.map((path, place) => ({ holder: String(place), path })));
  for (const [first, second] of pairs) {
    const [a = '', b = ''] = [own[first], own[second]];
    const message = `${quoted(a)} and ${quoted(b)} overlap; name each path once`;
    breaks(found, 'R-PD-003', `assignment.lock_scope[${second}]`, message, { resource: a, conflict_resource: b });
  }
}

function checkForbidden(found: Findings, scope: Json | undefined, forbidden: Json | undefined): void {
  const own = normalPaths(scope);
  const index = new PathIndex(own);
  for (const path of normalPaths(forbidden)) {
    const claimed = own[index.firstOverlap(path) ?? -1];
    if (claimed === undefined) continue;
    const message = `${quoted(path)} overlaps ${quoted(claimed)} of lock_scope`;
    breaks(found, 'R-PD-004', 'assignment.forbidden_scope', message, { forbidden_resource: path, resource: claimed });
  }
}

/** One record after the other, so that a conflict is reported before a malformed record that comes later. */
function checkLocks(found: Findings, payload: JsonObject, scope: Json | undefined): void {
  const own = normalPaths(scope);
  const index = new PathIndex(own);
  for (const [place, lock] of listOf(payload.active_locks).entries()) {
    const path = `active_locks[${place}]`;
    const fault = faultOfLock(lock);
    if (fault !== null) {
      breaks(found, 'R-PD-007', path, fault, { index: place });
      continue;
    }
    const [held] = activeLocks([lock]);
    if (!held || held.holder === payload.task_id) continue;
    const resource = own[index.firstOverlap(held.path) ?? -1];
    if (resource === undefined) continue;
    const message = `${held.holder} holds ${quoted(held.path)}, which overlaps ${quoted(resource)}`;
    const conflict = { conflict_task_id: held.holder, conflict_resource: held.path };
    breaks(found, 'R-PD-003', path, message, { task_id: payload.task_id ?? null, resource, ...conflict });
  }
}

function faultOfLock(lock: Json): string | null {
  if (!isObject(lock)) return 'must be an object';
  if (!isTaskId(lock.task_id)) return 'must name the task that holds it';
  if (!isString(lock.resource) || !normalPath(lock.resource).ok) return 'must name the path it holds';
  return typeof lock.active === 'boolean' ? null : 'must say with true or false whether it is active';
}
