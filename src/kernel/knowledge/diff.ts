// What differs between two values of a section, place by place, for people. Objects are gone through member by member; of
// lists the elements that came and went are told.
import { canonicalJson, isObject, type Json, type JsonObject } from '../json.ts';
import { below, textOf } from './finding.ts';

/** A value as bounded text on each side; null on the side where there is none. */
export type Change = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** The values themselves; undefined on the side where there is none. */
export type ValueChange = {
  readonly path: string;
  readonly before?: Json | undefined;
  readonly after?: Json | undefined;
};

/** At most `max` changes, in the order of the members. */
export function diffOf(before: JsonObject, after: JsonObject, max = 50): readonly Change[] {
  return valuesOf(before, after, max).map(inText);
}

/** The same with every value as it is, so that a number and its text can be told apart. */
export function valuesOf(before: JsonObject, after: JsonObject, max: number): readonly ValueChange[] {
  const changes: ValueChange[] = [];
  for (const change of members(before, after, '')) {
    if (changes.length === max) break;
    changes.push(change);
  }
  return changes;
}

export function inText({ path, before, after }: ValueChange): Change {
  return { path, before: shown(before), after: shown(after) };
}

function* members(before: JsonObject, after: JsonObject, path: string): Generator<ValueChange> {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const at = path === '' ? key : below(path, key);
    yield* values(own(before, key), own(after, key), at);
  }
}

function* values(before: Json | undefined, after: Json | undefined, path: string): Generator<ValueChange> {
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after)) return;
  if (isObject(before) && isObject(after)) yield* members(before, after, path);
  else if (isList(before) && isList(after)) yield* elements(before, after, path);
  else yield { path, before, after };
}

function* elements(before: readonly Json[], after: readonly Json[], path: string): Generator<ValueChange> {
  const [old, now] = [textsOf(before), textsOf(after)];
  const gone = before.filter((element) => !now.has(canonicalJson(element)));
  const come = after.filter((element) => !old.has(canonicalJson(element)));
  // The same elements in another order, or another number of times.
  if (gone.length + come.length === 0) yield { path, before, after };
  for (const element of gone) yield { path: `${path}[]`, before: element };
  for (const element of come) yield { path: `${path}[]`, after: element };
}

function textsOf(list: readonly Json[]): ReadonlySet<string> {
  return new Set(list.map(canonicalJson));
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function shown(value: Json | undefined): string | null {
  return value === undefined ? null : textOf(value);
}
