// Whether a value says anything: what was never given, and what was given and holds nothing.
import { isObject, type Json } from '../json.ts';

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
