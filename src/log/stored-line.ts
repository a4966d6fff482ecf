// Reads one stored line as an auditor does: it must be the RFC 8785 form of an entry, byte for byte. It shares no code with the
// writer, so that a fault of the writer shows.
import { isObject, type Json, type JsonObject, parseJson } from '../kernel/json.ts';

export type StoredLine = {
  readonly seq: number;
  readonly at: string;
  readonly prev: string;
  readonly kind: string;
  readonly once: readonly string[];
  /** The fact with its texts still by digest. */
  readonly fact: JsonObject & { readonly kind: string };
  /** The digests of its long texts, in the order of the line. */
  readonly texts: readonly string[];
};

const NONE: readonly string[] = [];

/** The line, or null if it is not canonical or no entry. */
export function readStoredLine(line: string): StoredLine | null {
  try {
    const entry = parseJson(line);
    if (!isObject(entry)) return null;
    const { v, seq, at, prev, by, kind, cast, once, body } = entry;
    if (!Number.isSafeInteger(v) || !Number.isSafeInteger(seq) || typeof by !== 'string') return null;
    if (typeof at !== 'string' || typeof prev !== 'string' || typeof kind !== 'string' || !isObject(body)) return null;
    if (cast !== undefined && typeof cast !== 'string') return null;
    if (once !== undefined && !isListOfTexts(once)) return null;
    const texts: string[] = [];
    const inOrder = isInOrder(entry) && collect(body, texts);
    // `JSON.stringify` differs from RFC 8785 only in the order of members and in half characters.
    const isPlain = inOrder && !line.includes('\\ud') && JSON.stringify(entry) === line;
    if (!isPlain && canonical(entry) !== line) return null;
    // These members are part of the fact, and outside of the body in the line. The parsed value may be changed here.
    const fact = (isObject(body.$literal) ? body.$literal : body) as Record<string, Json> & { kind: string };
    fact.kind = kind;
    if (cast !== undefined) fact.cast = cast;
    return { seq: seq as number, at, prev, kind, once: once ?? NONE, fact, texts };
  } catch {
    // It is no JSON, holds half a character, or is nested too deeply.
    return null;
  }
}

/** RFC 8785. Throws on half a character, which has no canonical form. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return primitive(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${primitive(key)}:${canonical(value[key] as Json)}`);
  return `{${members.join(',')}}`;
}

function primitive(value: Json): string {
  if (typeof value === 'string' && !value.isWellFormed()) throw new Error('half a character has no canonical form');
  return JSON.stringify(value);
}

/** Walks a value as `hydrate` does. Returns whether all members are in order. */
function collect(value: Json, texts: string[]): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) {
    let inOrder = true;
    for (const element of value) inOrder = collect(element, texts) && inOrder;
    return inOrder;
  }
  const object = value as JsonObject;
  if (typeof object.$blob === 'string') {
    texts.push(object.$blob);
    return isInOrder(object);
  }
  const inner = isObject(object.$literal) && !('$json' in object) ? object.$literal : object;
  const names = Object.keys(inner);
  const inOrder = isSorted(names) && (inner === object || isInOrder(object));
  if (!inOrder) names.sort();
  let membersInOrder = inOrder;
  for (const name of names) membersInOrder = collect(inner[name] as Json, texts) && membersInOrder;
  return membersInOrder;
}

function isInOrder(value: JsonObject): boolean {
  return isSorted(Object.keys(value));
}

export function isSorted(names: readonly string[]): boolean {
  for (let index = 1; index < names.length; index++) {
    if ((names[index] as string) < (names[index - 1] as string)) return false;
  }
  return true;
}

function isListOfTexts(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((element) => typeof element === 'string');
}
