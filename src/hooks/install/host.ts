// The programs that Baton installs its hooks into, seen as texts: what was in their files stays, and what was added can be
// removed again. Claude Code and Codex list hooks in groups by event. Our hooks come last and are recognized by their command.

import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { shellWord } from '../../shell/programs.ts';
import { withMember } from './json-file.ts';

export type How = {
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
  add(file: string, text: string | null, how: How): string | Denied;
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
  how: How,
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

export function groupFor([event, matcher]: Hooked, how: How, dir: string): HookGroup {
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
function commandFor(event: string, { program, reportOnly, file }: How, dir: string): string {
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
export function beforeArgs({ dir, reportOnly }: How): readonly string[] {
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
