// What an orchestrator writes: the packet that gives a subagent its task, the envelope with ledger changes, assignments and
// blockers, and the bundle from which a new session continues.
import type { Mismatch } from '../../kernel/fields.ts';
import { isObject, isSameJson, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { refusalOfTaskFiles } from '../../kernel/ledger/scope.ts';
import type { TaskStatus } from '../../kernel/ledger/state.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { ASSIGNMENT, BUNDLE, DELTAS_LIST, ENVELOPE, LOCK, type OperatorOptions, TASK } from './contract.ts';
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
  objectsOf,
  payloadOf,
  warnOfRunId,
} from './findings.ts';
import { checkConflicts, overlapsBetween, overlapsIn, overlapWith } from './locks.ts';
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

/** No forbidden path overlaps a claimed one, in either direction. */
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

type WorkItem = { readonly title: string; readonly context: string };

export function validateOrchestrator(input: unknown, options: OperatorOptions = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const envelope = given.payload;
  const found = new OperatorFindings(options);
  const refusal = found.through([
    () => checkPresence(found, envelope, ENVELOPE),
    () => checkMembers(found, envelope, ENVELOPE, ['schema_version']),
    () => {
      checkMembers(found, envelope, ENVELOPE, HEAD);
      checkDeltas(found, envelope.ledger_delta, 'ledger_delta');
      checkMembers(found, envelope, ENVELOPE, ['assignments'], { only: ({ path }) => path.length === 0 });
      checkMembers(found, envelope, ENVELOPE, ['active_locks', 'blockers', 'next_actions']);
      warnOfRunId(found, envelope);
      checkExtensions(found, envelope, ENVELOPE, '');
    },
    () => checkAssignments(found, envelope, options),
    () => checkDeltaIds(found, envelope.ledger_delta),
    () => checkBlockedAreListed(found, envelope),
    () => checkConflicts(found, envelope.active_locks, 'active_locks'),
  ]);
  const counts = {
    assignment_count: elementsOf(envelope.assignments).length,
    delta_count: elementsOf(envelope.ledger_delta).length,
  };
  return refusal ?? found.allowed('the envelope keeps its contract', counts);
}

/** The work items of a valid envelope: each assignment is one, and its packet is all the context it needs. */
export function workItemsOf(envelope: JsonObject): readonly WorkItem[] {
  return objectsOf(envelope.assignments).map((packet) => {
    const task = isObject(packet.task) ? packet.task : {};
    const title = [task.title, task.task_id].find(isString) ?? 'Untitled task';
    return { title, context: `[ASSIGNMENT PACKET]\n${JSON.stringify(packet, null, 2)}` };
  });
}

/** Each assignment is a whole packet of this run, for a task that is assigned once. */
function checkAssignments(found: OperatorFindings, envelope: JsonObject, options: OperatorOptions): void {
  const assigned = new Set<Json>();
  for (const [index, packet] of elementsOf(envelope.assignments).entries()) {
    const path = `assignments[${index}]`;
    const before = found.count;
    found.adopt(validateAssignment(packet, options), path);
    if (found.count > before || !isObject(packet) || !isObject(packet.task)) continue;
    const id = packet.task.task_id ?? null;
    if (packet.run_id !== envelope.run_id) {
      found.add('SCHEMA_INVALID', `${path}.run_id`, 'must be the run_id of the envelope', { index });
    }
    if (assigned.has(id)) found.add('SCHEMA_INVALID', `${path}.task.task_id`, 'is assigned twice', { index });
    assigned.add(id);
  }
}

/** The same delta twice is harmless; one id on two different deltas is not. */
function checkDeltaIds(found: OperatorFindings, value: Json | undefined): void {
  const seen = new Map<string, Delta>();
  for (const [index, delta] of deltasOf(value).entries()) {
    const { delta_id, task_id } = delta;
    const earlier = seen.get(delta_id);
    if (!earlier) seen.set(delta_id, delta);
    else if (isSameJson(earlier, delta)) found.warn(`ledger_delta[${index}] repeats a delta and is ignored`);
    else {
      const message = 'has the delta_id of another delta; each id belongs to one delta of the run';
      found.add('CONCURRENCY_CONFLICT', `ledger_delta[${index}]`, message, { index, delta_id, task_id });
    }
  }
}

