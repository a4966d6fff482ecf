// Finds the one JSON object of an agent's answer, in text with prose and fences around it.
import { isObject, isSameJson, type JsonObject } from '../kernel/json.ts';
import { endOfString, findFault, type JsonFault, type JsonFaultKind, skipSpace } from './json-fault.ts';
import { faultOfSize, type JsonRefusal, lineAt, NOT_JSON, parse, refuseJson, type TextLimits } from './json-text.ts';

type ObjectReading =
  | { readonly ok: true; readonly value: JsonObject }
  /** `list` is a list that is JSON; `not_object` is anything else that is no object; `ambiguous` is several that differ. */
  | JsonRefusal<JsonFaultKind | 'too_large' | 'not_object' | 'list' | 'ambiguous'>;

const NOT_AN_OBJECT = 'expected a JSON object at the top level';

type ObjectLimits = TextLimits & {
  /** The members by which an object in a longer text is known as an answer. Called only where there is such a text. */
  readonly fields?: () => ExpectedFields;
  /** Whether the object must be the whole text. */
  readonly strict?: boolean;
};

export type ExpectedFields = {
  readonly names: ReadonlySet<string>;
  /** Whether a member of any other name counts too. */
  readonly any: boolean;
};

const ANY_FIELD: ExpectedFields = { names: new Set(), any: true };

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
    return refuseJson(text, { kind: 'not_object', message: 'the text is empty; expected a JSON object' }, 0);
  const whole = parse(trimmed);
  if (whole.ok) {
    if (isObject(whole.value)) return { ok: true, value: whole.value };
    return refuseJson(text, { kind: Array.isArray(whole.value) ? 'list' : 'not_object', message: NOT_AN_OBJECT }, lead);
  }
  const opensJson = trimmed.startsWith('{') || trimmed.startsWith('[');
  // Only a fault of syntax, or of depth in prose, can mean that the JSON is elsewhere in the text.
  if (whole.fault.kind !== 'syntax' && (whole.fault.kind !== 'too_deep' || opensJson)) {
    return refuseJson(text, whole.fault, lead + whole.fault.offset);
  }
  if (limits.strict) {
    const message = `the socket is strict and takes no text around its JSON object; ${whole.fault.message}`;
    return refuseJson(text, { kind: 'not_object', message }, lead + whole.fault.offset);
  }
  const { spans, complete } = findSpans(text);
  const { objects, broken } = sort(text, spans, limits.fields?.() ?? ANY_FIELD);
  return objects.length === 0
    ? refuseJson(text, ...faultOf(text, spans, whole.fault, lead))
    : choose(text, objects, broken, complete);
}

type Found = { readonly start: number; readonly value: JsonObject; readonly isNamed: boolean };

type Broken = { readonly start: number; readonly fault: JsonFault };

/** The objects in the text, and the places that look like an answer and are not JSON. */
function sort(text: string, spans: readonly Span[], fields: ExpectedFields) {
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

/** A quote ends at most one name, so that the pattern takes time in proportion to the text. */
const QUOTED_NAME = /["'`“]([^"'`“”\\]{1,200})["'`”]\s*:/g;

/** A whole word, and as a name only where a colon follows. */
const BARE_NAME = /(?:([A-Za-z_$][\w$]*)\s*:)|[\w$]+/y;

/** Whether a text that is not JSON was meant as an answer. */
function looksMeant(piece: string, kind: Span['kind'], { names, any }: ExpectedFields): boolean {
  if (kind === 'object' && (any || piece.includes('\\u'))) return true;
  for (const [, name = ''] of piece.matchAll(QUOTED_NAME)) if (names.has(name)) return true;
  return namesBare(piece, names);
}

/** Whether outermost braces name one of these without quotes, as in `{reason: 1, satisfied: false}`. */
function namesBare(piece: string, names: ReadonlySet<string>): boolean {
  if (!piece.startsWith('{')) return false;
  let depth = 0;
  for (let at = 0; at < piece.length; at++) {
    const char = piece[at] as string;
    if (char === '\\') at++;
    else if (char === '{') depth++;
    else if (char === '}') depth--;
    else if (`"'\``.includes(char)) at = Math.max(at, endOfQuote(piece, at));
    else if (isWord(char)) {
      BARE_NAME.lastIndex = at;
      const [found, name = ''] = BARE_NAME.exec(piece) ?? [];
      if (depth === 1 && names.has(name)) return true;
      at += (found ?? char).length - 1;
    }
  }
  return false;
}

function isWord(char: string): boolean {
  return /[\w$]/.test(char);
}

