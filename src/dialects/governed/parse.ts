// From a text, or a value somebody parsed already, to a value of strict JSON within limits. What passes here can be
// hashed, walked and matched without further thought about its size.
import { isObject, type Json, nameOfType } from '../../kernel/json.ts';
import { utf8Length } from '../../kernel/utf8-length.ts';
import { parseJsonText } from '../json-text.ts';
import { PROBLEMS_MAX, type Problem, pointer } from './problem.ts';

export const LIMITS = {
  textBytes: 1_048_576,
  depth: 32,
  arrayItems: 10_000,
  stringBytes: 262_144,
  historyItems: 1_000,
} as const;

export type Parsed = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problems: Problem[] };

/** A string is the exact text of an envelope; anything else is an envelope already parsed. */
export function parseEnvelope(input: unknown): Parsed {
  if (typeof input !== 'string') return within(input);
  const reading = parseJsonText(input, { maxBytes: LIMITS.textBytes });
  if (reading.ok) return within(reading.value);
  // A member that reaches for a prototype is refused by the injection rules, in its place among the other checks.
  // The plain parser makes it an ordinary own member and changes no prototype.
  if (reading.kind === 'forbidden_key') return within(JSON.parse(input.replace(/^\uFEFF/, '')));
  const code = reading.kind === 'too_large' || reading.kind === 'too_deep' ? 'LIMIT_EXCEEDED' : 'PARSE';
  const message = `${reading.message} (line ${reading.line}, column ${reading.column})`;
  return { ok: false, problems: [{ code, pointer: '', message }] };
}

type Place = { readonly value: unknown; readonly depth: number; readonly at: string };

// Without recursion, and counting the least text each value needs, so that neither depth nor a value that contains
// itself can exhaust the stack or the clock.
function within(root: unknown): Parsed {
  const problems: Problem[] = [];
  const stack: Place[] = [{ value: root, depth: 1, at: '' }];
  let bytes = 0;
  for (let place = stack.pop(); place; place = stack.pop()) {
    const { value, depth, at } = place;
    bytes += leastBytes(value);
    if (bytes > LIMITS.textBytes) {
      problems.push(limit('', `the envelope is larger than ${LIMITS.textBytes} bytes`));
      break;
    }
    problems.push(...faultsOf(value, at));
    if (typeof value === 'object' && value !== null) {
      if (depth > LIMITS.depth) problems.push(limit(at, `the envelope is nested deeper than ${LIMITS.depth} levels`));
      else if (!isOversized(value)) bytes += push(stack, value, depth, at, problems);
    }
    if (problems.length >= PROBLEMS_MAX) break;
  }
  problems.push(...longHistory(root));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: root as Json };
}

function push(stack: Place[], value: object, depth: number, at: string, problems: Problem[]): number {
  let bytes = 0;
  // From the last to the first: the stack then yields them in the order of the text.
  for (const [key, member] of Object.entries(value).reverse()) {
    if (!Array.isArray(value)) {
      bytes += key.length + 3;
      problems.push(...faultsOf(key, at));
    }
    stack.push({ value: member, depth: depth + 1, at: `${at}${pointer(key)}` });
  }
  return bytes;
}

function faultsOf(value: unknown, at: string): Problem[] {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) return [parse(at, 'a text holds half of a character (a lone surrogate)')];
      if (value.length * 3 > LIMITS.stringBytes && utf8Length(value) > LIMITS.stringBytes) {
        return [limit(at, `a text is longer than ${LIMITS.stringBytes} bytes`)];
      }
      return [];
    case 'number':
      return Number.isFinite(value) ? [] : [parse(at, 'a number is not finite')];
    case 'object':
      return value !== null && isOversized(value) ? [limit(at, `a list has more than ${LIMITS.arrayItems} items`)] : [];
    case 'boolean':
      return [];
    default:
      return [parse(at, `${nameOfType(value)} is not a JSON value`)];
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

// Quotes and a separator, or one digit and a separator.
function leastBytes(value: unknown): number {
  return typeof value === 'string' ? value.length + 3 : 2;
}

function limit(at: string, message: string): Problem {
  return { code: 'LIMIT_EXCEEDED', pointer: at, message };
}

function parse(at: string, message: string): Problem {
  return { code: 'PARSE', pointer: at, message };
}
