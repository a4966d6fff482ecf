// Long texts leave a fact before it is written and come back when it is read: the fact keeps their digest, so that a
// text can be erased later without touching the chain. A text with half a character in it, which JSON can escape but
// neither canonical JSON nor UTF-8 can hold, is stored as its JSON. An object that merely looks like one of these is
// wrapped, so that nobody can have another fact's text read back by writing a reference into his own.
//
// Taking texts out and writing RFC 8785 canonical JSON is one walk: every fact of every cast takes it.
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { parseJson } from '../kernel/parse-json.ts';

const BLOB = '$blob';
const JSON_TEXT = '$json';
const LITERAL = '$literal';
/** Texts of more bytes than this are stored by digest. */
export const INLINE_BYTES_MAX = 256;
/** What a text reads as once it was erased. */
export const ERASED = '[erased]';
/** Names of members are written over and over; so many are kept in quotes. */
const NAMES_MAX = 2_000;

export type Blob = { readonly digest: string; readonly text: string };

/** What stands in the line for a text that lies beside it. */
export type Reference = { readonly digest: string; readonly bytes: number };

/** Reads what a digest stands for; null where the text was erased. */
export type TextOf = (digest: string) => string | null;

export function textDigest(text: string): string {
  return `sha256:${sha256(text)}`;
}

/** The canonical JSON of an object without the members named in `omitted`. The texts taken out of it join `blobs`. */
export function dehydrate(value: JsonObject, blobs: Blob[], omitted: readonly string[] = []): string {
  const names = Object.keys(value);
  if (!isSorted(names)) names.sort();
  let text = '';
  let looksStored = false;
  const before = blobs.length;
  for (const name of names) {
    const member = value[name];
    if (member === undefined || omitted.includes(name)) continue;
    const quotedName = nameOf(name);
    if (quotedName === null) {
      // The whole object becomes one text, and those that were taken out of it so far belong to nobody.
      blobs.length = before;
      return asJsonText(value, blobs);
    }
    if (name === BLOB || name === JSON_TEXT || name === LITERAL) looksStored = true;
    text += `${text === '' ? '' : ','}${quotedName}:${writtenValue(member, blobs)}`;
  }
  return looksStored ? `{"${LITERAL}":{${text}}}` : `{${text}}`;
}

/** Brings the texts back. With `shownOf`, what it gives takes the place of each of them. */
export function hydrate(value: Json, textOf: TextOf, shownOf?: (reference: Reference) => Json): Json {
  if (Array.isArray(value)) return value.map((element: Json) => hydrate(element, textOf, shownOf));
  if (!isObject(value)) return value;
  if (typeof value[BLOB] === 'string') {
    const reference = shownOf ? referenceIn(value) : null;
    return reference && shownOf ? shownOf(reference) : (textOf(value[BLOB]) ?? ERASED);
  }
  if (JSON_TEXT in value) return fromJsonText(hydrate(value[JSON_TEXT] as Json, textOf));
  const inner = LITERAL in value && isObject(value[LITERAL]) ? value[LITERAL] : value;
  const read: Record<string, Json> = {};
  for (const key in inner) define(read, key, hydrate(inner[key] as Json, textOf, shownOf));
  return read;
}

/** The reference that stands for a long text; null where the value is something else. */
export function referenceIn(value: Json | undefined): Reference | null {
  if (!isObject(value) || typeof value[BLOB] !== 'string' || typeof value.bytes !== 'number') return null;
  return { digest: value[BLOB], bytes: value.bytes };
}

/** A text as canonical JSON. */
export function jsonString(text: string): string {
  return SPECIAL.test(text) ? JSON.stringify(text) : `"${text}"`;
}

// What JSON has to escape, and every half of a character: a text without them is written as it is.
const SPECIAL = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

function writtenValue(value: Json, blobs: Blob[]): string {
  if (typeof value === 'string') return writtenText(value, blobs);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error('a fact must be JSON, and no number is infinite there');
    return String(value);
  }
  if (Array.isArray(value)) return `[${value.map((element: Json) => writtenValue(element, blobs)).join(',')}]`;
  return isObject(value) ? dehydrate(value, blobs) : String(value ?? null);
}

function writtenText(text: string, blobs: Blob[]): string {
  if (isLong(text)) return text.isWellFormed() ? reference(text, blobs) : asJsonText(text, blobs);
  if (!SPECIAL.test(text)) return `"${text}"`;
  return text.isWellFormed() ? JSON.stringify(text) : asJsonText(text, blobs);
}

function asJsonText(value: Json, blobs: Blob[]): string {
  return `{"${JSON_TEXT}":${writtenText(JSON.stringify(value), blobs)}}`;
}

function fromJsonText(text: Json): Json {
  return text === ERASED ? ERASED : parseJson(String(text));
}

function reference(text: string, blobs: Blob[]): string {
  const digest = textDigest(text);
  blobs.push({ digest, text });
  return `{"${BLOB}":"${digest}","bytes":${Buffer.byteLength(text)}}`;
}

function isLong(text: string): boolean {
  if (text.length > INLINE_BYTES_MAX) return true;
  return text.length * 3 > INLINE_BYTES_MAX && Buffer.byteLength(text) > INLINE_BYTES_MAX;
}

function isSorted(names: readonly string[]): boolean {
  for (let index = 1; index < names.length; index++) {
    if ((names[index] as string) < (names[index - 1] as string)) return false;
  }
  return true;
}

const quotedNames = new Map<string, string>();

/** The name in quotes, or null where it holds half a character. */
function nameOf(name: string): string | null {
  const known = quotedNames.get(name);
  if (known !== undefined) return known;
  if (!name.isWellFormed()) return null;
  const text = jsonString(name);
  if (quotedNames.size < NAMES_MAX && name.length <= INLINE_BYTES_MAX) quotedNames.set(name, text);
  return text;
}

/** A member named `__proto__` is a member like any other. */
function define(target: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

// The digest of a text. Node's own library for it takes longer to load than many a command runs, and whoever only reads the
// log needs no digest; so it is loaded when the first one is asked for.
let crypto: typeof import('node:crypto') | undefined;

export function sha256(text: string): string {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto.hash('sha256', text, 'hex');
}
