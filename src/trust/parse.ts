// From a text, or a parsed value, to a value of strict JSON within limits. After it, hashing, walking and matching need no
// further limit.
import { mayPoison, type ParseAttempt, parseJsonText } from '../dialects/json-text.ts';
import { isObject, type Json, nameOfType } from '../kernel/json.ts';
import { utf8Length } from '../kernel/text.ts';
import { PROBLEMS_MAX, type Problem, pointer } from '../kernel/trust/problem.ts';
import { type CanonicalTexts, canonicalTexts } from './canonical.ts';

export const LIMITS = {
  textBytes: 1_048_576,
  depth: 32,
  arrayItems: 10_000,
  stringBytes: 262_144,
  historyItems: 1_000,
} as const;

type ParsedEnvelope =
  | {
      readonly ok: true;
      readonly value: Json;
      /** Known from its text: no string in the value, and no name, has a character that JSON writes with an escape. */
      readonly isVerbatim: boolean;
      /** Known from its text: no name in it reaches for a prototype. */
      readonly isHarmless: boolean;
      /** Of the value, its context and its request, where parsing needed them. */
      readonly texts: CanonicalTexts | null;
    }
  | { readonly ok: false; readonly problems: Problem[] };

/** Bytes or a string are an envelope exactly as it came; anything else is an envelope already parsed. */
export function parseEnvelope(input: unknown): ParsedEnvelope {
  if (input instanceof Uint8Array) return parseBytes(input);
  if (typeof input !== 'string') return within(input);
  const compact = parseCompact(input);
  if (compact !== null && compact !== 'threw' && 'ok' in compact) return compact;
  const reading = parseJsonText(input, { maxBytes: LIMITS.textBytes }, compact);
  if (reading.ok) {
    const { value, depth, hasEscapes } = reading;
    if (!isSmall(input, value, depth)) return within(value);
    return { ok: true, value, isVerbatim: !hasEscapes, isHarmless: !mayPoison(input), texts: null };
  }
  // A member that reaches for a prototype is refused by the injection rules, in its place among the other checks.
  // The plain parser makes it an ordinary own member and changes no prototype.
  if (reading.kind === 'forbidden_key') return within(JSON.parse(input.replace(/^\uFEFF/, '')));
  const code = reading.kind === 'too_large' || reading.kind === 'too_deep' ? 'LIMIT_EXCEEDED' : 'PARSE';
  const message = `${reading.message} (line ${reading.line}, column ${reading.column})`;
  return { ok: false, problems: [{ code, pointer: '', message }] };
}

/** A reader that replaces broken characters would compute the digest of a text that was never sent. */
function parseBytes(bytes: Uint8Array): ParsedEnvelope {
  try {
    return parseEnvelope(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return { ok: false, problems: [{ code: 'PARSE', pointer: '', message: 'the envelope is not UTF-8 text' }] };
  }
}

/** A list over the limit needs a longer text than this, and so does a text over the limit. */
const SHORT = 2 * LIMITS.arrayItems;

/**
 * The short way for what most programs write: one object without white space and escapes. Every verdict needs the
 * canonical text of its envelope, and when that is as long as the text itself, then nothing that was written is
 * missing: no member went under because another had its name. Only numbers can be longer in the canonical text. Null
 * for a text that is not of this kind; where a doubt is left, the words of the parser about it.
 */
function parseCompact(text: string): ParsedEnvelope | ParseAttempt {
  if (!text.startsWith('{"') || !text.endsWith('}') || text.length > SHORT || text.includes('\\') || mayPoison(text))
    return null;
  if (text[text.indexOf('":') + 2] === ' ' || !text.isWellFormed()) return null;
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return 'threw';
  }
  const texts = envelopeTexts(value, true);
  const isWhole = texts.whole?.length === text.length && !texts.hasNumbers;
  if (!isWhole || texts.depth > LIMITS.depth || longHistory(value).length > 0) return { value };
  return { ok: true, value, isVerbatim: true, isHarmless: true, texts };
}

