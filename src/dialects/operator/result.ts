// What a subagent writes: its result, as JSON or as a report with front matter, and its worklog. The entry that ends a task
// as blocked or failed says why and what comes next.
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { parseJsonText } from '../json-text.ts';
import { type OperatorOptions, RESULT, WORKLOG_ENTRY } from './contract.ts';
import {
  checkExtensions,
  checkMembers,
  checkPresence,
  elementsOf,
  HEAD,
  instantOf,
  OperatorFindings,
  objectsOf,
  payloadOf,
  warnOfRunId,
} from './findings.ts';
import { checkForeignText, checkNoSecret, checkNoSecretIn, warnOfSecret } from './untrusted.ts';

export function validateResult(input: unknown, options: OperatorOptions = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const result = given.payload;
  const found = new OperatorFindings(options);
  const refusal = found.through([
    () => checkPresence(found, result, RESULT),
    () => checkMembers(found, result, RESULT, ['schema_version']),
    () => {
      warnOfRunId(found, result);
      checkMembers(found, result, RESULT, [...HEAD, 'task_id', 'status', 'worklog_path']);
      for (const name of ['changes', 'acceptance_check']) {
        warnOfEvidence(found, result[name], name);
        checkMembers(found, result, RESULT, [name]);
      }
      for (const rule of ['type', 'many']) {
        checkMembers(found, result, RESULT, ['notes_for_orchestrator'], { only: (each) => each.rule === rule });
      }
      checkExtensions(found, result, RESULT, '');
    },
    () => checkNotes(found, result.notes_for_orchestrator),
    () => checkCompletion(found, result),
  ]);
  return refusal ?? found.allowed('the result keeps its contract', { status: result.status ?? null });
}

function warnOfEvidence(found: OperatorFindings, entries: Json | undefined, path: string): void {
  for (const [index, { evidence }] of objectsOf(entries).entries()) {
    warnOfSecret(found, evidence, `${path}[${index}].evidence`);
  }
}

/** Each note in turn: a note that is blank is reported before a secret in a later one, and the other way round. */
function checkNotes(found: OperatorFindings, notes: Json | undefined): void {
  for (const [index, note] of elementsOf(notes).entries()) {
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
function checkCompletion(found: OperatorFindings, { status, acceptance_check: checks }: JsonObject): void {
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

const SCALARS = ['schema_version', 'run_id', 'task_id', 'status', 'worklog_path', 'generated_at'];
const TEXT_LISTS = ['notes_for_orchestrator'];
const ITEM_LISTS = ['files_touched', 'changes', 'acceptance_check'];

/** The result a report states, or null when the text has no front matter. Absent fields become empty ones. */
export function resultFromReport(text: string): JsonObject | null {
  const report = text.trim();
  if (!/^---\s*[\r\n]/.test(report)) return null;
  const lines = report.split(/\r\n|\n|\r/);
  const close = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  if (close === -1) return null;
  const { files_touched: touched = [], changes = touched, generated_at, ...stated } = readFields(lines.slice(1, close));
  return {
    schema_version: '',
    run_id: '',
    task_id: '',
    status: '',
    changes,
    acceptance_check: [],
    worklog_path: '',
    notes_for_orchestrator: [],
    ...(generated_at === undefined ? {} : { generated_at }),
    ...stated,
  };
}

/** Each top-level key with the lines below it. Everything that is indented or a list item belongs to the key above. */
function readFields(lines: readonly string[]): Record<string, Json> {
  const fields = new Map<string, Json>();
  for (let at = 0; at < lines.length; ) {
    const match = /^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$/s.exec(lines[at] ?? '');
    let next = at + 1;
    while (next < lines.length && /^(?:[ \t]|-(?:[ \t]|$)|#|$)/.test(lines[next] ?? '')) next++;
    const [, key = '', rest = ''] = match ?? [];
    const below = lines.slice(at + 1, next).filter((line) => !line.startsWith('#'));
    if (match && !fields.has(key)) fields.set(key, readField(key, rest.trim(), below));
    at = next;
  }
  return Object.fromEntries(fields);
}

function readField(key: string, rest: string, below: readonly string[]): Json {
  if (TEXT_LISTS.includes(key)) return readList(rest, below, (item) => readText(item));
  if (ITEM_LISTS.includes(key)) return readList(rest, below, readItem);
  // Of a name or a number the rest is a comment; in a sentence a `#` is a character like any other.
  return readText(SCALARS.includes(key) ? rest.replace(/(?:^|[ \t])#.*$/s, '') : rest, below);
}

function readList(rest: string, below: readonly string[], read: (item: readonly string[]) => Json): Json {
  if (rest !== '' && !rest.startsWith('#')) return readInline(rest);
  const items: string[][] = [];
  let indent = -1;
  for (const line of below) {
    const match = /^([ \t]*)-(?:[ \t]+(.*))?$/s.exec(line);
    const depth = match?.[1]?.length ?? -1;
    if (match && (indent === -1 || depth <= indent)) {
      indent = depth;
      items.push([match[2] ?? '']);
    } else if (items.length > 0 && !/^[ \t]*(?:#.*)?$/s.test(line)) items.at(-1)?.push(line);
  }
  return items.map(read);
}

/** `[]` and what else is JSON in one line. Any other text stays text, and is then refused as no list. */
function readInline(rest: string): Json {
  const parsed = parseJsonText(rest);
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value : rest;
}

/** `name: value` pairs, the first of which follows the dash. */
function readItem(lines: readonly string[]): Json {
  const pairs: { key: string; lines: string[] }[] = [];
  for (const line of lines) {
    const match = /^[ \t]*([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$/s.exec(line);
    if (match) pairs.push({ key: match[1] ?? '', lines: [match[2] ?? ''] });
    else if (pairs.length > 0) pairs.at(-1)?.lines.push(line);
    else if (line.trim() !== '') return readText(lines);
  }
  return Object.fromEntries(pairs.map(({ key, lines: value }) => [key, readText(value)]));
}

/** A text in quotes, as a block, or plain; a plain one may go on in the lines below it. */
function readText(first: string | readonly string[], below: readonly string[] = []): string {
  const [head = '', ...rest] = typeof first === 'string' ? [first, ...below] : first;
  const start = head.trim();
  if (/^[|>][+-]?$/.test(start)) {
    return rest
      .map((line) => line.trim())
      .join(start.startsWith('|') ? '\n' : ' ')
      .trim();
  }
  const whole = [start, ...rest.map((line) => line.trim())].filter((line) => line !== '').join(' ');
  if (whole.length >= 2 && whole.startsWith('"') && whole.endsWith('"')) return unescaped(whole);
  if (whole.length >= 2 && whole.startsWith("'") && whole.endsWith("'"))
    return whole.slice(1, -1).replaceAll("''", "'");
  return whole;
}

function unescaped(quoted: string): string {
  const parsed = parseJsonText(quoted);
  return parsed.ok && isString(parsed.value) ? parsed.value : quoted.slice(1, -1);
}

/**
 * The outcome alone, or with the text that follows it after a mark: `failed tests were repaired` is a sentence about
 * something else.
 */
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

/** The index of the last entry of each task. */
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
