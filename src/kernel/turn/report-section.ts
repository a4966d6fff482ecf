// How the parts of a report are reached: its sections, and the lists in them. A key may be written as documented or all in
// capitals; the documented spelling wins where it says something.
import { isObject, type Json, type JsonObject } from '../json.ts';

export function valueAt(section: JsonObject, key: string): Json | undefined {
  return section[key] ?? section[key.toUpperCase()];
}

/** An empty section where there is none. */
export function sectionAt(report: JsonObject, key: string): JsonObject {
  const section = valueAt(report, key);
  return isObject(section) ? section : {};
}

/** A value that is no list is a list of one; nothing is a list of none. */
export function listAt(section: JsonObject, key: string): readonly Json[] {
  return listOf(valueAt(section, key));
}

export function listOf(value: Json | undefined): readonly Json[] {
  const list = Array.isArray(value) ? (value as readonly Json[]) : value === undefined ? [] : [value];
  return list.filter((each) => each !== null);
}
