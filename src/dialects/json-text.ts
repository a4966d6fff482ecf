// The one way from text to JSON for every dialect. Stricter than `JSON.parse` where leniency hides something: a key that is
// written twice, a key that poisons prototypes, a number that becomes infinite, nesting or size beyond a limit.
// All of it takes time in proportion to the text, whatever the text.
import { createRequire } from 'node:module';
import type { Json } from '../kernel/json.ts';
import { utf8Length } from '../kernel/text.ts';
import { endOfString, findFault, type JsonFault, type JsonFaultKind } from './json-fault.ts';

export type TextLimits = { readonly maxBytes?: number };
export type JsonRefusal<Kind extends string> = {
  readonly ok: false;
  readonly kind: Kind;
  readonly message: string;
  /** Both count from 1, the column in UTF-16 code units. */
  readonly line: number;
  readonly column: number;
};
type JsonReading =
  | {
      readonly ok: true;
      readonly value: Json;
      /** The depth of nested lists and objects; 0 for a scalar. */
      readonly depth: number;
      /** Whether the text writes a character with a backslash. */
      readonly hasEscapes: boolean;
    }
  | JsonRefusal<JsonFaultKind | 'too_large'>;

export const JSON_BYTES_MAX = 1_048_576;
export const JSON_DEPTH_MAX = 200;

/** The answer of the plain parser, for callers that have asked it already. */
export type ParseAttempt = { readonly value: Json } | 'threw' | null;

/** Reads a text that is JSON and nothing else. */
export function parseJsonText(text: string, limits: TextLimits = {}, attempt: ParseAttempt = null): JsonReading {
  const size = faultOfSize(text, limits);
  if (size) return size;
  const parsed = parse(text, attempt);
  return parsed.ok ? parsed : refuseJson(text, parsed.fault, parsed.fault.offset);
}

type ParsedJson = Extract<JsonReading, { ok: true }> | { readonly ok: false; readonly fault: JsonFault };

export function parse(text: string, attempt: ParseAttempt = null): ParsedJson {
  const { keys, depth, hasEscapes, isOpen, tooDeepAt } = measure(text);
  if (tooDeepAt >= 0) {
    const message = `the JSON is nested deeper than ${JSON_DEPTH_MAX} levels`;
    return { ok: false, fault: { kind: 'too_deep', message, offset: tooDeepAt } };
  }
  // A text that does not end where it should need not be parsed to be found wrong: throwing costs more than looking.
  if (isOpen || attempt === 'threw') return { ok: false, fault: findFault(text) ?? NOT_JSON };
  let value: Json;
  try {
    if (mayPoison(text)) value = secureParse()(text, null, { safe: true });
    else value = attempt ? attempt.value : JSON.parse(withoutMark(text));
  } catch {
    return { ok: false, fault: findFault(text) ?? NOT_JSON };
  }
  // The parser answers null for a poisoned text, and keeps one of two equal keys, so that fewer arrive than were written.
  if (value === null || countKeys(value) !== keys) {
    const fault = findFault(text);
    if (fault) return { ok: false, fault };
  }
  return { ok: true, value, depth, hasEscapes };
}

let library: typeof import('secure-json-parse') | null = null;

/** Loaded for the first text that needs it: most never do, and every command reads some JSON before it answers. */
function secureParse(): typeof import('secure-json-parse') {
  library ??= createRequire(import.meta.url)('secure-json-parse') as typeof import('secure-json-parse');
  return library;
}

export const NOT_JSON: JsonFault = { kind: 'syntax', message: 'this is not JSON', offset: 0 };

/**
 * Whether a text may hold a name that poisons prototypes, or an escape that hides one; without, its value need not be
 * searched. Looking for each part by itself is faster than one pattern of them all.
 */
export function mayPoison(text: string): boolean {
  return text.includes('__pr') || text.includes('ctor') || text.includes('\\u');
}

/** Some writers begin a text with a byte order mark. */
function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

type Measure = {
  readonly keys: number;
  readonly depth: number;
  readonly hasEscapes: boolean;
  /** Whether a string, a list or an object is not closed, or something is closed that was not open. */
  readonly isOpen: boolean;
  /** Where the nesting passes the limit, or -1. */
  readonly tooDeepAt: number;
};

/** Counts the colons outside strings, which in valid JSON are its keys, and how deep the text nests. */
function measure(text: string): Measure {
  let keys = 0;
  let level = 0;
  let depth = 0;
  // Without a backslash every quote ends a string or begins one, and looking for the next is much faster than walking to it.
  const hasEscapes = text.includes('\\');
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = hasEscapes ? endOfString(text, at) : text.indexOf('"', at + 1);
      if (at < 0) {
        level++;
        break;
      }
    } else if (code === 0x7b || code === 0x5b) {
      if (++level > depth) depth = level;
      if (level > JSON_DEPTH_MAX) return { keys, depth, hasEscapes, isOpen: true, tooDeepAt: at };
    } else if (code === 0x7d || code === 0x5d) level--;
    else if (code === 0x3a) keys++;
  }
  return { keys, depth, hasEscapes, isOpen: level !== 0, tooDeepAt: -1 };
}

