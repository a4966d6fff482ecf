// Three versions of one value made one: what only one side changed is taken, and what both changed differently is a conflict that a person
// decides. Members of objects are merged one by one; a list is one value.
import { isObject, isSameJson, type Json, type JsonObject } from '../kernel/json.ts';
import { type EditorDocument, openDocument } from './document.ts';

type MergeConflict = {
  readonly path: readonly string[];
  /** `null` where that version has none. */
  readonly base: Json;
  readonly ours: Json;
  readonly theirs: Json;
};

type MergedDocuments = {
  /** With ours where both changed something. */
  readonly document: EditorDocument;
  readonly conflicts: readonly MergeConflict[];
};

export function mergeDocuments(base: EditorDocument, ours: EditorDocument, theirs: EditorDocument): MergedDocuments {
  const conflicts: MergeConflict[] = [];
  const parts = [base, ours, theirs].map(({ config, files }): JsonObject => ({ config, files: { ...files } }));
  const [from, own, other] = parts as [JsonObject, JsonObject, JsonObject];
  const merged = merge(from, own, other, [], conflicts) as { config: JsonObject; files: Record<string, string> };
  const foreign = theirs.foreign.filter((id) => ours.foreign.includes(id) || !base.foreign.includes(id));
  return { document: openDocument(merged.config, ours.name, { files: merged.files, foreign }), conflicts };
}

function merge(
  base: Json | undefined,
  ours: Json | undefined,
  theirs: Json | undefined,
  path: readonly string[],
  conflicts: MergeConflict[],
): Json | undefined {
  if (isAlike(ours, theirs) || isAlike(base, theirs)) return ours;
  if (isAlike(base, ours)) return theirs;
  if (isObject(ours) && isObject(theirs)) {
    const before = isObject(base) ? base : {};
    const names = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
    const members = [...names].map((name) => {
      const value = merge(own(before, name), own(ours, name), own(theirs, name), [...path, name], conflicts);
      return [name, value] as const;
    });
    return Object.fromEntries(members.filter((entry): entry is readonly [string, Json] => entry[1] !== undefined));
  }
  conflicts.push({ path, base: base ?? null, ours: ours ?? null, theirs: theirs ?? null });
  return ours;
}

function isAlike(one: Json | undefined, other: Json | undefined): boolean {
  return isSameJson(one, other);
}

function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
