// The one way from text to JSON for every dialect. Stricter than `JSON.parse` where leniency hides something: a key that is
// written twice, a key that poisons prototypes, a number that becomes infinite, nesting or size beyond a limit.
// All of it takes time in proportion to the text, whatever the text.
import { createRequire } from 'node:module';
import { isObject, isSameJson, type Json, type JsonObject } from '../kernel/json.ts';
import { type Fault, type FaultKind, findFault } from './json-fault.ts';
import { findSpans, type Span } from './json-spans.ts';

export type TextLimits = { readonly maxBytes?: number };
export type Refused<Kind extends string> = {
  readonly ok: false;
  readonly kind: Kind;
  readonly message: string;
  /** Both count from 1, the column in UTF-16 code units. */
  readonly line: number;
  readonly column: number;
};
export type JsonReading =
  | {
      readonly ok: true;
      readonly value: Json;
      /** How many lists and objects stand inside each other at the deepest place; 0 for a scalar. */
      readonly depth: number;
      /** Whether the text writes a character with a backslash. */
      readonly hasEscapes: boolean;
    }
  | Refused<FaultKind | 'too_large'>;
export type ObjectReading =
  | { readonly ok: true; readonly value: JsonObject }
  /** `list` is a list that is JSON; `not_object` is anything else that is no object; `ambiguous` is several that differ. */
  | Refused<FaultKind | 'too_large' | 'not_object' | 'list' | 'ambiguous'>;

export const TEXT_BYTES_MAX = 1_048_576;
export const JSON_DEPTH_MAX = 200;

const NOT_AN_OBJECT = 'expected a JSON object at the top level';

/** What the plain parser said of the text, for callers who asked it already and must not pay twice. */
export type Attempt = { readonly value: Json } | 'threw' | null;

/** Reads a text that is JSON and nothing else. */
export function parseJsonText(text: string, limits: TextLimits = {}, attempt: Attempt = null): JsonReading {
  const size = faultOfSize(text, limits);
  if (size) return size;
  const parsed = parse(text, attempt);
  return parsed.ok ? parsed : refuse(text, parsed.fault, parsed.fault.offset);
}

export type ObjectLimits = TextLimits & {
  /** The members by which an object in a longer text is known as an answer. Called only where there is such a text. */
  readonly fields?: () => AnswerFields;
  /** Whether the object must be the whole text. */
  readonly strict?: boolean;
};
export type AnswerFields = {
  readonly names: ReadonlySet<string>;
  /** Whether a member of any other name counts too. */
  readonly any: boolean;
};

const ANY_FIELD: AnswerFields = { names: new Set(), any: true };

/**
 * Finds the one JSON object an answer holds. If the trimmed text is an object, that is the answer. Otherwise every outermost
 * object with at least one field of the answer is a candidate, in a fence or in prose. Candidates that differ are refused:
 * the reader never chooses between two answers. An object that is not JSON and names such a field differs from every other.
 */
export function extractObject(text: string, limits: ObjectLimits = {}): ObjectReading {
  const size = faultOfSize(text, limits);
  if (size) return size;
  const trimmed = text.trim();
  const lead = trimmed.length === text.length ? 0 : text.length - text.trimStart().length;
  if (trimmed === '')
    return refuse(text, { kind: 'not_object', message: 'the text is empty; expected a JSON object' }, 0);
  const whole = parse(trimmed);
  if (whole.ok) {
    if (isObject(whole.value)) return { ok: true, value: whole.value };
    return refuse(text, { kind: Array.isArray(whole.value) ? 'list' : 'not_object', message: NOT_AN_OBJECT }, lead);
  }
  const opensJson = trimmed.startsWith('{') || trimmed.startsWith('[');
  // Only a fault of syntax, or of depth in what is prose anyway, can mean that the JSON stands elsewhere in the text.
  if (whole.fault.kind !== 'syntax' && (whole.fault.kind !== 'too_deep' || opensJson)) {
    return refuse(text, whole.fault, lead + whole.fault.offset);
  }
  if (limits.strict) {
    const message = `the socket is strict and takes no text around its JSON object; ${whole.fault.message}`;
    return refuse(text, { kind: 'not_object', message }, lead + whole.fault.offset);
  }
  const { spans, complete } = findSpans(text);
  const { objects, broken } = sort(text, spans, limits.fields?.() ?? ANY_FIELD);
  return objects.length === 0
    ? refuse(text, ...faultOf(text, spans, whole.fault, lead))
    : choose(text, objects, broken, complete);
}

