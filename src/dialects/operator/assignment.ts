// The assignment packet: what an orchestrator gives a subagent to do, on which paths, and how it is told when it is done.
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { refusalOfTaskFiles } from '../../kernel/ledger/scope.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import {
  ASSIGNMENT,
  CONTEXT_ITEM,
  CONTEXT_KINDS,
  HEARTBEAT_SECONDS_MIN,
  LOCK,
  OBJECTIVE_CHARS_MAX,
  type Options,
  OUTPUT_SCHEMA,
  PACKET_TYPE,
  PRIORITIES,
  TASK,
  TASK_TYPES,
  TIMEOUT_SECONDS_MIN,
  TITLE_CHARS_MAX,
  WORKLOG_PATH_CHARS_MAX,
} from './contract.ts';
import {
  checkExtensions,
  checkHead,
  checkInteger,
  checkObjects,
  checkOneOf,
  checkPresence,
  checkResource,
  checkTaskId,
  checkText,
  checkVersion,
  Findings,
  listOf,
  normalPaths,
  payloadOf,
  quoted,
} from './findings.ts';
import { checkLock, overlapsBetween, overlapsIn, overlapWith } from './locks.ts';
import { checkForeignText, warnOfSecret } from './untrusted.ts';

export function validateAssignment(input: unknown, options: Options = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const packet = given.payload;
  const task = isObject(packet.task) ? packet.task : {};
  const found = new Findings(options);
  const refusal = found.through([
    () => checkPresence(found, packet, ASSIGNMENT),
    () => checkVersion(found, packet.schema_version),
    () => checkTop(found, packet),
    () => checkPresence(found, task, TASK, 'task'),
    () => {
      checkTask(found, task);
      checkContext(found, packet.context_package);
      if (!Array.isArray(packet.active_locks)) found.add('SCHEMA_INVALID', 'active_locks', 'must be an array of locks');
      checkExtensions(found, packet, ASSIGNMENT, '');
      checkExtensions(found, task, TASK, 'task');
    },
    () => {
      checkCheckers(found, packet.x_checkers, 'x_checkers', task, options);
      checkCheckers(found, task.x_checkers, 'task.x_checkers', task, options);
    },
    () => checkUntrusted(found, packet, task),
    () => checkScopes(found, task),
    () => checkForbidden(found, task),
    () => checkOwnOverlap(found, task),
    () => checkActiveLocks(found, packet.active_locks, task),
  ]);
  return refusal ?? found.allowed('the assignment keeps its contract');
}

function checkTop(found: Findings, packet: JsonObject): void {
  checkHead(found, packet);
  if (packet.packet_type !== PACKET_TYPE) found.add('SCHEMA_INVALID', 'packet_type', `must be "${PACKET_TYPE}"`);
  const required = { blank: 'MISSING_REQUIRED_INPUT', mistyped: 'MISSING_REQUIRED_INPUT' } as const;
  checkText(found, packet.global_objective, 'global_objective', { ...required, max: OBJECTIVE_CHARS_MAX });
  if (packet.required_output_schema !== OUTPUT_SCHEMA) {
    found.add('SCHEMA_INVALID', 'required_output_schema', `must be "${OUTPUT_SCHEMA}"`);
  }
  if (!isObject(packet.task)) found.add('SCHEMA_INVALID', 'task', 'must be an object');
}

function checkTask(found: Findings, task: JsonObject): void {
  checkTaskId(found, task.task_id, 'task.task_id');
  checkText(found, task.title, 'task.title', { max: TITLE_CHARS_MAX, blank: 'MISSING_REQUIRED_INPUT' });
  checkOneOf(found, task.type, 'task.type', TASK_TYPES);
  if (task.priority !== undefined) checkOneOf(found, task.priority, 'task.priority', PRIORITIES);
  checkDependencies(found, task);
  checkScopeShape(found, task.lock_scope, 'task.lock_scope', 1);
  checkScopeShape(found, task.forbidden_scope, 'task.forbidden_scope', 0);
  checkCriteria(found, task.acceptance_criteria);
  checkWorklogPath(found, task.worklog_path, 'task.worklog_path');
  warnOfFiles(found, task);
  checkTimes(found, task, 'task');
}

