// Writes into JSON values without changing them: each function answers a new value that shares what stayed.
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';

export type ValuePath = readonly (string | number)[];

/** The value with another one at the place. `undefined` removes it, and objects that are empty after that. */
export function writtenAt(value: Json | undefined, path: ValuePath, next: Json | undefined): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return next;
  if (typeof key === 'number') {
    const list = Array.isArray(value) ? [...(value as readonly Json[])] : [];
    const written = writtenAt(list[key], rest, next);
    if (written === undefined) list.splice(key, 1);
    else list[Math.min(key, list.length)] = written;
    return list;
  }
  const object = isObject(value) ? value : {};
  const written = writtenAt(Object.hasOwn(object, key) ? object[key] : undefined, rest, next);
  if (written === undefined || (rest.length > 0 && next === undefined && isEmptyObject(written)))
    return without(object, key);
  return { ...object, [key]: written };
}

export function without(object: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** The object with a member under another name, at the same place. */
export function renamed(object: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));
}

export function isEmptyObject(value: Json | undefined): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