/** How many keys a value holds at all depths; NaN, which equals no count, when it holds an infinite number. */
function countKeys(value: Json): number {
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : Number.NaN;
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) count += countKeys(element);
    return count;
  }
  for (const member of Object.values(value)) count += 1 + countKeys(member);
  return count;
}

export function faultOfSize(text: string, { maxBytes = JSON_BYTES_MAX }: TextLimits): JsonRefusal<'too_large'> | null {
  // A UTF-16 code unit takes at most three bytes of UTF-8, so a short text need not be counted.
  if (text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Length(text) <= maxBytes)) return null;
  return { ok: false, kind: 'too_large', message: `the text is larger than ${maxBytes} bytes`, line: 1, column: 1 };
}

export function refuseJson<Kind extends string>(
  text: string,
  fault: { kind: Kind; message: string },
  offset: number,
): JsonRefusal<Kind> {
  const { line, lineStart } = lineAt(text, offset);
  return { ok: false, kind: fault.kind, message: fault.message, line, column: offset - lineStart + 1 };
}

/** The number of the line at an offset and where it starts. Most texts end their lines without carriage returns. */
export function lineAt(text: string, offset: number): { readonly line: number; readonly lineStart: number } {
  let line = 1;
  let lineStart = 0;
  if (text.includes('\r')) {
    for (let at = 0; at < offset; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x0a || (code === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) {
        line += 1;
        lineStart = at + 1;
      }
    }
    return { line, lineStart };
  }
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  return { line, lineStart };
}

/**
 * Whether a value that a program hands over is plain JSON. Text cannot hold anything else, a value can: a member that is
 * undefined, a function, a number without bounds, an object that contains itself.
 */
const NODES_MAX = 2_000_000;

/** What keeps the value from being JSON of a sane size, with the place, or null. */
export function faultOfPlain(value: unknown): string | null {
  try {
    return plainFault(value);
  } catch {
    return 'it holds something that cannot be read'; // A getter or proxy of the caller may throw.
  }
}

type Node = { readonly value: unknown; readonly path: string; readonly depth: number };

function plainFault(root: unknown): string | null {
  const open: Node[] = [{ value: root, path: '$', depth: 0 }];
  let nodes = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path, depth } = next;
    if (++nodes > NODES_MAX) return `it holds more than ${NODES_MAX} values`;
    if (typeof value === 'number' && !Number.isFinite(value)) return `${path} is a number that JSON cannot write`;
    if (value === undefined) return `${path} is undefined; leave it out, or write null`;
    if (!['string', 'number', 'boolean', 'object'].includes(typeof value)) return `${path} is a ${typeof value}`;
    if (typeof value !== 'object' || value === null) continue;
    if (depth === JSON_DEPTH_MAX) return `it is nested deeper than ${JSON_DEPTH_MAX} levels, or contains itself`;
    const isList = Array.isArray(value);
    if (!isList && !isPlainObject(value)) return `${path} is an object of a class; hand over what it holds instead`;
    for (const key of Object.keys(value).reverse()) {
      const member = (value as Record<string, unknown>)[key];
      open.push({ value: member, path: isList ? `${path}[${key}]` : `${path}.${key.slice(0, 60)}`, depth: depth + 1 });
    }
  }
  return null;
}

function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/** The text of the last member of that name, or null. The object must be valid JSON. */
export function memberText(object: string, name: string): string | null {
  const quoted = JSON.stringify(name);
  let found: string | null = null;
  let at = object.indexOf('{') + 1;
  while (at > 0 && at < object.length) {
    at = skipAll(object, at, ' \t\r\n,');
    if (object[at] !== '"') break;
    const keyEnd = endOfString(object, at) + 1;
    const key = object.slice(at, keyEnd);
    const from = skipAll(object, keyEnd, ' \t\r\n:');
    at = valueEnd(object, from);
    if (key === quoted) found = object.slice(from, at);
  }
  return found;
}

function skipAll(text: string, from: number, blanks: string): number {
  let at = from;
  while (at < text.length && blanks.includes(text[at] ?? '')) at++;
  return at;
}

/** The place after the value that begins here. */
function valueEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') {
      at = endOfString(text, at);
      if (depth === 0) return at + 1;
    } else if (sign === '{' || sign === '[') depth++;
    else if (sign === '}' || sign === ']') {
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (sign === ',' && depth === 0) return at;
  }
  return text.length;
}