function checkDependencies(found: Findings, { dependencies, task_id }: JsonObject): void {
  const path = 'task.dependencies';
  if (!Array.isArray(dependencies)) return found.add('SCHEMA_INVALID', path, 'must be an array of task ids');
  for (const [index, id] of dependencies.entries()) checkTaskId(found, id, `${path}[${index}]`, { index });
  if (dependencies.includes(task_id)) found.warn(`${path} names the task itself, which can then never start`);
  if (new Set(dependencies).size < dependencies.length) found.warn(`${path} names a task twice`);
}

function checkScopeShape(found: Findings, scope: Json | undefined, path: string, min: number): void {
  if (!Array.isArray(scope) || scope.length < min) {
    const code = min > 0 ? 'MISSING_REQUIRED_INPUT' : 'SCHEMA_INVALID';
    return found.add(code, path, `must be an array of paths${min > 0 ? ' with at least one entry' : ''}`);
  }
  for (const [index, item] of scope.entries()) {
    if (!isString(item)) found.add('SCHEMA_INVALID', `${path}[${index}]`, 'must be a string', { index });
  }
}

function checkCriteria(found: Findings, criteria: Json | undefined): void {
  const path = 'task.acceptance_criteria';
  if (!Array.isArray(criteria) || criteria.length === 0) {
    return found.add('MISSING_REQUIRED_INPUT', path, 'must be an array with at least one criterion');
  }
  for (const [index, item] of criteria.entries()) {
    if (!isText(item))
      found.add('MISSING_REQUIRED_INPUT', `${path}[${index}]`, 'must be a string that is not blank', { index });
  }
}

export function checkWorklogPath(found: Findings, value: Json | undefined, path: string): void {
  const required = { blank: 'MISSING_REQUIRED_INPUT', mistyped: 'MISSING_REQUIRED_INPUT' } as const;
  checkText(found, value, path, { ...required, max: WORKLOG_PATH_CHARS_MAX });
  if (isText(value)) checkResource(found, value, path);
}

/** The contract takes any path. The ledger is more careful with files that are written outside of the task's paths. */
function warnOfFiles(found: Findings, task: JsonObject): void {
  const { worklog_path: worklog, report_path: report } = task;
  const refusal = refusalOfTaskFiles(String(task.task_id), {
    worklogPath: isText(worklog) ? worklog : '',
    reportPath: isText(report) ? report : null,
    lockScope: normalPaths(task.lock_scope),
  });
  if (refusal) found.warn(`the ledger does not take this task: ${refusal.reason}`);
}

/** The time limit of a task, and a heartbeat that comes at least once before it is over. */
export function checkTimes(found: Findings, row: JsonObject, path: string): void {
  const { timeout_seconds: timeout, heartbeat_interval_seconds: heartbeat } = row;
  checkInteger(found, timeout, `${path}.timeout_seconds`, TIMEOUT_SECONDS_MIN);
  checkInteger(found, heartbeat, `${path}.heartbeat_interval_seconds`, HEARTBEAT_SECONDS_MIN);
  if (typeof timeout === 'number' && typeof heartbeat === 'number' && heartbeat >= timeout) {
    found.add('SCHEMA_INVALID', `${path}.heartbeat_interval_seconds`, 'must be smaller than timeout_seconds');
  }
}

function checkContext(found: Findings, context: Json | undefined): void {
  checkObjects(found, context, 'context_package', CONTEXT_ITEM, (item, path, index) => {
    checkOneOf(found, item.kind, `${path}.kind`, CONTEXT_KINDS, { index });
    checkText(found, item.value, `${path}.value`, {}, { index });
  });
}