function choose(text: string, objects: readonly Found[], broken: readonly Broken[], complete: boolean): ObjectReading {
  const named = objects.filter(({ isNamed }) => isNamed);
  const [onlyBroken] = named.length === 0 ? broken : [];
  if (onlyBroken) return refuseJson(text, onlyBroken.fault, onlyBroken.start + onlyBroken.fault.offset);
  const candidates = named.length === 0 ? objects : named;
  const first = candidates[0] as Found;
  const others = [...candidates.filter(({ value }) => !isSameJson(value, first.value)), ...broken];
  if (others.length > 0) {
    const lines = new Set([first, ...others].map(({ start }) => lineAt(text, start).line));
    const count = others.length + 1;
    const message = `the text holds ${count} objects that differ and may each be the answer (${listed([...lines])})`;
    return refuseJson(text, { kind: 'ambiguous', message }, Math.max(first.start, others[0]?.start ?? 0));
  }
  if (!complete) return refuseJson(text, { kind: 'ambiguous', message: TOO_MANY }, first.start);
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

type FaultOfObject = { readonly kind: JsonFaultKind | 'list' | 'not_object'; readonly message: string };

/** What is wrong with a text that holds no object, and where. */
function faultOf(
  text: string,
  spans: readonly Span[],
  whole: JsonFault,
  lead: number,
): readonly [fault: FaultOfObject, offset: number] {
  // Braces that never close are prose, unless they name a field.
  const best = mostPlausible(spans.filter(({ kind, closed }) => closed || kind !== 'braces'));
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

/** Of the places that gave no object, the one that most looks like a meant answer: fenced, then object-like, then long. */
function mostPlausible(spans: readonly Span[]): Span | undefined {
  const order = ['object', 'array', 'braces', 'empty'];
  const rank = (span: Span) => (span.fenced ? -1 : order.indexOf(span.kind));
  return spans.toSorted((a, b) => rank(a) - rank(b) || b.end - b.start - (a.end - a.start))[0];
}

/**
 * Finds the places in free text where JSON objects may be, in one pass. Only outermost places count. What lies inside an
 * object, an array or a group of braces is never a candidate of its own, so that a piece of a broken or truncated answer
 * cannot pass for the whole answer. For the same reason backticks inside such a place are the content of a string and no
 * fence, and a JSON object that never closes ends the search.
 */
type Span = {
  readonly start: number;
  /** The offset after the last character; the end of the text when the span never closes. */
  readonly end: number;
  /** `empty` is `{}`; `braces` is a group that no JSON object starts like, such as `{name}`. */
  readonly kind: 'object' | 'empty' | 'array' | 'braces';
  readonly closed: boolean;
  /** Whether it is all that a closed fenced block holds. */
  fenced: boolean;
};

/** Each opener that is prose and never closes costs a look to the end of the text, so their number is bounded. */
const PROSE_OPENERS_MAX = 16;
const SPANS_MAX = 256;
const FENCE = '```';
const TAG = /json(?![A-Za-z0-9])/iy;

type Spans = {
  readonly spans: readonly Span[];
  /** Whether the whole text was searched. False when a bound ended the search. */
  readonly complete: boolean;
};

function findSpans(text: string): Spans {
  const spans: Span[] = [];
  const marker = /```+|[{[]/g;
  let openFence = -1; // Where the content of the open fence starts.
  let proseOpeners = 0;
  for (let mark = marker.exec(text); mark; mark = marker.exec(text)) {
    if (spans.length === SPANS_MAX) return { spans, complete: false };
    const at = mark.index;
    if (mark[0].startsWith(FENCE)) {
      const content = afterTag(text, marker.lastIndex);
      const tagged = content > marker.lastIndex;
      if (openFence >= 0 && !tagged) markFenced(text, spans.at(-1), openFence, at);
      openFence = openFence < 0 || tagged ? skipSpace(text, content) : -1;
      continue;
    }
    const kind = kindAt(text, at);
    if (kind === null) continue;
    const end = closeOf(text, at);
    if (end >= 0) {
      spans.push({ start: at, end, kind, closed: true, fenced: false });
      marker.lastIndex = end;
    } else if (kind === 'object' || opensObjects(text, at)) {
      spans.push({ start: at, end: text.length, kind, closed: false, fenced: false });
      break;
    } else {
      if (kind === 'braces') spans.push({ start: at, end: endOfProse(text, at), kind, closed: false, fenced: false });
      proseOpeners += 1;
      if (proseOpeners === PROSE_OPENERS_MAX) return { spans, complete: false };
    }
  }
  return { spans, complete: true };
}

function markFenced(text: string, span: Span | undefined, contentStart: number, contentEnd: number): void {
  if (span?.start === contentStart && skipSpace(text, span.end) === contentEnd) span.fenced = true;
}

/** What the opener at this place starts; null for a bracket that belongs to prose. */
function kindAt(text: string, at: number): Span['kind'] | null {
  const next = text[skipSpace(text, at + 1)] ?? '';
  if (text[at] === '[') return next !== '' && '{["-0123456789'.includes(next) ? 'array' : null;
  if (next === '"') return 'object';
  return next === '}' ? 'empty' : 'braces';
}

function opensObjects(text: string, at: number): boolean {
  return text[at] === '[' && text[skipSpace(text, at + 1)] === '{';
}

/** Where braces that never close can end at most: before the next brace. */
function endOfProse(text: string, start: number): number {
  const next = text.slice(start + 1).search(/[{}]/);
  return next < 0 ? text.length : start + 1 + next;
}

/** The offset after the closer of the opener at `start`, minding strings and escapes; -1 when there is none. */
function closeOf(text: string, start: number): number {
  const open = text.charCodeAt(start);
  const close = open + 2; // In ASCII both closers stand two after their openers.
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
      if (at < 0) return -1;
    } else if (code === 0x27) at = Math.max(at, endOfQuote(text, at));
    else if (code === open) depth++;
    else if (code === close && --depth === 0) return at + 1;
  }
  return -1;
}

/**
 * Where the quoted text that begins here ends, or -1. JSON has double quotes only, and an apostrophe is no quote: other
 * quotes count where a name or a value may begin, and end on their line.
 */
function endOfQuote(text: string, at: number): number {
  const quote = text[at];
  if (quote === '"') return endOfString(text, at);
  let before = at - 1;
  while (text[before] === ' ' || text[before] === '\n') before--;
  if (!'{[(:,'.includes(text[before] ?? 'x')) return -1;
  for (let end = at + 1; end < text.length && text[end] !== '\n'; end++) {
    if (text[end] === '\\') end++;
    else if (text[end] === quote) return end;
  }
  return -1;
}

function afterTag(text: string, at: number): number {
  TAG.lastIndex = at;
  return TAG.test(text) ? TAG.lastIndex : at;
}
