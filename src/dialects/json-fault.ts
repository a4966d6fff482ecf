// Finds the first place where a text is not the JSON we accept, and says in our own words what is wrong there.
// It walks the grammar without recursion, so nesting costs memory and never stack, and it reads each character once.
// It runs only after a parse was refused: speed on good input is not its business, a useful position is.

export type FaultKind = 'syntax' | 'too_deep' | 'duplicate_key' | 'forbidden_key';
/** `offset` counts UTF-16 code units from the start of the text. */
export type Fault = { readonly kind: FaultKind; readonly message: string; readonly offset: number };

type Frame = { readonly keys: Set<string> | null; readonly under: string; key: string };
type Step = { readonly next: number } | Fault;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /(?:true|false|null)/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const KEY_SHOWN_MAX = 40;

/** The first fault of the text, or null. A fault of syntax wins over a key that is written twice or forbidden. */
export function findFault(text: string): Fault | null {
  const stack: Frame[] = [];
  let keyFault: Fault | null = null;
  let at = skipSpace(text, text.charCodeAt(0) === 0xfeff ? 1 : 0);
  for (;;) {
    // A value stands here. Opening one leads to its first member; anything else is read whole.
    const opener = text[at];
    if (opener === '{' || opener === '[') {
      stack.push({ keys: opener === '{' ? new Set() : null, under: stack.at(-1)?.key ?? '', key: '' });
      at = skipSpace(text, at + 1);
      if (text[at] !== closerOf(stack)) {
        if (opener === '[') continue;
        const key = readKey(text, at, stack, false);
        if (!('next' in key)) return key;
        keyFault ??= faultOfKey(stack, at);
        at = key.next;
        continue;
      }
    } else {
      const scalar = readScalar(text, at, stack);
      if (!('next' in scalar)) return scalar;
      at = skipSpace(text, scalar.next);
    }
    // A value has ended, or an empty container stands before its closer. Close what closes, then find the next value.
    while (stack.length > 0 && text[at] === closerOf(stack)) {
      stack.pop();
      at = skipSpace(text, at + 1);
    }
    const frame = stack.at(-1);
    if (!frame) return at === text.length ? keyFault : syntax(at, 'there is more text after the end of the JSON value');
    if (text[at] !== ',') return missingComma(text, at, stack);
    at = skipSpace(text, at + 1);
    if (frame.keys) {
      const key = readKey(text, at, stack, true);
      if (!('next' in key)) return key;
      keyFault ??= faultOfKey(stack, at);
      at = key.next;
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

function readKey(text: string, at: number, stack: readonly Frame[], afterComma: boolean): Step {
  if (at >= text.length) return ended(text, stack);
  if (afterComma && text[at] === '}') return syntax(at, 'a comma before a closing brace is not allowed');
  if (text[at] !== '"') return syntax(at, 'expected a key in double quotes');
  const string = readString(text, at);
  if (!('next' in string)) return string;
  const colon = skipSpace(text, string.next);
  if (colon >= text.length) return ended(text, stack);
  if (text[colon] !== ':') return syntax(colon, 'expected a colon after the key');
  const frame = stack.at(-1);
  if (frame) frame.key = decode(text.slice(at, string.next));
  return { next: skipSpace(text, colon + 1) };
}

/** What is wrong with the key just read, beside its syntax. Remembers the key. */
function faultOfKey(stack: readonly Frame[], offset: number): Fault | null {
  const { keys, key, under } = stack.at(-1) ?? { keys: null, key: '', under: '' };
  if (key === '__proto__' || (key === 'prototype' && under === 'constructor')) {
    return { kind: 'forbidden_key', offset, message: `the key ${show(key)} is not allowed here` };
  }
  if (keys?.has(key)) {
    return { kind: 'duplicate_key', offset, message: `the key ${show(key)} is written twice in one object` };
  }
  keys?.add(key);
  return null;
}

function readScalar(text: string, at: number, stack: readonly Frame[]): Step {
  const first = text[at];
  if (first === undefined) return stack.length === 0 ? syntax(at, 'the text is empty') : ended(text, stack);
  if (first === '"') return readString(text, at);
  const literal = skip(LITERAL, text, at);
  if (literal > at) return { next: literal };
  const number = skip(NUMBER, text, at);
  if (number > at) {
    if (Number.isFinite(Number(text.slice(at, number)))) return { next: number };
    return syntax(at, 'a number is too large');
  }
  if (first === "'") return syntax(at, 'a string must stand in double quotes');
  if (first === '-' || first === '+' || first === '.') return syntax(at, 'a number is not written as JSON wants it');
  return syntax(at, 'expected a value');
}

function readString(text: string, start: number): Step {
  let at = start + 1;
  for (;;) {
    while (isPlain(text.charCodeAt(at))) at++;
    if (at >= text.length) return syntax(start, 'a string is not closed');
    if (text[at] === '"') return { next: at + 1 };
    if (text[at] !== '\\')
      return syntax(at, 'a line break or control character in a string must be escaped, as in \\n');
    const after = skip(ESCAPE, text, at);
    if (after === at) return syntax(at, 'a backslash in a string starts no known escape; write \\\\ for a backslash');
    at = after;
  }
}

// Not a quote, a backslash or a control character; false also for NaN, beyond the end.
function isPlain(code: number): boolean {
  return code >= 0x20 && code !== 0x22 && code !== 0x5c;
}

function missingComma(text: string, at: number, stack: readonly Frame[]): Fault {
  if (at >= text.length) return ended(text, stack);
  return syntax(at, `expected a comma or a closing ${stack.at(-1)?.keys ? 'brace' : 'bracket'}`);
}

function ended(text: string, stack: readonly Frame[]): Fault {
  return syntax(text.length, `the text ends before ${stack.at(-1)?.keys ? 'an object' : 'an array'} is closed`);
}

function closerOf(stack: readonly Frame[]): string {
  return stack.at(-1)?.keys ? '}' : ']';
}

function syntax(offset: number, message: string): Fault {
  return { kind: 'syntax', offset, message };
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function decode(literal: string): string {
  return literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
}

function show(key: string): string {
  return JSON.stringify(key.length > KEY_SHOWN_MAX ? `${key.slice(0, KEY_SHOWN_MAX)}…` : key);
}
