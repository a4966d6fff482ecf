// The programs that Baton installs its hooks into, seen as texts: what was in their files stays, and what was added can be removed
// again. Claude Code and Codex list hooks in groups by event. Our hooks come last and are recognized by their command. In JSON files
// only the changed members are written; every other byte stays.

import jsonc from 'jsonc-parser';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { shellWord } from '../../shell/programs.ts';

export type HookOptions = {
  /** How baton is started: its name on PATH, or the path of its file. */
  readonly program: string;
  /** The workspace. */
  readonly dir: string;
  readonly reportOnly: boolean;
  /** The settings file that holds the hooks. The message about a missing program names it. */
  readonly file?: string;
};

export interface Host {
  readonly name: string;
  /** The files it reads, relative to the workspace. */
  readonly files: readonly string[];
  /** What the user must also know or do. */
  readonly notes: readonly string[];
  /** What in a file of the user stops Baton from working. */
  warnings?(file: string, text: string): readonly string[];
  /** The text of the file with Baton's part added. `text` is the file without that part, or null if there is no file. */
  add(file: string, text: string | null, how: HookOptions): string | Denied;
  /** The text without Baton's part, or null if nothing else is left. */
  remove(file: string, text: string): string | null | Denied;
}

/** In seconds. The hook refuses on its own before this. */
const TIMEOUT_S = 15;

/** An event and the tools it is about, or null for every tool. */
export type Hooked = readonly [event: string, matcher: string | null];

/** What is called at an event, and for which tools. */
export type HookGroup = {
  readonly matcher?: string;
  readonly hooks: readonly { readonly type: string; readonly command: string; readonly timeout: number }[];
};

/** Adds one hook per event to the settings. `dir` is the workspace as the host's shell names it. */
export function withHooks(
  settings: JsonObject,
  file: string,
  hooked: readonly Hooked[],
  how: HookOptions,
  dir: string,
): JsonObject | Denied {
  const hooks = settings.hooks ?? {};
  if (!isObject(hooks)) return deny('INVALID_CONFIG', `hooks in ${file} is not an object; correct it first`);
  let changed: JsonObject = hooks;
  for (const [event, matcher] of hooked) {
    const there = hooks[event] ?? [];
    if (!Array.isArray(there))
      return deny('INVALID_CONFIG', `hooks.${event} in ${file} is not a list; correct it first`);
    changed = { ...changed, [event]: [...there, groupFor([event, matcher], how, dir)] };
  }
  return { ...settings, hooks: changed };
}

export function groupFor([event, matcher]: Hooked, how: HookOptions, dir: string): HookGroup {
  const handler = { type: 'command', command: commandFor(event, how, dir), timeout: TIMEOUT_S };
  return { ...(matcher === null ? {} : { matcher }), hooks: [handler] };
}

export function withoutHooks(settings: JsonObject): JsonObject {
  if (!isObject(settings.hooks)) return settings;
  let hooks: JsonObject = settings.hooks;
  for (const [event, groups] of Object.entries(settings.hooks)) {
    if (!Array.isArray(groups) || !groups.some(hasOurs)) continue;
    const left = groups.map(withoutOurs).filter((group) => group !== null);
    const { [event]: _dropped, ...rest } = hooks;
    hooks = left.length === 0 ? rest : { ...hooks, [event]: left };
  }
  return hooks === settings.hooks ? settings : withMember(settings, 'hooks', hooks);
}

/** The events before a tool acts. Only there does a missing program refuse. */
const ACTING = ['PreToolUse'];

/** The command names the workspace, so the hook works in any current folder. */
function commandFor(event: string, { program, reportOnly, file }: HookOptions, dir: string): string {
  const [name, call] = [shellWord(program), `${shellWord(program)} -C ${dir} hook ${event}`];
  if (reportOnly) return `${call} --report-only || true`;
  const isActing = ACTING.includes(event);
  const closed = isActing ? `${call} || exit 2` : call;
  if (file === undefined) return closed;
  const words = `baton is not installed here${isActing ? ', so its hook refuses every tool call' : ''}: install it, or remove its hooks from ${file}`;
  const missing = `command -v ${name} >/dev/null || { echo ${shellWord(words)} >&2; exit ${isActing ? 2 : 1}; }`;
  return `${missing}; ${closed}`;
}

/** The hook before a tool, as arguments without a shell. */
export function beforeArgs({ dir, reportOnly }: HookOptions): readonly string[] {
  return ['-C', dir, 'hook', 'PreToolUse', ...(reportOnly ? ['--report-only'] : [])];
}

function isOurs(command: Json | undefined): boolean {
  return isString(command) && /baton'? -C \S.{0,4096} hook [A-Z]/.test(command);
}

function hasOurs(group: Json): boolean {
  return (
    isObject(group) && Array.isArray(group.hooks) && group.hooks.some((one) => isObject(one) && isOurs(one.command))
  );
}

/** Null if the group held only our hooks. */
function withoutOurs(group: Json): Json {
  if (!isObject(group) || !Array.isArray(group.hooks) || !hasOurs(group)) return group;
  const left = group.hooks.filter((one) => !(isObject(one) && isOurs(one.command)));
  return left.length === 0 ? null : { ...group, hooks: left };
}

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
  if (isSameJson(before, after)) return [];
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
  if (before.every((value, index) => isSameJson(value, after[index] ?? null))) {
    return after
      .slice(before.length)
      .map((value, index) => ({ path: [...path, before.length + index], value, isAppended: true }));
  }
  const gone: number[] = [];
  let next = 0;
  for (const [index, value] of before.entries()) {
    if (next < after.length && isSameJson(value, after[next] ?? null)) next += 1;
    else gone.push(index);
  }
  const isShorter = next === after.length;
  return isShorter
    ? gone.reverse().map((index) => ({ path: [...path, index] }))
    : [{ path, value: after as unknown as Json }];
}

function isSameJson(one: Json, other: Json): boolean {
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
