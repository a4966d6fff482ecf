// An entry as it is stored: one line of RFC 8785 canonical JSON that holds the leaf hash of the line before it.
// leaf = SHA-256(0x00 ‖ line), as in RFC 6962, so that Merkle proofs can be made over the same leaves.
//
// Long texts are stored next to the line. The fact keeps their digest, so that a text can be erased later without changing the
// chain. A text with half a character, which JSON can escape but canonical JSON and UTF-8 cannot hold, is stored as its JSON. An
// object that only looks like a stored text is wrapped, so that a fact cannot quote the text of another one by its digest.
import type { Append, Query } from '../engine/ports.ts';
import { type Entry, FACT_VERSION, type Fact } from '../kernel/fact.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../kernel/json.ts';
import { isSorted } from './stored-line.ts';

/** The previous hash of the first entry. */
export const NO_PREV = '0'.repeat(64);

/** The length of the preview of a text that is not read. */
export const BEGINNING_CHARS = 200;

export type LogLine = {
  readonly entry: Entry;
  readonly line: string;
  readonly leaf: string;
  readonly blobs: readonly Blob[];
};

/** Members of a fact that the line has outside of its body. */
const OUTSIDE_BODY = ['cast', 'kind'];

export function leafHash(line: string): string {
  return sha256(`\0${line}`);
}

/** Puts a fact at its place in the chain. */
export function chain(
  { fact, by, at, clock, ranMs, once }: Append,
  seq: number,
  prev: string,
  lastAt: string,
): LogLine {
  const stamp = stampOf(at);
  const keys = once && once.length > 0 ? { once: onceKeys(once) } : {};
  // Time never runs backwards in the log, even if the clock of a process does.
  const time = { at: stamp < lastAt ? lastAt : stamp, ...(clock === undefined ? {} : { clock: stampOf(clock) }) };
  const ran = ranMs === undefined ? {} : { ranMs };
  const entry: Entry = { v: FACT_VERSION, seq, ...time, ...ran, prev, by, ...keys, fact };
  const blobs: Blob[] = [];
  const line = lineOf(entry, blobs);
  return { entry, line, leaf: leafHash(line), blobs };
}

/** The stored form of a key. Half a character becomes the replacement character. */
export function onceKey(key: string): string {
  return key.toWellFormed();
}

/** A text as it is written inside JSON. */
export function escapedKey(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

export function usedTwice(key: string, seq: number): Error {
  return new Error(`the key ${key} was used up by entry ${seq}`);
}

/** Which texts are left out. A reference with a preview takes their place. */
type Away = { readonly which: 'briefs' | 'texts'; readonly beginningOf: TextOf };

/** What a query leaves out, or undefined. */
export function awayOf({ briefs, texts }: Query, beginningOf: TextOf): Away | undefined {
  if (texts === 'digest') return { which: 'texts', beginningOf };
  return briefs === 'digest' ? { which: 'briefs', beginningOf } : undefined;
}

/** The entry of a line. `textOf` reads a text by its digest. */
export function entryFromLine(line: string, textOf: TextOf, away?: Away): Entry {
  const { v, seq, at, clock, ranMs, prev, by, kind, cast, once, body } = parseJson(line) as JsonObject & {
    body: Json;
  };
  const shownOf = (reference: Reference) => ({
    ...reference,
    seq: seq as number,
    preview: away?.beginningOf(reference.digest) ?? ERASED,
  });
  const isOfAttempt = away?.which === 'briefs' && kind === 'attempt.started' && isObject(body);
  const brief = isOfAttempt ? referenceIn(body.brief) : null;
  const rest = brief ? { ...(body as JsonObject), brief: '' } : body;
  const texts = hydrate(rest, textOf, away?.which === 'texts' ? shownOf : undefined) as JsonObject;
  const named = brief && { brief: shownOf(brief) };
  const fact = { kind, ...(cast === undefined ? {} : { cast }), ...texts, ...named };
  const time = { at, ...(clock === undefined ? {} : { clock }), ...(ranMs === undefined ? {} : { ranMs }) };
  return { v, seq, ...time, prev, by, ...(once === undefined ? {} : { once }), fact } as unknown as Entry;
}

/** Members in canonical order. */
function lineOf({ v, seq, at, clock, ranMs, prev, by, once, fact }: Entry, blobs: Blob[]): string {
  const { kind, cast } = fact as Fact & { cast?: string };
  const body = dehydrate(fact as unknown as JsonObject, blobs, OUTSIDE_BODY);
  const ofCast = cast === undefined ? '' : `,"cast":${jsonString(cast)}`;
  const ownClock = clock === undefined ? '' : `,"clock":"${clock}"`;
  const keys = once === undefined ? '' : `,"once":[${once.map(jsonString).join(',')}]`;
  const ran = ranMs === undefined ? '' : `,"ranMs":${ranMs}`;
  return `{"at":"${at}","body":${body},"by":${jsonString(by)}${ofCast}${ownClock},"kind":${jsonString(kind)}${keys},"prev":"${prev}"${ran},"seq":${seq},"v":${v}}`;
}

function onceKeys(once: readonly string[]): readonly string[] {
  return once.map(onceKey).sort();
}

let lastStamp = { at: Number.NaN, text: '' };

/** Most facts of one batch have the same time. */
function stampOf(at: number): string {
  if (at !== lastStamp.at) lastStamp = { at, text: new Date(at).toISOString() };
  return lastStamp.text;
}

const BLOB = '$blob';
const JSON_TEXT = '$json';
const LITERAL = '$literal';
/** Texts of more bytes than this are stored by digest. */
const INLINE_BYTES_MAX = 256;
/** The content of an erased text. */
export const ERASED = '[erased]';
/** The number of member names that are kept in their quoted form, because they repeat. */
const NAMES_MAX = 2_000;

export type Blob = { readonly digest: string; readonly text: string };

/** What the line has in the place of a long text. */
export type Reference = { readonly digest: string; readonly bytes: number };

/** Reads the text of a digest. Null if it was erased. */
type TextOf = (digest: string) => string | null;

export function textDigest(text: string): string {
  return `sha256:${sha256(text)}`;
}

/**
 * The canonical JSON of an object without the members named in `omitted`. Long texts are added to `blobs`. One walk does both, because
 * every fact takes it.
 */
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
      // The whole object becomes one text, so the texts taken out of it so far are dropped.
      blobs.length = before;
      return asJsonText(value, blobs);
    }
    if (name === BLOB || name === JSON_TEXT || name === LITERAL) looksStored = true;
    text += `${text === '' ? '' : ','}${quotedName}:${writtenValue(member, blobs)}`;
  }
  return looksStored ? `{"${LITERAL}":{${text}}}` : `{${text}}`;
}

/** Puts the texts back. With `shownOf`, its result takes the place of each text. */
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

/** The reference to a long text, or null for any other value. */
function referenceIn(value: Json | undefined): Reference | null {
  if (!isObject(value) || typeof value[BLOB] !== 'string' || typeof value.bytes !== 'number') return null;
  return { digest: value[BLOB], bytes: value.bytes };
}

/** A text as canonical JSON. */
function jsonString(text: string): string {
  return SPECIAL.test(text) ? JSON.stringify(text) : `"${text}"`;
}

// Characters that JSON escapes, and halves of characters. A text without them is written unchanged.
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

const quotedNames = new Map<string, string>();

/** The name in quotes, or null if it holds half a character. */
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

// Loaded with the first digest: loading it takes longer than many commands run, and reading the log needs no digest.
let crypto: typeof import('node:crypto') | undefined;

export function sha256(text: string): string {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto.hash('sha256', text, 'hex');
}
