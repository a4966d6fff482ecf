// Long texts leave a fact before it is written and come back when it is read: the fact keeps their digest, so that a
// text can be erased later without touching the chain. A text with half a character in it, which JSON can escape but
// neither canonical JSON nor UTF-8 can hold, is stored as its JSON. An object that merely looks like one of these is
// wrapped, so that nobody can have another fact's text read back by writing a reference into his own.
import { hash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';

const BLOB = '$blob';
const JSON_TEXT = '$json';
const LITERAL = '$literal';
/** Texts of more bytes than this are stored by digest. */
export const INLINE_BYTES_MAX = 256;
/** What a text reads as once it was erased. */
export const ERASED = '[erased]';

export type Blob = { readonly digest: string; readonly text: string };

/** What comes to light on the way through a value. */
export type Taken = {
  readonly blobs: Blob[];
  /** Whether some object's members stood in another order than the canonical one, or in one that JavaScript would change. */
  unordered: boolean;
};

export function digestOf(text: string): string {
  return `sha256:${hash('sha256', text, 'hex')}`;
}

/** The value as it is stored, and the texts taken out of it. */
export function dehydrate(value: Json, taken: Taken): Json {
  if (typeof value === 'string') return dehydrateText(value, taken.blobs);
  if (Array.isArray(value)) return value.map((element: Json) => dehydrate(element, taken));
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Error('a fact must be JSON, and no number is infinite there');
  if (!isObject(value)) return value;
  const stored: Record<string, Json> = {};
  let last = '';
  for (const key in value) {
    if (!key.isWellFormed()) return asJsonText(value, taken.blobs);
    const member = value[key];
    if (member === undefined) continue;
    if (key < last || startsWithDigit(key)) taken.unordered = true;
    last = key;
    define(stored, key, dehydrate(member, taken));
  }
  return BLOB in stored || JSON_TEXT in stored || LITERAL in stored ? { [LITERAL]: stored } : stored;
}

export function hydrate(value: Json, textOf: (digest: string) => string | null): Json {
  if (Array.isArray(value)) return value.map((element: Json) => hydrate(element, textOf));
  if (!isObject(value)) return value;
  if (typeof value[BLOB] === 'string') return textOf(value[BLOB]) ?? ERASED;
  if (JSON_TEXT in value) return fromJsonText(hydrate(value[JSON_TEXT] as Json, textOf));
  const inner = LITERAL in value && isObject(value[LITERAL]) ? value[LITERAL] : value;
  const read: Record<string, Json> = {};
  for (const key in inner) define(read, key, hydrate(inner[key] as Json, textOf));
  return read;
}

function dehydrateText(text: string, blobs: Blob[]): Json {
  if (!text.isWellFormed()) return asJsonText(text, blobs);
  return isLong(text) ? reference(text, blobs) : text;
}

function asJsonText(value: Json, blobs: Blob[]): JsonObject {
  return { [JSON_TEXT]: dehydrateText(JSON.stringify(value), blobs) };
}

function fromJsonText(text: Json): Json {
  return text === ERASED ? ERASED : (JSON.parse(String(text)) as Json);
}

// JavaScript puts members that look like numbers first, whatever order they were given in.
function startsWithDigit(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 48 && first <= 57;
}

function isLong(text: string): boolean {
  if (text.length > INLINE_BYTES_MAX) return true;
  return text.length * 3 > INLINE_BYTES_MAX && Buffer.byteLength(text) > INLINE_BYTES_MAX;
}

function reference(text: string, blobs: Blob[]): JsonObject {
  const digest = digestOf(text);
  blobs.push({ digest, text });
  return { [BLOB]: digest, bytes: Buffer.byteLength(text) };
}

/** A member named `__proto__` is a member like any other. */
function define(target: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}
