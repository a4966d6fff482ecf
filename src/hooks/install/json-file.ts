// Settings that are JSON. Only the members that change are written; every other byte of the file stays.
import jsonc from 'jsonc-parser';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';

/** Changes the object in the text; null for an object in which nothing is left. */
export function changeJson(
  file: string,
  text: string | null,
  change: (object: JsonObject) => JsonObject | Denied,
): string | null | Denied {
  const [mark = ''] = /^\uFEFF/.exec(text ?? '') ?? [];
  const plain = (text ?? '').slice(mark.length);
  let value: unknown;
  try {
    value = plain.trim() === '' ? {} : JSON.parse(plain);
  } catch (error) {
    return deny('INVALID_CONFIG', `${file} is not JSON (${(error as Error).message}). Correct it first.`, { file });
  }
  if (!isObject(value)) return deny('INVALID_CONFIG', `${file} holds no JSON object. Correct it first.`, { file });
  const changed = change(value);
  if (isDenied(changed)) return changed;
  if (changed === value) return text;
  if (Object.keys(changed).length === 0) return null;
  if (Object.keys(value).length === 0) return `${JSON.stringify(changed, null, 2)}\n`;
  return mark + differencesOf([], value, changed).reduce(withEdit, plain);
}

export function isDenied(value: unknown): value is Denied {
  return isObject(value) && value.allow === false && 'code' in value && 'reason' in value && 'details' in value;
}

type Path = readonly (string | number)[];
/** A member or element that is added, replaced or, without a value, removed. */
type Difference = { readonly path: Path; readonly value?: Json; readonly isAppended?: true };

/** What leads from one value to the other. Elements of lists are removed from the end, so that no index moves. */
function differencesOf(path: Path, before: Json, after: Json): readonly Difference[] {
  if (isSame(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
    return [
      ...removed.map((key) => ({ path: [...path, key] })),
      ...Object.entries(after).flatMap(([key, value]) => {
        const there = before[key];
        return there === undefined ? [{ path: [...path, key], value }] : differencesOf([...path, key], there, value);
      }),
    ];
  }
  if (Array.isArray(before) && Array.isArray(after)) return listDifferences(path, before, after);
  return [{ path, value: after }];
}

function listDifferences(path: Path, before: readonly Json[], after: readonly Json[]): readonly Difference[] {
  if (before.length === after.length) {
    return before.flatMap((value, index) => differencesOf([...path, index], value, after[index] ?? null));
  }
  if (before.every((value, index) => isSame(value, after[index] ?? null))) {
    return after
      .slice(before.length)
      .map((value, index) => ({ path: [...path, before.length + index], value, isAppended: true }));
  }
  const gone: number[] = [];
  let next = 0;
  for (const [index, value] of before.entries()) {
    if (next < after.length && isSame(value, after[next] ?? null)) next += 1;
    else gone.push(index);
  }
  const isShorter = next === after.length;
  return isShorter
    ? gone.reverse().map((index) => ({ path: [...path, index] }))
    : [{ path, value: after as unknown as Json }];
}

function isSame(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Places come from a syntax tree of the text as it is, so nothing around the edit is formatted. */
function withEdit(text: string, { path, value, isAppended }: Difference): string {
  const root = jsonc.parseTree(text);
  const at = (place: Path) => (root ? jsonc.findNodeAtLocation(root, [...place]) : undefined);
  const found = isAppended ? undefined : at(path);
  const list = at(path.slice(0, -1));
  if (!list) throw new Error(`nothing is at ${path.join('.')}`);
  if (value === undefined) return found ? without(text, found, list) : text;
  if (found) return spliced(text, found.offset, endOf(found), laidOut(value, text, path.length));
  const key = path.at(-1);
  const member = `${typeof key === 'string' ? `${JSON.stringify(key)}: ` : ''}${laidOut(value, text, path.length)}`;
  const last = list.children?.at(-1);
  const margin = marginAt(text, path.length);
  if (last) return spliced(text, endOf(last), endOf(last), `,${margin}${member}`);
  return spliced(text, list.offset + 1, endOf(list) - 1, `${margin}${member}${marginAt(text, path.length - 1)}`);
}

/** The text without an element or member, and without the comma that goes with it. */
function without(text: string, value: jsonc.Node, list: jsonc.Node): string {
  const siblings = list.children ?? [];
  const index = siblings.findIndex((node) => node === value || node === value.parent);
  const [before, own, after] = [siblings[index - 1], siblings[index] ?? value, siblings[index + 1]];
  if (before) return spliced(text, endOf(before), endOf(own), '');
  return after ? spliced(text, own.offset, after.offset, '') : spliced(text, list.offset + 1, endOf(list) - 1, '');
}

function laidOut(value: Json, text: string, depth: number): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', marginAt(text, depth));
}

function marginAt(text: string, depth: number): string {
  return `\n${unitOf(text).repeat(depth)}`;
}

/** One step of indentation, as the file has it. */
function unitOf(text: string): string {
  return /^([ \t]{1,8})"/m.exec(text)?.[1] ?? '  ';
}

function endOf({ offset, length }: jsonc.Node): number {
  return offset + length;
}

function spliced(text: string, from: number, to: number, content: string): string {
  return text.slice(0, from) + content + text.slice(to);
}

/** The object without a member, or with another value of it. An empty member is dropped. */
export function withMember(object: JsonObject, name: string, value: JsonObject): JsonObject {
  if (Object.keys(value).length > 0) return { ...object, [name]: value };
  const { [name]: _dropped, ...rest } = object;
  return rest;
}