type Found = { readonly start: number; readonly value: JsonObject; readonly isNamed: boolean };
type Broken = { readonly start: number; readonly fault: Fault };

/** The objects in the text, and the places that look like an answer and are not JSON. */
function sort(text: string, spans: readonly Span[], fields: AnswerFields) {
  const objects: Found[] = [];
  const broken: Broken[] = [];
  for (const { start, end, kind, closed } of spans) {
    const piece = text.slice(start, end);
    const parsed = closed && kind !== 'braces' ? parse(piece) : null;
    if (!parsed?.ok) {
      if (looksMeant(piece, kind, fields)) broken.push({ start, fault: parsed?.fault ?? findFault(piece) ?? NOT_JSON });
    } else if (isObject(parsed.value)) {
      const names = Object.keys(parsed.value);
      const isNamed = fields.any ? names.length > 0 : names.some((name) => fields.names.has(name));
      objects.push({ start, value: parsed.value, isNamed });
    }
  }
  return { objects, broken };
}

// A quote ends at most one name, so that the pattern takes time in proportion to the text.
const QUOTED_NAME = /["']([^"'\\]{1,200})["']\s*:/g;
const BARE_NAME = /([A-Za-z_$][\w$]{0,199})\s*:/y;

/** Whether a text that is not JSON was meant as an answer. */
function looksMeant(piece: string, kind: Span['kind'], { names, any }: AnswerFields): boolean {
  if (kind === 'object' && (any || piece.includes('\\u'))) return true;
  for (const [, name = ''] of piece.matchAll(QUOTED_NAME)) if (names.has(name)) return true;
  return namesBare(piece, names);
}

/** Whether outermost braces name one of these without quotes, as in `{reason: 1, satisfied: false}`. */
function namesBare(piece: string, names: ReadonlySet<string>): boolean {
  if (!piece.startsWith('{')) return false;
  let depth = 0;
  let mayBegin = false;
  for (let at = 0; at < piece.length; at++) {
    const char = piece[at] as string;
    if (char === '"') {
      at = endOfString(piece, at);
      if (at < 0) return false;
    }
    if (char === '{') depth++;
    else if (char === '}') depth--;
    if (mayBegin && depth === 1) {
      BARE_NAME.lastIndex = at;
      if (names.has(BARE_NAME.exec(piece)?.[1] ?? '')) return true;
    }
    mayBegin = '{,;\n'.includes(char) || (mayBegin && char.trim() === '');
  }
  return false;
}

function choose(text: string, objects: readonly Found[], broken: readonly Broken[], complete: boolean): ObjectReading {
  const named = objects.filter(({ isNamed }) => isNamed);
  const [onlyBroken] = named.length === 0 ? broken : [];
  if (onlyBroken) return refuse(text, onlyBroken.fault, onlyBroken.start + onlyBroken.fault.offset);
  const candidates = named.length === 0 ? objects : named;
  const first = candidates[0] as Found;
  const others = [...candidates.filter(({ value }) => !isSameJson(value, first.value)), ...broken];
  if (others.length > 0) {
    const lines = new Set([first, ...others].map(({ start }) => lineAt(text, start).line));
    const count = others.length + 1;
    const message = `the text holds ${count} objects that differ and may each be the answer (${listed([...lines])})`;
    return refuse(text, { kind: 'ambiguous', message }, Math.max(first.start, others[0]?.start ?? 0));
  }
  if (!complete) return refuse(text, { kind: 'ambiguous', message: TOO_MANY }, first.start);
  return { ok: true, value: first.value };
}