/** A task that ends up blocked is named among the blockers, with its code. */
function checkBlockedAreListed(found: OperatorFindings, { ledger_delta, blockers }: JsonObject): void {
  const last = new Map(deltasOf(ledger_delta).map((delta) => [delta.task_id, delta.status]));
  const listed = new Set(objectsOf(blockers).map((blocker) => blocker.task_id));
  const missing = [...last].filter(([id, status]) => status === 'blocked' && !listed.has(id)).map(([id]) => id);
  if (missing.length === 0) return;
  const message = `must say why ${missing.slice(0, 5).join(', ')} ${missing.length === 1 ? 'is' : 'are'} blocked`;
  found.add('MISSING_REQUIRED_INPUT', 'blockers', message, { missing });
}

/** A record whose shape was checked. */
export type Delta = JsonObject & {
  readonly task_id: string;
  readonly status: TaskStatus;
  readonly owner: string;
  readonly reason: string;
  readonly delta_id: string;
};

export function checkDeltas(found: OperatorFindings, deltas: Json | undefined, path: string): void {
  for (const [index, { timed_out, status }] of objectsOf(deltas).entries()) {
    if (timed_out !== true || status === 'blocked') continue;
    found.warn(`${path}[${index}]: a task that timed out should be blocked`);
  }
  checkValue(found, deltas, DELTAS_LIST, path);
}

/** The records of a list that was checked. */
export function deltasOf(value: Json | undefined): readonly Delta[] {
  return objectsOf(value) as readonly Delta[];
}

/** The handoff bundle: everything a new session needs to go on with a run, without the conversation that came before. */
export function validateBundle(input: unknown, options: OperatorOptions = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const bundle = given.payload;
  const found = new OperatorFindings(options);
  const refusal = found.through([
    () => checkPresence(found, bundle, BUNDLE),
    () => checkMembers(found, bundle, BUNDLE, ['schema_version']),
    () => {
      checkMembers(found, bundle, BUNDLE, Object.keys(BUNDLE.fields));
      warnOfRunId(found, bundle);
      checkExtensions(found, bundle, BUNDLE, '');
    },
    () => checkUnique(found, bundle.ledger),
    () => checkConflicts(found, bundle.active_locks, 'active_locks'),
  ]);
  if (refusal) return refusal;
  warnOfStrangers(found, bundle);
  return found.allowed('the bundle keeps its contract', { task_count: objectsOf(bundle.ledger).length });
}

function checkUnique(found: OperatorFindings, ledger: Json | undefined): void {
  const seen = new Set<Json | undefined>();
  for (const [index, { task_id }] of objectsOf(ledger).entries()) {
    if (seen.has(task_id)) {
      found.add('LEDGER_INCONSISTENT', `ledger[${index}].task_id`, 'is in the ledger twice', {
        index,
        task_id: task_id ?? null,
      });
    }
    seen.add(task_id);
  }
}

/** A bundle may name tasks that it does not carry; reconciliation decides about them, but it should not be a surprise. */
function warnOfStrangers(found: OperatorFindings, bundle: JsonObject): void {
  const rows = new Set(objectsOf(bundle.ledger).map((row) => row.task_id));
  for (const name of ['active_locks', 'dependencies', 'open_blockers', 'acceptance_targets']) {
    for (const [index, entry] of objectsOf(bundle[name]).entries()) {
      const ids = [entry.task_id, entry.depends_on_task_id].filter((id) => id !== undefined);
      if (ids.some((id) => !rows.has(id))) found.warn(`${name}[${index}] names a task that is not in the ledger`);
    }
  }
}
