// The canonical text of a JSON value (RFC 8785): members in the order of their names, no white space. Every verdict
// needs two such texts, one of them a part of the other, so this writer keeps the part while it writes the whole.
// What is not plain JSON data, like an object of a class, it leaves to the library that knows how to treat it.
import canonicalize from 'canonicalize';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { ENVELOPE_SCHEMA, type Schema } from './schema.ts';

/** Undefined for what has no canonical text, such as a value with half a character in a string. */
export type CanonicalTexts = { readonly whole: string | undefined; readonly part: string | undefined };

/**
 * The texts of a value and of one object somewhere inside it. `isVerbatim` promises that no string and no name in it
 * needs an escape, so that they are not searched for one.
 */
export function canonicalTexts(value: Json, part: object | null, isVerbatim = false): CanonicalTexts {
  const writer: Writer = { part, partStart: -1, partEnd: -1, isVerbatim, isSure: true };
  const whole = write('', value, 0, writer);
  if (!writer.isSure) return { whole: byLibrary(value), part: part === null ? undefined : byLibrary(part) };
  return { whole, part: writer.partStart < 0 ? undefined : whole.slice(writer.partStart, writer.partEnd) };
}

function byLibrary(value: Json | object): string | undefined {
  try {
    return canonicalize(value);
  } catch {
    return undefined;
  }
}

type Writer = {
  readonly part: object | null;
  partStart: number;
  partEnd: number;
  readonly isVerbatim: boolean;
  isSure: boolean;
};

/** Deeper than any text we read; a value that contains itself ends here too. */
const DEPTH_MAX = 200;

// Each of these answers the text before with the value's own text behind it.
function write(before: string, value: Json, depth: number, writer: Writer): string {
  if (typeof value === 'string') return before + quoted(value, writer);
  if (typeof value === 'object' && value !== null && depth <= DEPTH_MAX) {
    const text = Array.isArray(value)
      ? writeList(before, value, depth, writer)
      : writeObject(before, value as JsonObject, depth, writer);
    if (value === writer.part) {
      writer.partStart = before.length;
      writer.partEnd = text.length;
    }
    return text;
  }
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return before + String(value);
  writer.isSure = false;
  return before;
}

function writeList(before: string, list: readonly Json[], depth: number, writer: Writer): string {
  let text = `${before}[`;
  for (let index = 0; index < list.length && writer.isSure; index++) {
    text = write(index > 0 ? `${text},` : text, list[index] as Json, depth + 1, writer);
  }
  return `${text}]`;
}

function writeObject(before: string, object: JsonObject, depth: number, writer: Writer): string {
  if (Object.getPrototypeOf(object) !== Object.prototype) writer.isSure = false;
  let text = before;
  let mark = '{';
  for (const name of sorted(Object.keys(object))) {
    if (!writer.isSure) break;
    text += mark + (NAMES.get(name) ?? `${quoted(name, writer)}:`);
    text = write(text, object[name] as Json, depth + 1, writer);
    mark = ',';
  }
  return mark === '{' ? `${text}{}` : `${text}}`;
}

// No quote, no backslash, no control character, no half of a character: stands in JSON as it is.
const AS_IT_IS = /^[ !#-[\]-~\u0080-\uD7FF\uE000-\uFFFF]*$/;

function quoted(text: string, writer: Writer): string {
  if (writer.isVerbatim || AS_IT_IS.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) writer.isSure = false;
  return JSON.stringify(text);
}

// The names every envelope has need not be quoted again and again.
const NAMES: ReadonlyMap<string, string> = new Map(namesIn(ENVELOPE_SCHEMA).map((name) => [name, `"${name}":`]));

function namesIn({ properties = {} }: Schema): string[] {
  return Object.entries(properties).flatMap(([name, member]) => [name, ...namesIn(member)]);
}

const FEW = 16;

// By UTF-16 code units, as both comparisons here go. For a few names the plainest way is the fastest by far.
function sorted(names: string[]): string[] {
  if (names.length > FEW) return names.sort();
  for (let index = 1; index < names.length; index++) {
    const name = names[index] as string;
    let free = index;
    for (; free > 0 && (names[free - 1] as string) > name; free--) names[free] = names[free - 1] as string;
    names[free] = name;
  }
  return names;
}
