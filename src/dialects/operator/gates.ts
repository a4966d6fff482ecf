// The gates of the contract as pure checks: before a dispatch, after an execution, before completion, and on a changed lock table.
// Each refusal names its rule and the contract code under which it is stored.
import type { OperatorRule } from '../../kernel/codes/operator.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { unmetClaims } from '../../kernel/ledger/decide.ts';
import { normalPath } from '../../kernel/ledger/path.ts';
import { scopeRule } from '../../kernel/ledger/scope.ts';
import { CODE_OF_RULE } from '../../kernel/ledger/wire.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { HEARTBEAT_SECONDS_MIN, NOTES_MAX, RESULT_STATUSES, TIMEOUT_SECONDS_MIN } from './contract.ts';
import { elementsOf, inQuotes, isTaskId, normalPaths, OperatorFindings, objectsOf, payloadOf } from './findings.ts';
import { activeLocks, overlapsBetween, overlapsIn, overlapWith, validateLocks } from './locks.ts';
import { checkForeignText, checkNoSecret } from './untrusted.ts';

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
  const found = new OperatorFindings();
  const refusal = found.through([
    () => checkDispatchNames(found, payload, assignment),
    () => checkScopeList(found, 'R-PD-002', scope, 'assignment.lock_scope', 1),
    () => checkScopeList(found, 'R-PD-004', forbidden, 'assignment.forbidden_scope', 0),
    () => checkAssignedCriteria(found, assignment.acceptance_criteria),
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

function checkDispatchNames(found: OperatorFindings, payload: JsonObject, assignment: JsonObject): void {
  const top = ['task_id', 'assignment', 'active_locks'].filter((name) => payload[name] === undefined);
  const inner = isObject(payload.assignment) ? FIELDS.filter((name) => assignment[name] === undefined) : [];
  const missing = [...top, ...inner.map((name) => `assignment.${name}`)];
  if (missing.length > 0) breaks(found, 'R-PD-001', '$', `required and missing: ${missing.join(', ')}`, { missing });
  else if (!isTaskId(payload.task_id)) breaks(found, 'R-PD-001', 'task_id', 'must be a task id');
  else if (!isObject(payload.assignment)) breaks(found, 'R-PD-001', 'assignment', 'must be an object');
}

function checkScopeList(
  found: OperatorFindings,
  rule: 'R-PD-002' | 'R-PD-004',
  scope: Json | undefined,
  path: string,
  min: number,
): void {
  const isList = Array.isArray(scope) && scope.every(isString) && scope.length >= min;
  const least = min > 0 ? ' with at least one entry' : '';
  if (!isList) breaks(found, rule, path, `must be an array of paths${least}`);
}

function checkAssignedCriteria(found: OperatorFindings, criteria: Json | undefined): void {
  if (Array.isArray(criteria) && criteria.length > 0 && criteria.every(isText)) return;
  breaks(found, 'R-PD-001', 'assignment.acceptance_criteria', 'must hold at least one criterion, and no blank one');
}

function checkWorklog(found: OperatorFindings, path: Json | undefined): void {
  if (isText(path) && normalPath(path).ok) return;
  breaks(found, 'R-PD-005', 'assignment.worklog_path', 'must be the path of a file inside the workspace');
}

function checkTimes(found: OperatorFindings, assignment: JsonObject): void {
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

function checkPaths(
  found: OperatorFindings,
  rule: 'R-PD-002' | 'R-PD-004',
  scope: Json | undefined,
  path: string,
): void {
  for (const [index, item] of elementsOf(scope).entries()) {
    if (!normalPath(String(item)).ok) breaks(found, rule, `${path}[${index}]`, 'names no path inside', { index });
  }
}

function checkOwnOverlap(found: OperatorFindings, scope: Json | undefined): void {
  for (const { resource, conflict_resource, index } of overlapsIn(scope)) {
    const message = `${inQuotes(resource)} and ${inQuotes(conflict_resource)} overlap; name each path once`;
    breaks(found, 'R-PD-003', `assignment.lock_scope[${index}]`, message, { resource, conflict_resource });
  }
}

function checkForbidden(found: OperatorFindings, scope: Json | undefined, forbidden: Json | undefined): void {
  for (const { forbidden_resource, resource } of overlapsBetween(scope, forbidden)) {
    const message = `${inQuotes(forbidden_resource)} overlaps ${inQuotes(resource)} of lock_scope`;
    breaks(found, 'R-PD-004', 'assignment.forbidden_scope', message, { forbidden_resource, resource });
  }
}

/** One record after the other, so that a conflict is reported before a malformed record that comes later. */
function checkLocks(found: OperatorFindings, payload: JsonObject, scope: Json | undefined): void {
  const overlapOf = overlapWith(scope);
  for (const [place, lock] of elementsOf(payload.active_locks).entries()) {
    const path = `active_locks[${place}]`;
    const fault = faultOfLock(lock);
    if (fault !== null) {
      breaks(found, 'R-PD-007', path, fault, { index: place });
      continue;
    }
    const [held] = activeLocks([lock]);
    if (!held || held.holder === payload.task_id) continue;
    const resource = overlapOf(held.path);
    if (resource === undefined) continue;
    const message = `${held.holder} holds ${inQuotes(held.path)}, which overlaps ${inQuotes(resource)}`;
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

/**
 * The gates behind an execution: whether what came back has the promised shape and stayed inside its scope, and whether
 * every criterion that was asked for is met on evidence.
 */
const LISTED_MAX = 20;
const RESULT_FIELDS = ['status', 'changes', 'acceptance_check', 'worklog_path', 'notes_for_orchestrator'];

/** What a gate can ask about the outside. */
type FileCheck = {
  /** Whether a path of the workspace names an existing regular file; without it no file is asked for. */
  readonly isFile?: (path: string) => boolean;
};

/** Checks `{task_id, result, assignment: {lock_scope, forbidden_scope}}`. */
export function gatePostExecution(input: unknown, { isFile }: FileCheck = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const { task_id, result: told, assignment: asked } = given.payload;
  const [result, assignment] = [told, asked].map((part) => (isObject(part) ? part : {})) as [JsonObject, JsonObject];
  const found = new OperatorFindings();
  const refusal = found.through([
    () => checkResultNames(found, given.payload, result),
    () => checkShape(found, result, task_id ?? null),
    () => {
      const isEmpty = result.status === 'done' && elementsOf(result.acceptance_check).length === 0;
      if (isEmpty) breaks(found, 'R-PC-001', 'result.acceptance_check', 'must not be empty when the status is done');
    },
    () => checkScopes(found, assignment),
    () => checkChanges(found, result.changes, assignment),
    () => {
      if (!isFile || isFile(String(result.worklog_path))) return;
      breaks(found, 'R-PO-003', 'result.worklog_path', 'names no existing file; write the worklog first');
    },
    () => checkNotes(found, result.notes_for_orchestrator),
  ]);
  return refusal ?? found.allowed('the result stays inside what was assigned', { task_id: task_id ?? null });
}

/** Checks `{task_id, acceptance_check, required_criteria}`. */
export function gatePreComplete(input: unknown): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const { payload } = given;
  const { acceptance_check: checks, required_criteria: required } = payload;
  const found = new OperatorFindings();
  const refusal = found.through([
    () => {
      const missing = ['task_id', 'acceptance_check', 'required_criteria'].filter(
        (name) => payload[name] === undefined,
      );
      if (missing.length > 0) breaks(found, 'R-PC-001', '$', `required: ${missing.join(', ')}`, { missing });
      else if (!isTaskId(payload.task_id)) breaks(found, 'R-PC-001', 'task_id', 'must be a task id');
    },
    () => checkCriteria(found, checks, required),
    () => checkMet(found, objectsOf(checks), elementsOf(required).filter(isString)),
  ]);
  return refusal ?? found.allowed('every criterion is met', { task_id: payload.task_id ?? null });
}

function checkResultNames(found: OperatorFindings, payload: JsonObject, result: JsonObject): void {
  const top = ['task_id', 'result', 'assignment'].filter((name) => payload[name] === undefined);
  const inner = isObject(payload.result) ? RESULT_FIELDS.filter((name) => result[name] === undefined) : [];
  const missing = [...top, ...inner.map((name) => `result.${name}`)];
  if (missing.length > 0) breaks(found, 'R-PO-001', '$', `required and missing: ${missing.join(', ')}`, { missing });
  for (const name of ['result', 'assignment']) {
    if (payload[name] !== undefined && !isObject(payload[name])) breaks(found, 'R-PO-001', name, 'must be an object');
  }
}

function checkShape(found: OperatorFindings, result: JsonObject, task: Json): void {
  const wrong = (path: string, message: string) => breaks(found, 'R-PO-001', path, message);
  if (!isTaskId(task)) wrong('task_id', 'must be a task id');
  if (result.task_id !== undefined && result.task_id !== task) wrong('result.task_id', 'is that of another task');
  if (!RESULT_STATUSES.some((status) => status === result.status)) {
    wrong('result.status', `must be one of ${RESULT_STATUSES.join(', ')}`);
  }
  if (!isText(result.worklog_path)) wrong('result.worklog_path', 'must be a path');
  if (!isListOf(result.changes, isChange)) wrong('result.changes', 'must be an array of {resource, action}');
  if (!isListOf(result.acceptance_check, isCheck)) {
    wrong('result.acceptance_check', 'must be an array of {criterion, status, evidence}');
  }
  const notes = result.notes_for_orchestrator;
  if (!isListOf(notes, isText) || elementsOf(notes).length > NOTES_MAX) {
    wrong('result.notes_for_orchestrator', `must be an array of at most ${NOTES_MAX} strings, none of them blank`);
  }
}

function checkScopes(found: OperatorFindings, assignment: JsonObject): void {
  for (const name of ['lock_scope', 'forbidden_scope']) {
    const isPath = (item: Json) => isString(item) && normalPath(item).ok;
    if (!isListOf(assignment[name], isPath))
      breaks(found, 'R-PO-001', `assignment.${name}`, 'must be an array of paths');
  }
}

/** A change lies at or below a claimed path, and touches nothing forbidden from above or from below. */
function checkChanges(found: OperatorFindings, changes: Json | undefined, assignment: JsonObject): void {
  const [lockScope, forbidden] = [normalPaths(assignment.lock_scope), normalPaths(assignment.forbidden_scope)];
  const placeOf = scopeRule({ lockScope, forbidden });
  for (const [index, change] of objectsOf(changes).entries()) {
    const [changed] = normalPaths([change.resource ?? null]);
    const path = `result.changes[${index}].resource`;
    const place = changed === undefined ? 'outside' : placeOf(changed);
    if (place === 'outside') {
      breaks(found, 'R-PO-002', path, 'lies outside the lock scope', { index, resource: change.resource ?? null });
    } else if (place === 'forbidden') {
      breaks(found, 'R-PW-002', path, 'touches the forbidden scope', { index, resource: changed ?? null });
    }
  }
}

/**
 * Any value given to a credential word, wherever in a word it is and however plain; not the marker left by a removed secret.
 */
const GIVEN = /(?!secret:[a-z-]{1,40}\])(?:api[_-]?key|secret|token)\s{0,64}[:=]\s{0,64}(?!\[secret:)\S/i;

function checkNotes(found: OperatorFindings, notes: Json | undefined): void {
  for (const [index, note] of elementsOf(notes).entries()) {
    const own = new OperatorFindings();
    checkNoSecret(own, note, 'note');
    checkForeignText(own, note, 'note');
    const refusal = own.refusal();
    const isGiven = isString(note) && GIVEN.test(note);
    if (!refusal && !isGiven) continue;
    const pattern = refusal ? refusal.details.pattern : 'generic_secret_assignment';
    const message = 'carries a secret or tries to steer its reader; take it out';
    const details = { index, ...(pattern === undefined ? {} : { pattern }) };
    breaks(found, 'R-PO-004', `result.notes_for_orchestrator[${index}]`, message, details);
  }
}

function checkCriteria(found: OperatorFindings, checks: Json | undefined, required: Json | undefined): void {
  if (!isListOf(required, isText)) {
    breaks(found, 'R-PC-001', 'required_criteria', 'must be an array of criteria, none of them blank');
  }
  if (!isListOf(checks, (item) => isObject(item) && isText(item.criterion))) {
    breaks(found, 'R-PC-001', 'acceptance_check', 'must be an array of checks, each with its criterion');
  }
  if (found.count === 0 && elementsOf(checks).length + elementsOf(required).length === 0) {
    breaks(found, 'R-PC-001', 'acceptance_check', 'nothing was asked for and nothing was checked');
  }
}

function checkMet(found: OperatorFindings, checks: readonly JsonObject[], required: readonly string[]): void {
  const { missing } = unmetClaims(required, checks);
  const [first] = missing;
  if (first !== undefined) {
    const message = `says nothing about ${inQuotes(first)}`;
    breaks(found, 'R-PC-001', 'acceptance_check', message, { missing: missing.slice(0, LISTED_MAX) });
  }
  for (const [index, { status, evidence }] of checks.entries()) {
    const path = `acceptance_check[${index}]`;
    if (status !== 'pass') breaks(found, 'R-PC-002', `${path}.status`, 'is not pass', { index });
    else if (!isText(evidence)) breaks(found, 'R-PC-003', `${path}.evidence`, 'is blank', { index });
  }
}

function isChange(item: Json): boolean {
  return isObject(item) && isText(item.resource) && isText(item.action);
}

function isCheck(item: Json): boolean {
  return isObject(item) && isText(item.criterion) && isString(item.status) && isString(item.evidence);
}

function isListOf(value: Json | undefined, accepts: (item: Json) => boolean): boolean {
  return Array.isArray(value) && value.every(accepts);
}

/** The rules a gate answers with. Each refusal says under which contract code it is stored. */
function breaks(
  found: OperatorFindings,
  rule: OperatorRule,
  path: string,
  message: string,
  details: JsonObject = {},
): void {
  found.add(rule, path, message, { contract_code: CODE_OF_RULE[rule], ...details });
}
