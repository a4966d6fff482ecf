// Finds the first fault of a JSON text without building its value: broken syntax, too many levels, a key that is written
// twice, or a key that is forbidden.

export type JsonFaultKind = 'syntax' | 'too_deep' | 'duplicate_key' | 'forbidden_key';
/** `offset` counts UTF-16 code units from the start of the text. */
export type JsonFault = { readonly kind: JsonFaultKind; readonly message: string; readonly offset: number };

/** An open list, or an open object with the keys it has so far. `many` takes over when they are too many to look through. */
type Frame = { readonly keys: string[] | null; many: Set<string> | null; readonly under: string; key: string };
/** The place after what was read, or what is wrong with it. */
type Step = number | JsonFault;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /(?:true|false|null)/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** A backslash or a control character. */
const NEEDS_CARE = /[^ -[\]-\uffff]/;
const KEY_SHOWN_MAX = 40;
const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The first fault of the text, or null. A fault of syntax wins over a key that is written twice or forbidden. */
export function findFault(text: string): JsonFault | null {
  const stack: Frame[] = [];
  // Where nothing in the whole text is escaped or must be, a string ends at the next quote.
  const isSimple = !NEEDS_CARE.test(text);
  let top: Frame | undefined;
  let keyFault: JsonFault | null = null;
  let at = skipSpace(text, text.charCodeAt(0) === 0xfeff ? 1 : 0);
  for (;;) {
    // Reads a value. An opening leads to its first member; anything else is read whole.
    const opener = text.charCodeAt(at);
    if (opener === OPEN_BRACE || opener === OPEN_BRACKET) {
      const frame: Frame = { keys: opener === OPEN_BRACE ? [] : null, many: null, under: top?.key ?? '', key: '' };
      stack.push(frame);
      top = frame;
      at = skipSpace(text, at + 1);
      if (text.charCodeAt(at) !== closerOf(frame)) {
        if (!frame.keys) continue;
        const key = readKey(text, at, frame, false, isSimple);
        if (typeof key !== 'number') return key;
        keyFault ??= faultOfKey(frame, at);
        at = key;
        continue;
      }
    } else {
      const scalar = readScalar(text, at, top, isSimple);
      if (typeof scalar !== 'number') return scalar;
      at = skipSpace(text, scalar);
    }
    // After a value, or in an empty container before its closer: closes what closes, then finds the next value.
    while (top && text.charCodeAt(at) === closerOf(top)) {
      stack.pop();
      top = stack[stack.length - 1];
      at = skipSpace(text, at + 1);
    }
    if (!top) return at === text.length ? keyFault : syntax(at, 'there is more text after the end of the JSON value');
    if (text.charCodeAt(at) !== COMMA) return missingComma(text, at, top);
    at = skipSpace(text, at + 1);
    if (top.keys) {
      const key = readKey(text, at, top, true, isSimple);
      if (typeof key !== 'number') return key;
      keyFault ??= faultOfKey(top, at);
      at = key;
    } else if (text[at] === ']') {
      return syntax(at, 'a comma before a closing bracket is not allowed');
    }
  }
}

/** The offset of the first character from `at` on that is no white space of JSON. */
export function skipSpace(text: string, at: number): number {
  let next = at;
  for (;;) {
    const code = text.charCodeAt(next);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return next;
    next++;
  }
}

function readKey(text: string, at: number, frame: Frame, afterComma: boolean, isSimple: boolean): Step {
  if (at >= text.length) return ended(text, frame);
  if (afterComma && text.charCodeAt(at) === CLOSE_BRACE) {
    return syntax(at, 'a comma before a closing brace is not allowed');
  }
  if (text.charCodeAt(at) !== QUOTE) return syntax(at, 'expected a key in double quotes');
  const end = readString(text, at, isSimple);
  if (typeof end !== 'number') return end;
  const colon = skipSpace(text, end);
  if (colon >= text.length) return ended(text, frame);
  if (text.charCodeAt(colon) !== COLON) return syntax(colon, 'expected a colon after the key');
  const written = text.slice(at + 1, end - 1);
  frame.key = isSimple ? written : decode(written);
  return skipSpace(text, colon + 1);
}

/** The fault of the key just read, besides its syntax. Remembers the key. */
function faultOfKey(frame: Frame, offset: number): JsonFault | null {
  const { key, under } = frame;
  if (key === '__proto__' || (key === 'prototype' && under === 'constructor')) {
    return { kind: 'forbidden_key', offset, message: `the key ${show(key)} is not allowed here` };
  }
  if (isKnown(frame)) {
    return { kind: 'duplicate_key', offset, message: `the key ${show(key)} is written twice in one object` };
  }
  return null;
}

const FEW = 16;

function isKnown(frame: Frame): boolean {
  const { keys, key } = frame;
  if (!keys) return false;
  if (frame.many ? frame.many.has(key) : keys.includes(key)) return true;
  if (frame.many) frame.many.add(key);
  else if (keys.push(key) > FEW) frame.many = new Set(keys);
  return false;
}

function readScalar(text: string, at: number, frame: Frame | undefined, isSimple: boolean): Step {
  const first = text[at];
  if (first === undefined) return frame ? ended(text, frame) : syntax(at, 'the text is empty');
  if (first === '"') return readString(text, at, isSimple);
  const literal = skip(LITERAL, text, at);
  if (literal > at) return literal;
  const number = skip(NUMBER, text, at);
  if (number > at) {
    if (Number.isFinite(Number(text.slice(at, number)))) return number;
    return syntax(at, 'a number is too large');
  }
  if (first === "'") return syntax(at, 'a string must be in double quotes');
  if (first === '-' || first === '+' || first === '.') return syntax(at, 'a number is not written as JSON wants it');
  return syntax(at, 'expected a value');
}

function readString(text: string, start: number, isSimple: boolean): Step {
  if (isSimple) {
    const quote = text.indexOf('"', start + 1);
    return quote < 0 ? syntax(start, 'a string is not closed') : quote + 1;
  }
  let at = start + 1;
  for (;;) {
    while (isPlain(text.charCodeAt(at))) at++;
    if (at >= text.length) return syntax(start, 'a string is not closed');
    if (text.charCodeAt(at) === QUOTE) return at + 1;
    if (text[at] !== '\\')
      return syntax(at, 'a line break or control character in a string must be escaped, as in \\n');
    const after = skip(ESCAPE, text, at);
    if (after === at) return syntax(at, 'a backslash in a string starts no known escape; write \\\\ for a backslash');
    at = after;
  }
}

/** Not a quote, a backslash or a control character; false also for NaN, beyond the end. */
function isPlain(code: number): boolean {
  return code >= 0x20 && code !== 0x22 && code !== 0x5c;
}

function missingComma(text: string, at: number, frame: Frame): JsonFault {
  if (at >= text.length) return ended(text, frame);
  return syntax(at, `expected a comma or a closing ${frame.keys ? 'brace' : 'bracket'}`);
}

function ended(text: string, frame: Frame): JsonFault {
  return syntax(text.length, `the text ends before ${frame.keys ? 'an object' : 'an array'} is closed`);
}

function closerOf(frame: Frame): number {
  return frame.keys ? CLOSE_BRACE : CLOSE_BRACKET;
}

function syntax(offset: number, message: string): JsonFault {
  return { kind: 'syntax', offset, message };
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function decode(written: string): string {
  return written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written;
}

function show(key: string): string {
  return JSON.stringify(key.length > KEY_SHOWN_MAX ? `${key.slice(0, KEY_SHOWN_MAX)}…` : key);
}

/** Where the string that begins here ends, or -1. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x22) return at;
  }
  return -1;
}
