// The gates behind an execution: whether what came back has the promised shape and stayed inside its scope, and whether
// every criterion that was asked for is met on evidence.
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { coverOf, normalPath, PathIndex } from '../../kernel/ledger/path.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { NOTES_MAX, RESULT_STATUSES } from './contract.ts';
import { listOf, normalPaths, objectsOf } from './field.ts';
import { Findings, quoted } from './findings.ts';
import { breaks } from './gate-rule.ts';
import { payloadOf } from './head.ts';
import { isTaskId } from './identifiers.ts';
import { checkForeignText, checkNoSecret } from './untrusted.ts';

const LISTED_MAX = 20;
const RESULT_FIELDS = ['status', 'changes', 'acceptance_check', 'worklog_path', 'notes_for_orchestrator'];

/** What a gate can ask about the outside. */
export type Sight = {
  /** Whether a path of the workspace names an existing regular file; without it no file is asked for. */
  readonly isFile?: (path: string) => boolean;
};

/** Checks `{task_id, result, assignment: {lock_scope, forbidden_scope}}`. */
export function gatePostExecution(input: unknown, { isFile }: Sight = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const { task_id, result: told, assignment: asked } = given.payload;
  const [result, assignment] = [told, asked].map((part) => (isObject(part) ? part : {})) as [JsonObject, JsonObject];
  const found = new Findings();
  const refusal = found.through([
    () => checkNames(found, given.payload, result),
    () => checkShape(found, result, task_id ?? null),
    () => {
      const isEmpty = result.status === 'done' && listOf(result.acceptance_check).length === 0;
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
  const found = new Findings();
  const refusal = found.through([
    () => {
      const missing = ['task_id', 'acceptance_check', 'required_criteria'].filter(
        (name) => payload[name] === undefined,
      );
      if (missing.length > 0) breaks(found, 'R-PC-001', '$', `required: ${missing.join(', ')}`, { missing });
      else if (!isTaskId(payload.task_id)) breaks(found, 'R-PC-001', 'task_id', 'must be a task id');
    },
    () => checkCriteria(found, checks, required),
    () => checkMet(found, objectsOf(checks), listOf(required).filter(isString)),
  ]);
  return refusal ?? found.allowed('every criterion is met', { task_id: payload.task_id ?? null });
}

function checkNames(found: Findings, payload: JsonObject, result: JsonObject): void {
  const top = ['task_id', 'result', 'assignment'].filter((name) => payload[name] === undefined);
  const inner = isObject(payload.result) ? RESULT_FIELDS.filter((name) => result[name] === undefined) : [];
  const missing = [...top, ...inner.map((name) => `result.${name}`)];
  if (missing.length > 0) breaks(found, 'R-PO-001', '$', `required and missing: ${missing.join(', ')}`, { missing });
  for (const name of ['result', 'assignment']) {
    if (payload[name] !== undefined && !isObject(payload[name])) breaks(found, 'R-PO-001', name, 'must be an object');
  }
}

function checkShape(found: Findings, result: JsonObject, task: Json): void {
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
  if (!isListOf(notes, isText) || listOf(notes).length > NOTES_MAX) {
    wrong('result.notes_for_orchestrator', `must be an array of at most ${NOTES_MAX} strings, none of them blank`);
  }
}

function checkScopes(found: Findings, assignment: JsonObject): void {
  for (const name of ['lock_scope', 'forbidden_scope']) {
    const isPath = (item: Json) => isString(item) && normalPath(item).ok;
    if (!isListOf(assignment[name], isPath))
      breaks(found, 'R-PO-001', `assignment.${name}`, 'must be an array of paths');
  }
}

/** A change lies at or below a claimed path, and touches nothing forbidden from above or from below. */
function checkChanges(found: Findings, changes: Json | undefined, assignment: JsonObject): void {
  const isInside = coverOf(normalPaths(assignment.lock_scope));
  const forbidden = new PathIndex(normalPaths(assignment.forbidden_scope));
  for (const [index, change] of objectsOf(changes).entries()) {
    const [changed] = normalPaths([change.resource ?? null]);
    const path = `result.changes[${index}].resource`;
    if (changed === undefined || !isInside(changed)) {
      breaks(found, 'R-PO-002', path, 'lies outside the lock scope', { index, resource: change.resource ?? null });
    } else if (forbidden.firstOverlap(changed) !== null) {
      breaks(found, 'R-PW-002', path, 'touches the forbidden scope', { index, resource: changed });
    }
  }
}

/**
 * Whatever is given to a credential word, wherever in a word that stands and however plain the value is; not the marker that
 * is left where a secret was taken out.
 */
const GIVEN = /(?!secret:[a-z-]{1,40}\])(?:api[_-]?key|secret|token)\s{0,64}[:=]\s{0,64}(?!\[secret:)\S/i;

function checkNotes(found: Findings, notes: Json | undefined): void {
  for (const [index, note] of listOf(notes).entries()) {
    const own = new Findings();
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

function checkCriteria(found: Findings, checks: Json | undefined, required: Json | undefined): void {
  if (!isListOf(required, isText)) {
    breaks(found, 'R-PC-001', 'required_criteria', 'must be an array of criteria, none of them blank');
  }
  if (!isListOf(checks, (item) => isObject(item) && isText(item.criterion))) {
    breaks(found, 'R-PC-001', 'acceptance_check', 'must be an array of checks, each with its criterion');
  }
  if (found.count === 0 && listOf(checks).length + listOf(required).length === 0) {
    breaks(found, 'R-PC-001', 'acceptance_check', 'nothing was asked for and nothing was checked');
  }
}

function checkMet(found: Findings, checks: readonly JsonObject[], required: readonly string[]): void {
  const claimed = new Set(checks.map(({ criterion }) => criterion));
  const missing = required.filter((criterion) => !claimed.has(criterion));
  const [first] = missing;
  if (first !== undefined) {
    const message = `says nothing about ${quoted(first)}`;
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
