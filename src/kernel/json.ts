// JSON values: what they are, how to read members, when two are equal, the form in which the log keeps them, and the reader
// of our own JSON.
import { wellFormed } from './text.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** A string with something in it besides white space. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

export function isPositiveInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** Whether two values have the same canonical JSON: the order of members does not matter. */
export function isSameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as JsonObject, b as JsonObject];
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSameJson(left[key], right[key]))
  );
}

/** What a value is, in the words a person uses in an error message. */
export function nameOfType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  switch (typeof value) {
    case 'object':
      return 'an object';
    case 'undefined':
      return 'nothing';
    default:
      return `a ${typeof value}`;
  }
}

/** One text for one JSON value, whatever the order of its members. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
}

/** A member of an object. `null` counts as absent: a layer of the configuration deletes a value with it. */
export function given(object: JsonObject, key: string): Json | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return value === null ? undefined : value;
}

/** A member that is an object, and an empty object for every other value. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = given(object, key);
  return isObject(value) ? value : {};
}

export function stringAt(object: JsonObject, key: string): string | null {
  const value = given(object, key);
  return typeof value === 'string' ? value : null;
}

export function listAt(object: JsonObject, key: string): readonly Json[] {
  const value = given(object, key);
  return Array.isArray(value) ? value : [];
}

/**
 * A value as the log gives it back: members sorted, no lone surrogates, no negative zero. Facts take this form before they are
 * applied, so the live state equals the replayed one.
 */
export function stored<T>(value: T): T {
  return inForm(value) as T;
}

function inForm(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value === 'number') return value === 0 ? 0 : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inForm);
  const members = value as Readonly<Record<string, unknown>>;
  const form: Record<string, unknown> = {};
  let isRenamed = false;
  const keys = Object.keys(members);
  if (!isSorted(keys)) keys.sort();
  for (const key of keys) {
    const member = members[key];
    if (member === undefined) continue;
    const name = wellFormed(key);
    isRenamed ||= name !== key;
    define(form, name, inForm(member));
  }
  // A repaired name may sort differently.
  return isRenamed ? inForm(form) : form;
}

function isSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++)
    if ((keys[index] as string) < (keys[index - 1] as string)) return false;
  return true;
}

/** A member named `__proto__` is a member like any other. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}

/** A string, and the colon that makes it a name. */
const STRING = /"(?:[^"\\]|\\.)*"(:?)/g;
/** Starts the marks. A name that starts so itself gets a mark as well. */
const MARK = '\uE000';

/**
 * Reads JSON that we wrote. JSON.parse of Node 24 has a fault: after an object with a name that ends in a backslash, it can
 * misread an escaped name at the same place. File names are names in the log, so agents could choose both. Such names get
 * marks before the text is parsed.
 */
export function parseJson(text: string): Json {
  if (!text.includes('\\')) return JSON.parse(text);
  const names: string[] = [];
  const marked = text.replace(STRING, (string, colon: string) => {
    if (colon === '' || !(string.includes('\\') || string.startsWith(`"${MARK}`))) return string;
    names.push(JSON.parse(string.slice(0, -1)));
    return `"${MARK}${names.length - 1}":`;
  });
  return names.length === 0 ? JSON.parse(text) : named(JSON.parse(marked), names);
}

/** The value with the names in the place of their marks, in the order of the text. */
function named(value: Json, names: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((element) => named(element, names));
  if (typeof value !== 'object' || value === null) return value;
  const nameOf = (key: string) => (key.startsWith(MARK) ? (names[Number(key.slice(1))] as string) : key);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [nameOf(key), named(member, names)]));
}
