// A result as a markdown report: the fields stand in the front matter, between two lines of three dashes, and the prose
// below is for people. The reader knows the few fields of a result, so that it can take a note with a colon, a `#` or a
// quote for the text it is; it reads lists with and without indentation, inline lists, and blocks of text.
import { isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { parseJsonText } from '../json-text.ts';

const SCALARS = ['schema_version', 'run_id', 'task_id', 'status', 'worklog_path', 'generated_at'];
const TEXT_LISTS = ['notes_for_orchestrator'];
const ITEM_LISTS = ['files_touched', 'changes', 'acceptance_check'];

/** The result a report states, or null when the text has no front matter. Absent fields become empty ones. */
export function resultFromReport(text: string): JsonObject | null {
  const lines = text.trim().split(/\r\n|\n|\r/);
  if (lines[0]?.trimEnd() !== '---') return null;
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
