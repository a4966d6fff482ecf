// The result of a subagent: what it changed, which criteria it met and on what evidence; as JSON or as a report with front matter.
import { isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { parseJsonText } from '../json-text.ts';
import { type OperatorOptions, RESULT } from './contract.ts';
import {
  checkExtensions,
  checkMembers,
  checkPresence,
  elementsOf,
  HEAD,
  OperatorFindings,
  objectsOf,
  payloadOf,
  warnOfRunId,
} from './findings.ts';
import { checkForeignText, checkNoSecret, warnOfSecret } from './untrusted.ts';

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

// A result as a markdown report: the fields stand in the front matter, between two lines of three dashes, and the prose
// below is for people. The reader knows the few fields of a result, so that it can take a note with a colon, a `#` or a
// quote for the text it is; it reads lists with and without indentation, inline lists, and blocks of text.
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

/** `name: value` pairs, of which the first stands beside the dash. */
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
