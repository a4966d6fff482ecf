// What a check found at one place of a payload: a code, the place and what to do about it.
import { isObject, type Json } from '../json.ts';

export type Finding = {
  /** `missing` and `invalid` break the contract; a `warning` never does. */
  readonly kind: 'missing' | 'invalid' | 'warning';
  readonly code: string;
  readonly path: string;
  readonly message: string;
};

const TEXT_CHARS_MAX = 200;

export function warning(code: string, path: string, message: string): Finding {
  return { kind: 'warning', code, path, message };
}

/** A value as text: strings as they are, anything else as JSON; bounded, because it is repeated to people and agents. */
export function textOf(value: Json): string {
  return bounded(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The path of a member or element; bounded, because keys may have any length and nesting repeats them. */
export function below(path: string, key: string | number): string {
  return path.endsWith('…') ? path : bounded(typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`);
}

function bounded(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX)}…`;
}

/** Nothing was given. An empty list is an answer; null and an empty string are none. */
export function isAbsent(value: Json | undefined): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

/** Nothing is in it: absent, zero, false, an empty list or an empty object. Blanks count as content. */
export function isEmpty(value: Json | undefined): boolean {
  if (isAbsent(value) || value === false || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