/** The canonical texts of a value that may be an envelope, of its request, and of the context around that. */
export function envelopeTexts(value: Json, isVerbatim: boolean): CanonicalTexts {
  const context = isObject(value) && isObject(value.context) ? value.context : null;
  const request = context && isObject(context.request) ? context.request : null;
  return canonicalTexts(value, request, isVerbatim, context);
}

/** Whether the text alone rules out most faults of its value. Half a character is in a text as it is or behind `\u`. */
function isSmall(text: string, value: Json, depth: number): boolean {
  const isSimple = text.length <= SHORT && text.isWellFormed() && !text.includes('\\u');
  return isSimple && depth <= LIMITS.depth && longHistory(value).length === 0;
}

/** The search so far: its finds, the names on the way to the present place, and the least text they all need. */
type Search = { readonly problems: Problem[]; readonly path: string[]; bytes: number };

function within(root: unknown): ParsedEnvelope {
  const search: Search = { problems: [], path: [], bytes: 0 };
  visit(root, search);
  const problems = [...search.problems, ...longHistory(root)];
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, value: root as Json, isVerbatim: false, isHarmless: false, texts: null };
}

/**
 * False ends the search. It goes no deeper than the limit, and counts the least text each value needs, so that neither depth
 * nor a value that contains itself can exhaust the stack or the clock.
 */
function visit(value: unknown, search: Search): boolean {
  const { problems, path } = search;
  search.bytes += leastBytes(value);
  if (search.bytes > LIMITS.textBytes) {
    problems.push(limit('', `the envelope is larger than ${LIMITS.textBytes} bytes`));
    return false;
  }
  checkValue(value, search);
  if (typeof value === 'object' && value !== null) {
    if (path.length >= LIMITS.depth) {
      problems.push(limit(pointer(...path), `the envelope is nested deeper than ${LIMITS.depth} levels`));
    } else if (!isOversized(value)) return visitMembers(value, search);
  }
  return problems.length < PROBLEMS_MAX;
}

function visitMembers(value: object, search: Search): boolean {
  const names = Object.keys(value);
  if (!Array.isArray(value)) {
    for (const name of names) {
      search.bytes += name.length + 3;
      checkValue(name, search);
    }
  }
  if (search.problems.length >= PROBLEMS_MAX) return false;
  for (const name of names) {
    search.path.push(name);
    const goOn = visit((value as Record<string, unknown>)[name], search);
    search.path.pop();
    if (!goOn) return false;
  }
  return true;
}

function checkValue(value: unknown, { problems, path }: Search): void {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) {
        problems.push(parse(pointer(...path), 'a text holds half of a character (a lone surrogate)'));
      } else if (value.length * 3 > LIMITS.stringBytes && utf8Length(value) > LIMITS.stringBytes) {
        problems.push(limit(pointer(...path), `a text is longer than ${LIMITS.stringBytes} bytes`));
      }
      return;
    case 'number':
      if (!Number.isFinite(value)) problems.push(parse(pointer(...path), 'a number is not finite'));
      return;
    case 'object':
      if (value !== null && isOversized(value)) {
        problems.push(limit(pointer(...path), `a list has more than ${LIMITS.arrayItems} items`));
      }
      return;
    case 'boolean':
      return;
    default:
      problems.push(parse(pointer(...path), `${nameOfType(value)} is not a JSON value`));
  }
}

function isOversized(value: object): boolean {
  return Array.isArray(value) && value.length > LIMITS.arrayItems;
}

function longHistory(root: unknown): Problem[] {
  const context = isObject(root) ? root.context : undefined;
  const state = isObject(context) ? context.state : undefined;
  const history = isObject(state) ? state.conversation_history : undefined;
  if (!Array.isArray(history) || history.length <= LIMITS.historyItems) return [];
  const message = `the history has more than ${LIMITS.historyItems} items`;
  return [limit('/context/state/conversation_history', message)];
}

/** Quotes and a separator, or one digit and a separator. */
function leastBytes(value: unknown): number {
  return typeof value === 'string' ? value.length + 3 : 2;
}

function limit(at: string, message: string): Problem {
  return { code: 'LIMIT_EXCEEDED', pointer: at, message };
}

function parse(at: string, message: string): Problem {
  return { code: 'PARSE', pointer: at, message };
}