const TOO_MANY = 'the text holds too many braces and brackets to find out whether another object differs';
const LINES_SHOWN_MAX = 8;

function listed(lines: readonly number[]): string {
  const shown = lines
    .toSorted((a, b) => a - b)
    .slice(0, LINES_SHOWN_MAX)
    .join(', ');
  return `${lines.length === 1 ? 'line' : 'lines'} ${shown}${lines.length > LINES_SHOWN_MAX ? ', …' : ''}`;
}

type FaultOfObject = { readonly kind: FaultKind | 'list' | 'not_object'; readonly message: string };

/** What is wrong with a text that holds no object, and where. */
function faultOf(
  text: string,
  spans: readonly Span[],
  whole: Fault,
  lead: number,
): readonly [fault: FaultOfObject, offset: number] {
  const best = mostPlausible(spans);
  if (best?.kind === 'array' && best.closed) {
    const kind = parse(text.slice(best.start, best.end)).ok ? 'list' : 'not_object';
    return [{ kind, message: NOT_AN_OBJECT }, best.start];
  }
  // An answer that was cut off is all of its text, whose fault is known.
  const isAll = best?.start === lead && best.end === text.trimEnd().length;
  const fault = best && (isAll ? whole : findFault(text.slice(best.start, best.end)));
  if (fault) return [fault, best.start + fault.offset];
  if (text.startsWith('{', lead) || text.startsWith('[', lead)) return [whole, lead + whole.offset];
  return [{ kind: 'not_object', message: 'the text holds no JSON object' }, lead];
}

type Parsed = Extract<JsonReading, { ok: true }> | { readonly ok: false; readonly fault: Fault };

function parse(text: string, attempt: Attempt = null): Parsed {
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

const NOT_JSON: Fault = { kind: 'syntax', message: 'this is not JSON', offset: 0 };

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

/** Where the string that begins here ends, or -1. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x22) return at;
  }
  return -1;
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

/** Of the places that gave no object, the one that most looks like a meant answer: fenced, then object-like, then long. */
function mostPlausible(spans: readonly Span[]): Span | undefined {
  const order = ['object', 'array', 'braces', 'empty'];
  const rank = (span: Span) => (span.fenced ? -1 : order.indexOf(span.kind));
  return spans.toSorted((a, b) => rank(a) - rank(b) || b.end - b.start - (a.end - a.start))[0];
}

function faultOfSize(text: string, { maxBytes = TEXT_BYTES_MAX }: TextLimits): Refused<'too_large'> | null {
  // A UTF-16 code unit takes at most three bytes of UTF-8, so a short text need not be counted.
  if (text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Length(text) <= maxBytes)) return null;
  return { ok: false, kind: 'too_large', message: `the text is larger than ${maxBytes} bytes`, line: 1, column: 1 };
}

function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    bytes += 1;
    if (code < 0x800) continue;
    // A pair of surrogates makes four bytes; each half counted as a unit and one more makes exactly that.
    if (code >= 0xd800 && code <= 0xdfff && isPaired(text, at, code)) continue;
    bytes += 1;
  }
  return bytes;
}

function isPaired(text: string, at: number, code: number): boolean {
  const other = text.charCodeAt(code < 0xdc00 ? at + 1 : at - 1);
  return code < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other < 0xdc00;
}

function refuse<Kind extends string>(
  text: string,
  fault: { kind: Kind; message: string },
  offset: number,
): Refused<Kind> {
  const { line, lineStart } = lineAt(text, offset);
  return { ok: false, kind: fault.kind, message: fault.message, line, column: offset - lineStart + 1 };
}

/** The number of the line at an offset and where it starts. Most texts end their lines without carriage returns. */
function lineAt(text: string, offset: number): { readonly line: number; readonly lineStart: number } {
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
