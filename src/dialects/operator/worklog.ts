// The worklog: one entry for each thing a subagent did, in a file that only grows. The entry that ends a task as blocked or
// failed says why and what comes next.
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { parseJsonText } from '../json-text.ts';
import { type OperatorOptions, WORKLOG_ENTRY } from './contract.ts';
import {
  checkExtensions,
  checkMembers,
  checkPresence,
  instantOf,
  OperatorFindings,
  payloadOf,
  warnOfRunId,
} from './findings.ts';
import { checkForeignText, checkNoSecretIn } from './untrusted.ts';

// The outcome alone, or with what follows it after a mark: `failed tests were mended` is a sentence about something else.
const OUTCOME = /^\s*(?:(?:is|was|now)\s+)?(?:blocked|failed)\s*(?:$|[:;,.(!]|[-–—](?:\s|$))/i;

/** A file may be larger than any one payload; each of its lines may not. */
const FILE_CHARS_MAX = 67_108_864;

/** Checks one entry, or an array of entries in the order in which they were written. */
export function validateWorklog(input: unknown, options: OperatorOptions = {}): Verdict {
  if (!Array.isArray(input)) return validateEntry(input, options, true);
  const entries: readonly unknown[] = input;
  const found = new OperatorFindings(options);
  const closing = lastPlaces(entries);
  for (const [index, entry] of entries.entries()) {
    found.adopt(validateEntry(entry, options, closing.has(index)), `[${index}]`);
  }
  if (entries.length === 0) found.add('SCHEMA_INVALID', '$', 'the worklog holds no entry');
  warnOfOrder(found, entries);
  return found.refusal() ?? found.allowed('the worklog keeps its contract', { entry_count: entries.length });
}

/** Checks a worklog file: one JSON object on each line, after nothing but what it held before. */
export function validateWorklogText(text: string, options: OperatorOptions = {}): Verdict {
  const { previous } = options;
  if (previous !== undefined && !text.startsWith(previous)) {
    const line = firstChange(previous, text);
    const message = `a line that was written before was changed or removed (line ${line}); only append`;
    const issues = [{ code: 'NON_COMPLIANT', path: '$', message }];
    return deny('NON_COMPLIANT', `The worklog may only grow: ${message}.`, { path: '$', line, issues });
  }
  const whole = parseJsonText(text);
  if (whole.ok) return validateWorklog(whole.value, options);
  if (text.length > FILE_CHARS_MAX) return refuseText(`the file is larger than ${FILE_CHARS_MAX} characters`, 1, 1);
  const entries: Json[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const parsed = parseJsonText(line);
    if (!parsed.ok) return refuseText(parsed.message, index + 1, parsed.column);
    entries.push(parsed.value);
  }
  return validateWorklog(entries, options);
}

function validateEntry(input: unknown, options: OperatorOptions, isLast: boolean): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const entry = given.payload;
  const found = new OperatorFindings(options);
  const refusal = found.through([
    () => checkPresence(found, entry, WORKLOG_ENTRY),
    () => checkEntry(found, entry),
    () => checkOutcome(found, entry, isLast, options),
    () => checkTexts(found, entry),
  ]);
  return refusal ?? found.allowed('the entry keeps its contract');
}

function checkEntry(found: OperatorFindings, entry: JsonObject): void {
  checkMembers(found, entry, WORKLOG_ENTRY, [
    'timestamp',
    'schema_version',
    ...Object.keys(WORKLOG_ENTRY.fields).slice(1),
  ]);
  warnOfRunId(found, entry);
  checkExtensions(found, entry, WORKLOG_ENTRY, '');
}

/**
 * The entry that ends a task without success must carry a code and a next step. It does so when the caller knows the
 * outcome, when its result opens with the outcome, or when it carries a code, which only such a step has.
 */
function checkOutcome(found: OperatorFindings, entry: JsonObject, isLast: boolean, { outcome }: OperatorOptions): void {
  const isUnsuccessful = outcome !== undefined || entry.code !== undefined || OUTCOME.test(String(entry.result));
  if (!isLast || !isUnsuccessful) return;
  const missing = ['code', 'next_step'].filter((name) => !isText(entry[name]));
  if (missing.length === 0) return;
  const message = `the last entry of a task that is blocked or failed must also say ${missing.join(' and ')}`;
  found.add('MISSING_REQUIRED_INPUT', '$', message, { missing });
}

/** Secrets are refused anywhere in an entry, extensions included. */
function checkTexts(found: OperatorFindings, entry: JsonObject): void {
  checkNoSecretIn(found, entry);
  checkForeignText(found, entry.decision, 'decision');
  checkForeignText(found, entry.result, 'result');
}

/** Where the last entry of each task stands. */
function lastPlaces(entries: readonly unknown[]): ReadonlySet<number> {
  const last = new Map<unknown, number>();
  for (const [index, entry] of entries.entries()) {
    const isNamed = isObject(entry) && isString(entry.run_id) && isString(entry.task_id);
    last.set(isNamed ? `${entry.run_id} ${entry.task_id}` : index, index);
  }
  return new Set(last.values());
}

function warnOfOrder(found: OperatorFindings, entries: readonly unknown[]): void {
  let latest = Number.NEGATIVE_INFINITY;
  for (const [index, entry] of entries.entries()) {
    const at = isObject(entry) && isString(entry.timestamp) ? instantOf(entry.timestamp) : null;
    if (at === null) continue;
    if (at < latest) found.warn(`[${index}].timestamp is earlier than the entry before it`);
    latest = Math.max(latest, at);
  }
}

function refuseText(message: string, line: number, column: number): Verdict {
  const issues = [{ code: 'SCHEMA_INVALID', path: '$', message, line, column }];
  const reason = `Line ${line} of the worklog is not a JSON object: ${message}.`;
  return deny('SCHEMA_INVALID', reason, { path: '$', line, column, issues });
}

/** The number of the first line that is no longer what it was. */
function firstChange(previous: string, text: string): number {
  const [before, after] = [previous.split('\n'), text.split('\n')];
  return before.findIndex((line, index) => line !== after[index]) + 1;
}
