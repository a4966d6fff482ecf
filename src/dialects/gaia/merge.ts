// How payloads enter the shared knowledge of a project: they add and update, and never delete. New keys are added,
// objects are merged, lists are united, anything else is replaced; what is not mentioned stays.
//
// All updates of one place are gathered before they are applied, in order, so that the work grows with the size of what
// is written and not with how many pieces it is written in.
import { isObject, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { canonicalText } from './canonical-text.ts';
import { asDetails, below, type Finding, warning } from './finding.ts';
import { findLiveState } from './live-state.ts';
import { normaliseReferences } from './repo-reference.ts';
import { rejection, sortEntries } from './update-contracts.ts';

export type MergeRequest = {
  /** The stored sections. */
  readonly base: JsonObject;
  /** `{contract, payload}` each; two for one section apply in order. */
  readonly entries: readonly Json[];
  readonly writable_sections: readonly string[];
};

/** A section that may not be written is rejected and the others still apply. */
export function mergeContracts({ base, entries, writable_sections }: MergeRequest): Verdict {
  const { permitted, rejected: refused, findings: found } = sortEntries(entries, writable_sections, 'entries');
  const rejected = new Set(refused);
  const findings = [...found];
  const sections = new Map(Object.entries(base));
  for (const [contract, written] of Map.groupBy(permitted, (entry) => entry.contract)) {
    const stored = sections.get(contract) ?? {};
    if (isObject(stored)) {
      const payloads = written.map(({ payload }) => prepare(payload, contract, findings));
      sections.set(contract, mergeObjects(stored, payloads, contract, findings));
    } else {
      rejected.add(contract);
      const why = `the stored section is ${nameOfType(stored)}, so that nothing can be merged into it`;
      findings.push(rejection(contract, contract, why));
    }
  }
  const { warnings, issues } = asDetails(findings);
  const details = { result: Object.fromEntries(sections), rejected: [...rejected], warnings, issues };
  if (rejected.size === 0) return allow(`${permitted.length} of ${entries.length} entries were merged`, details);
  return deny('WRITE_NOT_PERMITTED', `${rejected.size} sections were not written; the others were`, details);
}

function prepare(payload: JsonObject, contract: string, findings: Finding[]): JsonObject {
  const normalised = normaliseReferences(payload, contract, findings);
  findLiveState(normalised, contract, findings);
  return normalised;
}

function mergeObjects(
  stored: JsonObject,
  updates: readonly JsonObject[],
  path: string,
  findings: Finding[],
): JsonObject {
  const members = new Map(Object.entries(stored));
  const written = updates.flatMap((update) => Object.entries(update));
  for (const [key, entries] of Map.groupBy(written, ([name]) => name)) {
    const values = entries.map(([, value]) => value);
    members.set(key, mergeValues(members.get(key), values, below(path, key), findings));
  }
  return Object.fromEntries(members);
}

/** What stands at one place after the values were written to it, in order. At least one is written. */
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
    findings.push(warning(code, path, `a value of type ${before} was replaced by one of type ${kind}`));
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
  if (!named || new Set(named.map(nameOf)).size < named.length) return unique([...known, ...news.flat()]);
  const unnamedAt = news.findIndex((list) => !namedObjects(list));
  const joined = news.splice(0, unnamedAt === -1 ? news.length : unnamedAt).flat();
  return unique([...uniteNamed(named, joined.filter(isObject), path, findings), ...news.flat()]);
}

// A list that is sent again as it stands changes nothing, so that one which holds an element twice on purpose, and
// was stored so when it was new, survives being sent again. An empty list says nothing either.
function withoutRepeats(stored: readonly Json[], lists: readonly (readonly Json[])[]): (readonly Json[])[] {
  let before = canonicalText(stored);
  return lists.filter((list) => {
    const text = canonicalText(list);
    const repeats = text === before;
    before = text;
    return !repeats && list.length > 0;
  });
}

function uniteNamed(
  stored: readonly JsonObject[],
  update: readonly JsonObject[],
  path: string,
  findings: Finding[],
): readonly Json[] {
  const byName = new Map<string, Json>(stored.map((element) => [nameOf(element), element]));
  for (const [name, elements] of Map.groupBy(update, nameOf)) {
    byName.set(name, mergeValues(byName.get(name), elements, below(path, name), findings));
  }
  return [...byName.values()];
}

/** The list itself when all of its elements are objects with a name. */
function namedObjects(list: readonly Json[]): readonly JsonObject[] | null {
  const named = list.filter(isObject).filter((element) => Object.hasOwn(element, 'name'));
  return named.length === list.length ? named : null;
}

function nameOf(element: JsonObject): string {
  return canonicalText(element.name ?? null);
}

function unique(list: readonly Json[]): Json[] {
  const seen = new Map<string, Json>();
  for (const element of list) {
    const text = canonicalText(element);
    if (!seen.has(text)) seen.set(text, element);
  }
  return [...seen.values()];
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function kindOf(value: Json | undefined): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
