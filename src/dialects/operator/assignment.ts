// The assignment packet: what an orchestrator gives a subagent to do, on which paths, and how it is told when it is done.
import type { Mismatch } from '../../kernel/fields.ts';
import { isObject, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { refusalOfTaskFiles } from '../../kernel/ledger/scope.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { ASSIGNMENT, LOCK, type OperatorOptions, TASK } from './contract.ts';
import {
  checkExtensions,
  checkMembers,
  checkPresence,
  checkValue,
  elementsOf,
  HEAD,
  inQuotes,
  normalPaths,
  OperatorFindings,
  payloadOf,
  warnOfRunId,
} from './findings.ts';
import { overlapsBetween, overlapsIn, overlapWith } from './locks.ts';
import { checkForeignText, warnOfSecret } from './untrusted.ts';

export function validateAssignment(input: unknown, options: OperatorOptions = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const packet = given.payload;
  const task = isObject(packet.task) ? packet.task : {};
  const found = new OperatorFindings(options);
  const refusal = found.through([
    () => checkPresence(found, packet, ASSIGNMENT),
    () => checkMembers(found, packet, ASSIGNMENT, ['schema_version']),
    () => {
      checkMembers(found, packet, ASSIGNMENT, [...HEAD, 'packet_type', 'global_objective', 'required_output_schema']);
      warnOfRunId(found, packet);
      if (!isObject(packet.task)) found.add('SCHEMA_INVALID', 'task', 'must be an object');
    },
    () => checkPresence(found, task, TASK, 'task'),
    () => {
      checkValue(found, task, TASK, 'task', { only: isShape });
      warnOfDependencies(found, task);
      warnOfFiles(found, task);
      checkMembers(found, packet, ASSIGNMENT, ['context_package']);
      checkMembers(found, packet, ASSIGNMENT, ['active_locks'], { only: ({ path }) => path.length === 0 });
      checkExtensions(found, packet, ASSIGNMENT, '');
      checkExtensions(found, task, TASK, 'task');
    },
    () => {
      checkCheckers(found, packet.x_checkers, 'x_checkers', task, options);
      checkCheckers(found, task.x_checkers, 'task.x_checkers', task, options);
    },
    () => checkUntrusted(found, packet, task),
    () => checkMembers(found, task, TASK, SCOPES, { at: 'task' }),
    () => checkForbidden(found, task),
    () => checkOwnOverlap(found, task),
    () => checkActiveLocks(found, packet.active_locks, task),
  ]);
  return refusal ?? found.allowed('the assignment keeps its contract');
}

const SCOPES = ['lock_scope', 'forbidden_scope'];

/** Unknown fields, checkers and the paths of scopes have a stage of their own. */
function isShape({ rule, path: [name = '', index] }: Mismatch): boolean {
  if (rule === 'unknown' || name === 'x_checkers') return false;
  return rule === 'type' || index === undefined || !SCOPES.includes(String(name));
}

function warnOfDependencies(found: OperatorFindings, { dependencies, task_id }: JsonObject): void {
  const ids = elementsOf(dependencies);
  if (task_id !== undefined && ids.includes(task_id))
    found.warn('task.dependencies names the task itself, which can then never start');
  if (new Set(ids).size < ids.length) found.warn('task.dependencies names a task twice');
}

/** The contract takes any path. The ledger is more careful with files that are written outside of the task's paths. */
function warnOfFiles(found: OperatorFindings, task: JsonObject): void {
  const { worklog_path: worklog, report_path: report } = task;
  const refusal = refusalOfTaskFiles(String(task.task_id), {
    worklogPath: isText(worklog) ? worklog : '',
    reportPath: isText(report) ? report : null,
    lockScope: normalPaths(task.lock_scope),
  });
  if (refusal) found.warn(`the ledger does not take this task: ${refusal.reason}`);
}

/** A packet may ask for a checker of a criterion, by the name under which a person declared it and in no other way. */
function checkCheckers(
  found: OperatorFindings,
  wanted: Json | undefined,
  path: string,
  task: JsonObject,
  options: OperatorOptions,
): void {
  if (wanted === undefined) return;
  if (!isObject(wanted)) return found.add('SCHEMA_INVALID', path, 'must be an object of criterion and checker name');
  const criteria = new Set(elementsOf(task.acceptance_criteria));
  const { checkers: known } = options;
  for (const [criterion, name] of Object.entries(wanted)) {
    const place = `${path}[${inQuotes(criterion)}]`;
    if (!criteria.has(criterion)) found.add('SCHEMA_INVALID', place, 'names no criterion of this task');
    else if (!isText(name)) found.add('SCHEMA_INVALID', place, 'must be the name of a checker');
    else if (known && !known.includes(name)) {
      found.add('MISSING_VALIDATOR', place, 'names no declared checker; declare it in config.json', { known });
    }
  }
}

function checkUntrusted(found: OperatorFindings, packet: JsonObject, task: JsonObject): void {
  for (const [index, text] of elementsOf(task.acceptance_criteria).entries()) {
    checkForeignText(found, text, `task.acceptance_criteria[${index}]`, { index });
  }
  for (const [index, item] of elementsOf(packet.context_package).entries()) {
    const value = isObject(item) ? item.value : undefined;
    checkForeignText(found, value, `context_package[${index}].value`, { index });
    warnOfSecret(found, value, `context_package[${index}].value`);
  }
}

/** What is forbidden lies apart from what is claimed, in both directions. */
function checkForbidden(found: OperatorFindings, task: JsonObject): void {
  for (const overlap of overlapsBetween(task.lock_scope, task.forbidden_scope)) {
    const { forbidden_resource, resource } = overlap;
    const message = `${inQuotes(forbidden_resource)} overlaps ${inQuotes(resource)} of lock_scope; no path can be both`;
    found.add('SCOPE_VIOLATION', 'task.forbidden_scope', message, overlap);
  }
}

/** No claim lies inside another one of the same task. */
function checkOwnOverlap(found: OperatorFindings, task: JsonObject): void {
  for (const { resource, conflict_resource, index } of overlapsIn(task.lock_scope)) {
    const message = `${inQuotes(resource)} and ${inQuotes(conflict_resource)} overlap; name each path once, and none below it`;
    const ids = { task_id: task.task_id ?? null, conflict_task_id: task.task_id ?? null };
    found.add('LOCK_CONFLICT', `task.lock_scope[${index}]`, message, { ...ids, resource, conflict_resource });
  }
}

/** One record after the other, so that a conflict is reported before a malformed record that comes later. */
function checkActiveLocks(found: OperatorFindings, locks: Json | undefined, task: JsonObject): void {
  const overlapOf = overlapWith(task.lock_scope);
  for (const [index, lock] of elementsOf(locks).entries()) {
    const path = `active_locks[${index}]`;
    if (!isObject(lock)) {
      found.add('SCHEMA_INVALID', path, 'must be an object', { index });
      continue;
    }
    const before = found.count;
    checkMembers(found, lock, LOCK, Object.keys(LOCK.fields), { at: path, details: { index } });
    checkExtensions(found, lock, LOCK, path);
    if (found.count > before || lock.active !== true || lock.task_id === task.task_id) continue;
    const [held] = normalPaths([lock.resource ?? null]);
    const resource = held === undefined ? undefined : overlapOf(held);
    if (held === undefined || resource === undefined) continue;
    const message = `${String(lock.task_id)} holds ${inQuotes(held)}, which overlaps ${inQuotes(resource)}`;
    const holder = { conflict_task_id: lock.task_id ?? null, conflict_resource: held };
    found.add('LOCK_CONFLICT', path, message, { task_id: task.task_id ?? null, resource, ...holder });
  }
}
