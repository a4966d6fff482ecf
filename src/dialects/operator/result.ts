// The result envelope: what a subagent changed, which criteria it met on what evidence, and what it wants to say.
import { isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { normalPath, PATH_FAULTS } from '../../kernel/ledger/path.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { checkWorklogPath } from './assignment.ts';
import { CHANGE, CHECK, CHECK_STATUSES, NOTES_MAX, type Options, RESULT, RESULT_STATUSES } from './contract.ts';
import { checkExtensions } from './extension.ts';
import { checkObjects, checkOneOf, checkPresence, checkText, listOf, objectsOf } from './field.ts';
import { Findings } from './findings.ts';
import { checkHead, payloadOf } from './head.ts';
import { checkTaskId } from './identifiers.ts';
import { checkForeignText, checkNoSecret, warnOfSecret } from './untrusted.ts';
import { checkVersion } from './version.ts';

export function validateResult(input: unknown, options: Options = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const result = given.payload;
  const found = new Findings(options);
  const refusal = found.through([
    () => checkPresence(found, result, RESULT),
    () => checkVersion(found, result.schema_version),
    () => {
      checkHead(found, result);
      checkTaskId(found, result.task_id, 'task_id');
      checkOneOf(found, result.status, 'status', RESULT_STATUSES);
      checkWorklogPath(found, result.worklog_path, 'worklog_path');
      checkChanges(found, result.changes);
      checkAcceptance(found, result.acceptance_check);
      checkNotesShape(found, result.notes_for_orchestrator);
      checkExtensions(found, result, RESULT, '');
    },
    () => checkNotes(found, result.notes_for_orchestrator),
    () => checkCompletion(found, result),
  ]);
  return refusal ?? found.allowed('the result keeps its contract', { status: result.status ?? null });
}

function checkChanges(found: Findings, changes: Json | undefined): void {
  checkObjects(found, changes, 'changes', CHANGE, (change, path, index) => {
    checkText(found, change.resource, `${path}.resource`, {}, { index });
    const normal = isText(change.resource) ? normalPath(change.resource) : null;
    if (normal && !normal.ok) {
      const code = normal.fault === 'escapes' ? 'SCOPE_VIOLATION' : 'SCHEMA_INVALID';
      found.add(code, `${path}.resource`, PATH_FAULTS[normal.fault], { index });
    }
    checkText(found, change.action, `${path}.action`, {}, { index });
    warnOfSecret(found, change.evidence, `${path}.evidence`);
  });
}

function checkAcceptance(found: Findings, checks: Json | undefined): void {
  checkObjects(found, checks, 'acceptance_check', CHECK, (check, path, index) => {
    checkText(found, check.criterion, `${path}.criterion`, {}, { index });
    checkOneOf(found, check.status, `${path}.status`, CHECK_STATUSES, { index });
    checkText(found, check.evidence, `${path}.evidence`, {}, { index });
    warnOfSecret(found, check.evidence, `${path}.evidence`);
  });
}

function checkNotesShape(found: Findings, notes: Json | undefined): void {
  const path = 'notes_for_orchestrator';
  if (!Array.isArray(notes)) return found.add('SCHEMA_INVALID', path, 'must be an array of strings');
  for (const [index, note] of notes.entries()) {
    if (!isString(note)) found.add('SCHEMA_INVALID', `${path}[${index}]`, 'must be a string', { index });
  }
  if (notes.length > NOTES_MAX) {
    found.add('SCHEMA_INVALID', path, `must hold at most ${NOTES_MAX} notes`, { count: notes.length, max: NOTES_MAX });
  }
}

/** Each note in turn: a note that is blank is reported before a secret in a later one, and the other way round. */
function checkNotes(found: Findings, notes: Json | undefined): void {
  for (const [index, note] of listOf(notes).entries()) {
    const path = `notes_for_orchestrator[${index}]`;
    if (!isText(note)) {
      found.add('SCHEMA_INVALID', path, 'must not be blank', { index });
      continue;
    }
    checkNoSecret(found, note, path, { index });
    checkForeignText(found, note, path, { index });
  }
}

/** Done means that something was to be met and that all of it was. */
function checkCompletion(found: Findings, { status, acceptance_check: checks }: JsonObject): void {
  if (status !== 'done') return;
  const path = 'acceptance_check';
  const entries = objectsOf(checks);
  if (entries.length === 0) {
    const message = 'must hold at least one criterion when status is done; report blocked or failed otherwise';
    return found.add('ACCEPTANCE_FAILED', path, message, { failing_criteria: [] });
  }
  const failing = entries.filter((check) => check.status !== 'pass').map((check) => String(check.criterion));
  if (failing.length === 0) return;
  const message = `${failing.length} of ${entries.length} criteria did not pass; meet them, or report blocked or failed`;
  found.add('ACCEPTANCE_FAILED', path, message, { failing_criteria: failing });
}
