// How payloads change a section: new keys are added, objects merged, lists united, other values replaced. Nothing is deleted.
// `diffOf` lists what changed, for people.
//
// All updates of one place are gathered and then applied in order, so the work grows with the size of what is written.
import { canonicalJson, isObject, type Json, type JsonObject } from '../json.ts';
import { below, type Finding, findingWarning, textOf } from './live-state.ts';

/** What a section holds after the payloads were written to it, in order. `findings` takes what deserves a look. */
export function mergePayloads(
  stored: JsonObject,
  payloads: readonly JsonObject[],
  path: string,
  findings: Finding[],
): JsonObject {
  return mergeObjects(stored, payloads, path, findings);
}

function mergeObjects(
  stored: JsonObject,
  updates: readonly JsonObject[],
  path: string,
  findings: Finding[],
): JsonObject {
  const members = new Map(Object.entries(stored));
  const written = updates.flatMap((update) => Object.entries(update));
  for (const [key, entries] of grouped(written, ([name]) => name)) {
    const values = entries.map(([, value]) => value);
    members.set(key, mergeValues(members.get(key), values, below(path, key), findings));
  }
  return Object.fromEntries(members);
}

/** The value at one place after all values were written to it, in order. At least one is written. */
function mergeValues(stored: Json | undefined, values: readonly Json[], path: string, findings: Finding[]): Json {
  let current = stored;
  for (let at = 0; at < values.length; ) {
    const kind = kindOf(values[at]);
    let end = at + 1;
    while (end < values.length && kindOf(values[end]) === kind) end += 1;
    current = mergeRun(current, values.slice(at, end), path, findings);
    at = end;
  }
  return current ?? null;
}

/** As `mergeValues`, for values that are all of one kind. */
function mergeRun(stored: Json | undefined, run: readonly Json[], path: string, findings: Finding[]): Json | undefined {
  const kind = kindOf(run[0]);
  const before = kindOf(stored);
  if (before !== kind && stored !== undefined) {
    const code = `TYPE_CHANGED:${path}:${before}->${kind}`;
    findings.push(findingWarning(code, path, `a value of type ${before} was replaced by one of type ${kind}`));
  }
  const current = before === kind ? stored : run[0];
  const rest = before === kind ? run : run.slice(1);
  if (isObject(current)) return mergeObjects(current, rest.filter(isObject), path, findings);
  if (Array.isArray(current)) return uniteLists(current, rest.filter(isList), path, findings);
  return run.at(-1);
}

/** The stored elements first, then the new ones, each once. Objects with names are joined by name, if all have one. */
function uniteLists(
  stored: readonly Json[],
  lists: readonly (readonly Json[])[],
  path: string,
  findings: Finding[],
): readonly Json[] {
  const news = withoutRepeats(stored, lists);
  if (news.length === 0) return stored;
  const known = unique(stored.length > 0 ? stored : (news.shift() ?? []));
  const named = namedObjects(known);
  if (!named) return unique([...known, ...news.flat()]);
  const unnamedAt = news.findIndex((list) => !namedObjects(list));
  const joined = news.splice(0, unnamedAt === -1 ? news.length : unnamedAt).flat();
  return unique([...uniteNamed(named, joined.filter(isObject), path, findings), ...news.flat()]);
}

/**
 * A list that is sent again unchanged changes nothing, so a list that holds an element twice on purpose survives. An empty
 * list changes nothing either.
 */
function withoutRepeats(stored: readonly Json[], lists: readonly (readonly Json[])[]): (readonly Json[])[] {
  let before = canonicalJson(stored);
  return lists.filter((list) => {
    const text = canonicalJson(list);
    const repeats = text === before;
    before = text;
    return !repeats && list.length > 0;
  });
}

/**
 * What comes for a name joins the first that has it. Others of that name stay as they are, and what one of them holds already
 * is nothing new.
 */
function uniteNamed(
  stored: readonly JsonObject[],
  update: readonly JsonObject[],
  path: string,
  findings: Finding[],
): readonly Json[] {
  const result: Json[] = [...stored];
  const firsts = new Map<string, number>();
  const held = new Set<string>();
  for (const [place, element] of stored.entries()) {
    if (firsts.has(nameOf(element))) held.add(canonicalJson(element));
    else firsts.set(nameOf(element), place);
  }
  const news = update.filter((element) => !held.has(canonicalJson(element)));
  for (const [name, elements] of grouped(news, nameOf)) {
    const place = firsts.get(name) ?? result.length;
    result[place] = mergeValues(result[place], elements, below(path, name), findings);
  }
  return result;
}

/** The list itself when all of its elements are objects with a name. */
function namedObjects(list: readonly Json[]): readonly JsonObject[] | null {
  const named = list.filter(isObject).filter((element) => Object.hasOwn(element, 'name'));
  return named.length === list.length ? named : null;
}

function nameOf(element: JsonObject): string {
  return canonicalJson(element.name ?? null);
}

function unique(list: readonly Json[]): Json[] {
  const seen = new Map<string, Json>();
  for (const element of list) {
    const text = canonicalJson(element);
    if (!seen.has(text)) seen.set(text, element);
  }
  return [...seen.values()];
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function kindOf(value: Json | undefined): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** A value as bounded text on each side; null on the side where there is none. */
export type TextChange = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** The values themselves; undefined on the side where there is none. */
export type ValueChange = {
  readonly path: string;
  readonly before?: Json | undefined;
  readonly after?: Json | undefined;
};

/** At most `max` changes, in the order of the members. */
export function diffOf(before: JsonObject, after: JsonObject, max = 50): readonly TextChange[] {
  return valuesOf(before, after, max).map(inText);
}

/** The same with the values themselves, so that a number and its text differ. */
export function valuesOf(before: JsonObject, after: JsonObject, max: number): readonly ValueChange[] {
  const changes: ValueChange[] = [];
  for (const change of members(before, after, '')) {
    if (changes.length === max) break;
    changes.push(change);
  }
  return changes;
}

export function inText({ path, before, after }: ValueChange): TextChange {
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

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function shown(value: Json | undefined): string | null {
  return value === undefined ? null : textOf(value);
}

export function grouped<Key, Thing>(things: readonly Thing[], keyOf: (thing: Thing) => Key): Map<Key, Thing[]> {
  const groups = new Map<Key, Thing[]>();
  for (const thing of things) {
    const key = keyOf(thing);
    const group = groups.get(key);
    if (group) group.push(thing);
    else groups.set(key, [thing]);
  }
  return groups;
}
