// The contract asks whether something was said in two ways: a status field only has to be there, a field of a
// consolidation report or an approval has to hold something.
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { isEmpty } from '../../kernel/knowledge/empty.ts';

export { isAbsent, isEmpty } from '../../kernel/knowledge/empty.ts';

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
