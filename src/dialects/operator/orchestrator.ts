// What an orchestrator hands on: the envelope with changes of the ledger, assignments and blockers, and the bundle from which a
// new session continues.
import { OPERATOR_CODES } from '../../kernel/codes/operator.ts';
import { isObject, isSameJson, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { TASK_STATUSES, type TaskStatus } from '../../kernel/ledger/state.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { checkTimes, validateAssignment } from './assignment.ts';
import {
  BLOCKER,
  BUNDLE,
  BUNDLE_ROW,
  DELTA,
  DEPENDENCY,
  ENVELOPE,
  type Options,
  PRIORITIES,
  requiredIn,
  TARGET,
  TITLE_CHARS_MAX,
} from './contract.ts';
import {
  checkExtensions,
  checkHead,
  checkInteger,
  checkObjects,
  checkOneOf,
  checkPresence,
  checkResource,
  checkString,
  checkStrings,
  checkTaskId,
  checkText,
  checkUtcTimestamp,
  checkVersion,
  Findings,
  listOf,
  objectsOf,
  payloadOf,
} from './findings.ts';
import { checkConflicts, checkLockRecords } from './locks.ts';

export type WorkItem = { readonly title: string; readonly context: string };

export function validateOrchestrator(input: unknown, options: Options = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const envelope = given.payload;
  const found = new Findings(options);
  const refusal = found.through([
    () => checkPresence(found, envelope, ENVELOPE),
    () => checkVersion(found, envelope.schema_version),
    () => {
      checkHead(found, envelope);
      checkDeltas(found, envelope.ledger_delta, 'ledger_delta');
      if (!Array.isArray(envelope.assignments)) {
        found.add('SCHEMA_INVALID', 'assignments', 'must be an array of assignment packets');
      }
      checkLockRecords(found, envelope.active_locks, 'active_locks');
      checkBlockers(found, envelope.blockers, 'blockers', OPERATOR_CODES);
      checkStrings(found, envelope.next_actions, 'next_actions');
      checkExtensions(found, envelope, ENVELOPE, '');
    },
    () => checkAssignments(found, envelope, options),
    () => checkDeltaIds(found, envelope.ledger_delta),
    () => checkBlockedAreListed(found, envelope),
    () => checkConflicts(found, envelope.active_locks, 'active_locks'),
  ]);
  const counts = {
    assignment_count: listOf(envelope.assignments).length,
    delta_count: listOf(envelope.ledger_delta).length,
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
function checkAssignments(found: Findings, envelope: JsonObject, options: Options): void {
  const assigned = new Set<Json>();
  for (const [index, packet] of listOf(envelope.assignments).entries()) {
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
function checkDeltaIds(found: Findings, value: Json | undefined): void {
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
function checkBlockedAreListed(found: Findings, { ledger_delta, blockers }: JsonObject): void {
  const last = new Map(deltasOf(ledger_delta).map((delta) => [delta.task_id, delta.status]));
  const listed = new Set(objectsOf(blockers).map((blocker) => blocker.task_id));
  const missing = [...last].filter(([id, status]) => status === 'blocked' && !listed.has(id)).map(([id]) => id);
  if (missing.length === 0) return;
  const message = `must say why ${missing.slice(0, 5).join(', ')} ${missing.length === 1 ? 'is' : 'are'} blocked`;
  found.add('MISSING_REQUIRED_INPUT', 'blockers', message, { missing });
}

// Why a task stands still, as an entry of an envelope or a bundle.
/** Checks a list of blockers; `codes` is the table from which their codes are taken. */
export function checkBlockers(found: Findings, value: Json | undefined, path: string, codes: object): void {
  const check = (blocker: { readonly [key: string]: Json }, place: string, index: number) => {
    checkTaskId(found, blocker.task_id, `${place}.task_id`, { index });
    if (!isString(blocker.code) || !Object.hasOwn(codes, blocker.code)) {
      found.add('SCHEMA_INVALID', `${place}.code`, 'must be one of the known codes, such as LOCK_CONFLICT', { index });
    }
    checkText(found, blocker.reason, `${place}.reason`, {}, { index });
    if (blocker.details !== undefined && !isObject(blocker.details)) {
      found.add('SCHEMA_INVALID', `${place}.details`, 'must be an object', { index });
    }
  };
  checkObjects(found, value, path, BLOCKER, check, 'MISSING_REQUIRED_INPUT');
}

// The record of one change to one row of the ledger, as an orchestrator emits it.
/** A record whose shape was checked. */
export type Delta = JsonObject & {
  readonly task_id: string;
  readonly status: TaskStatus;
  readonly owner: string;
  readonly reason: string;
  readonly delta_id: string;
};

export function checkDeltas(found: Findings, value: Json | undefined, path: string): void {
  const check = (delta: JsonObject, place: string, index: number) => checkDelta(found, delta, place, index);
  checkObjects(found, value, path, DELTA, check, 'MISSING_REQUIRED_INPUT');
}

/** The records of a list that was checked. */
export function deltasOf(value: Json | undefined): readonly Delta[] {
  return objectsOf(value) as readonly Delta[];
}

function checkDelta(found: Findings, delta: JsonObject, path: string, index: number): void {
  checkTaskId(found, delta.task_id, `${path}.task_id`, { index });
  checkOneOf(found, delta.status, `${path}.status`, TASK_STATUSES, { index });
  checkString(found, delta.owner, `${path}.owner`, { index });
  checkString(found, delta.reason, `${path}.reason`, { index });
  checkText(found, delta.delta_id, `${path}.delta_id`, {}, { index });
  if (delta.last_heartbeat_at !== undefined) {
    checkUtcTimestamp(found, delta.last_heartbeat_at, `${path}.last_heartbeat_at`, { index });
  }
  if (delta.timed_out !== undefined && typeof delta.timed_out !== 'boolean') {
    found.add('SCHEMA_INVALID', `${path}.timed_out`, 'must be true or false', { index });
  }
  if (delta.retry_after_ms !== undefined) checkInteger(found, delta.retry_after_ms, `${path}.retry_after_ms`, 0);
  if (delta.timed_out === true && delta.status !== 'blocked') {
    found.warn(`${path}: a task that timed out should be blocked`);
  }
}

// The handoff bundle: everything a new session needs to go on with a run, without the conversation that came before.
export function validateBundle(input: unknown, options: Options = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const bundle = given.payload;
  const found = new Findings(options);
  const refusal = found.through([
    () => checkPresence(found, bundle, BUNDLE),
    () => checkVersion(found, bundle.schema_version),
    () => {
      checkHead(found, bundle);
      checkText(found, bundle.objective, 'objective', { blank: 'MISSING_REQUIRED_INPUT' });
      checkConstraints(found, bundle.constraints);
      checkLedger(found, bundle.ledger);
      checkLockRecords(found, bundle.active_locks, 'active_locks');
      checkDependencies(found, bundle.dependencies);
      checkBlockers(found, bundle.open_blockers, 'open_blockers', OPERATOR_CODES);
      checkTargets(found, bundle.acceptance_targets);
      checkExtensions(found, bundle, BUNDLE, '');
    },
    () => checkUnique(found, bundle.ledger),
    () => checkConflicts(found, bundle.active_locks, 'active_locks'),
  ]);
  if (refusal) return refusal;
  warnOfStrangers(found, bundle);
  return found.allowed('the bundle keeps its contract', { task_count: objectsOf(bundle.ledger).length });
}

/** An object of limits by name, or a list of sentences. */
function checkConstraints(found: Findings, value: Json | undefined): void {
  if (isObject(value) || (Array.isArray(value) && value.every(isString))) return;
  found.add('SCHEMA_INVALID', 'constraints', 'must be an object, or an array of strings');
}

function checkLedger(found: Findings, ledger: Json | undefined): void {
  const check = (row: JsonObject, path: string, index: number) => {
    checkTaskId(found, row.task_id, `${path}.task_id`, { index });
    checkText(found, row.title, `${path}.title`, { max: TITLE_CHARS_MAX }, { index });
    checkOneOf(found, row.status, `${path}.status`, TASK_STATUSES, { index });
    checkString(found, row.owner, `${path}.owner`, { index });
    if (!Array.isArray(row.lock_scope)) {
      found.add('SCHEMA_INVALID', `${path}.lock_scope`, 'must be an array of paths', { index });
    }
    for (const [place, item] of listOf(row.lock_scope).entries()) {
      checkResource(found, item, `${path}.lock_scope[${place}]`, { index });
    }
    checkTimes(found, row, path);
    checkOneOf(found, row.priority, `${path}.priority`, PRIORITIES, { index });
    // Null is a task that has not started.
    if (row.last_heartbeat_at !== undefined && row.last_heartbeat_at !== null) {
      checkUtcTimestamp(found, row.last_heartbeat_at, `${path}.last_heartbeat_at`, { index });
    }
  };
  checkObjects(found, ledger, 'ledger', BUNDLE_ROW, check, 'MISSING_REQUIRED_INPUT');
}

function checkDependencies(found: Findings, dependencies: Json | undefined): void {
  const check = (edge: JsonObject, path: string, index: number) => {
    for (const name of requiredIn(DEPENDENCY)) checkTaskId(found, edge[name], `${path}.${name}`, { index });
  };
  checkObjects(found, dependencies, 'dependencies', DEPENDENCY, check, 'MISSING_REQUIRED_INPUT');
}

function checkTargets(found: Findings, targets: Json | undefined): void {
  const check = (target: JsonObject, path: string, index: number) => {
    checkTaskId(found, target.task_id, `${path}.task_id`, { index });
    if (Array.isArray(target.criteria) && target.criteria.every(isText)) return;
    found.add('SCHEMA_INVALID', `${path}.criteria`, 'must be an array of strings that are not blank', { index });
  };
  checkObjects(found, targets, 'acceptance_targets', TARGET, check, 'MISSING_REQUIRED_INPUT');
}

function checkUnique(found: Findings, ledger: Json | undefined): void {
  const seen = new Set<Json | undefined>();
  for (const [index, { task_id }] of objectsOf(ledger).entries()) {
    if (seen.has(task_id)) {
      found.add('LEDGER_INCONSISTENT', `ledger[${index}].task_id`, 'stands in the ledger twice', {
        index,
        task_id: task_id ?? null,
      });
    }
    seen.add(task_id);
  }
}

/** A bundle may name tasks that it does not carry; reconciliation decides about them, but it should not be a surprise. */
function warnOfStrangers(found: Findings, bundle: JsonObject): void {
  const rows = new Set(objectsOf(bundle.ledger).map((row) => row.task_id));
  for (const name of ['active_locks', 'dependencies', 'open_blockers', 'acceptance_targets']) {
    for (const [index, entry] of objectsOf(bundle[name]).entries()) {
      const ids = [entry.task_id, entry.depends_on_task_id].filter((id) => id !== undefined);
      if (ids.some((id) => !rows.has(id))) found.warn(`${name}[${index}] names a task that is not in the ledger`);
    }
  }
}
