// The handoff bundle: everything a new session needs to go on with a run, without the conversation that came before.
import { OPERATOR_CODES } from '../../kernel/codes/operator.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { TASK_STATUSES } from '../../kernel/ledger/state.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { checkTimes } from './assignment.ts';
import {
  BUNDLE,
  BUNDLE_ROW,
  DEPENDENCY,
  type Options,
  PRIORITIES,
  requiredIn,
  TARGET,
  TITLE_CHARS_MAX,
} from './contract.ts';
import {
  checkExtensions,
  checkHead,
  checkObjects,
  checkOneOf,
  checkPresence,
  checkResource,
  checkString,
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
import { checkBlockers } from './orchestrator.ts';

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