/** A packet may ask for a checker of a criterion, by the name under which a person declared it and in no other way. */
function checkCheckers(
  found: Findings,
  wanted: Json | undefined,
  path: string,
  task: JsonObject,
  options: Options,
): void {
  if (wanted === undefined) return;
  if (!isObject(wanted)) return found.add('SCHEMA_INVALID', path, 'must be an object of criterion and checker name');
  const criteria = new Set(listOf(task.acceptance_criteria));
  const { checkers: known } = options;
  for (const [criterion, name] of Object.entries(wanted)) {
    const place = `${path}[${quoted(criterion)}]`;
    if (!criteria.has(criterion)) found.add('SCHEMA_INVALID', place, 'names no criterion of this task');
    else if (!isText(name)) found.add('SCHEMA_INVALID', place, 'must be the name of a checker');
    else if (known && !known.includes(name)) {
      found.add('MISSING_VALIDATOR', place, 'names no declared checker; declare it in config.json', { known });
    }
  }
}

function checkUntrusted(found: Findings, packet: JsonObject, task: JsonObject): void {
  for (const [index, text] of listOf(task.acceptance_criteria).entries()) {
    checkForeignText(found, text, `task.acceptance_criteria[${index}]`, { index });
  }
  for (const [index, item] of listOf(packet.context_package).entries()) {
    const value = isObject(item) ? item.value : undefined;
    checkForeignText(found, value, `context_package[${index}].value`, { index });
    warnOfSecret(found, value, `context_package[${index}].value`);
  }
}

function checkScopes(found: Findings, task: JsonObject): void {
  for (const name of ['lock_scope', 'forbidden_scope']) {
    for (const [index, item] of listOf(task[name]).entries()) {
      checkResource(found, item, `task.${name}[${index}]`, { index });
    }
  }
}

/** What is forbidden lies apart from what is claimed, in both directions. */
function checkForbidden(found: Findings, task: JsonObject): void {
  for (const overlap of overlapsBetween(task.lock_scope, task.forbidden_scope)) {
    const { forbidden_resource, resource } = overlap;
    const message = `${quoted(forbidden_resource)} overlaps ${quoted(resource)} of lock_scope; no path can be both`;
    found.add('SCOPE_VIOLATION', 'task.forbidden_scope', message, overlap);
  }
}

/** No claim lies inside another one of the same task. */
function checkOwnOverlap(found: Findings, task: JsonObject): void {
  for (const { resource, conflict_resource, index } of overlapsIn(task.lock_scope)) {
    const message = `${quoted(resource)} and ${quoted(conflict_resource)} overlap; name each path once, and none below it`;
    const ids = { task_id: task.task_id ?? null, conflict_task_id: task.task_id ?? null };
    found.add('LOCK_CONFLICT', `task.lock_scope[${index}]`, message, { ...ids, resource, conflict_resource });
  }
}

/** One record after the other, so that a conflict is reported before a malformed record that comes later. */
function checkActiveLocks(found: Findings, locks: Json | undefined, task: JsonObject): void {
  const overlapOf = overlapWith(task.lock_scope);
  for (const [index, lock] of listOf(locks).entries()) {
    const path = `active_locks[${index}]`;
    if (!isObject(lock)) {
      found.add('SCHEMA_INVALID', path, 'must be an object', { index });
      continue;
    }
    const before = found.count;
    checkLock(found, lock, path, { index });
    checkExtensions(found, lock, LOCK, path);
    if (found.count > before || lock.active !== true || lock.task_id === task.task_id) continue;
    const [held] = normalPaths([lock.resource ?? null]);
    const resource = held === undefined ? undefined : overlapOf(held);
    if (held === undefined || resource === undefined) continue;
    const message = `${String(lock.task_id)} holds ${quoted(held)}, which overlaps ${quoted(resource)}`;
    const holder = { conflict_task_id: lock.task_id ?? null, conflict_resource: held };
    found.add('LOCK_CONFLICT', path, message, { task_id: task.task_id ?? null, resource, ...holder });
  }
}
