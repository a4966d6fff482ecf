// The contract asks whether something was said in two ways: a status field only has to be there, a field of a
// consolidation report or an approval has to hold something.
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';

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

/** An object with at least one key; anything else cannot be used as a section. */
export function usable(value: Json | undefined): JsonObject | null {
  return isObject(value) && !isEmpty(value) ? value : null;
}

/** The value under a key written as documented or all in capitals; the documented spelling wins when it says something. */
export function either(section: JsonObject | null, key: string): Json | undefined {
  if (section === null) return undefined;
  const value = section[key];
  return value === undefined || value === null ? (section[key.toUpperCase()] ?? value) : value;
}
