// Hooks as Claude Code and Codex have them in their settings: lists of groups by event. Ours are added behind those that are
// there, and are known again by their command.
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import type { How } from './host.ts';
import { withMember } from './json-file.ts';

/** In seconds. The hook gives up, and refuses, before the host does. */
const TIMEOUT_S = 15;

/** An event with the tools it is about; null for all of them. */
export type Hooked = readonly [event: string, matcher: string | null];

/** What is called at an event, and for which tools. */
export type HookGroup = {
  readonly matcher?: string;
  readonly hooks: readonly { readonly type: string; readonly command: string; readonly timeout: number }[];
};

/** The settings with a hook of ours for each event. `dir` is the workspace as the host's shell names it. */
export function withHooks(
  settings: JsonObject,
  file: string,
  hooked: readonly Hooked[],
  how: How,
  dir: string,
): JsonObject | Denied {
  const hooks = settings.hooks ?? {};
  if (!isObject(hooks)) return deny('INVALID_CONFIG', `hooks in ${file} is no object; mend it first`);
  let changed: JsonObject = hooks;
  for (const [event, matcher] of hooked) {
    const there = hooks[event] ?? [];
    if (!Array.isArray(there)) return deny('INVALID_CONFIG', `hooks.${event} in ${file} is no list; mend it first`);
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

/** One word for a shell. */
export function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The events at which a tool is about to act. Only there a program that cannot be started refuses. */
const ACTING = ['PreToolUse'];

/** The folder is named, so that the hooks work wherever the agent changes its folder to. */
function commandFor(event: string, { program, reportOnly, file }: How, dir: string): string {
  const [name, call] = [quoted(program), `${quoted(program)} -C ${dir} hook ${event}`];
  if (reportOnly) return `${call} --report-only || true`;
  const isActing = ACTING.includes(event);
  const closed = isActing ? `${call} || exit 2` : call;
  if (file === undefined) return closed;
  const words = `baton is not installed here${isActing ? ', so its hook refuses every tool call' : ''}: install it, or remove its hooks from ${file}`;
  const missing = `command -v ${name} >/dev/null || { echo ${quoted(words)} >&2; exit ${isActing ? 2 : 1}; }`;
  return `${missing}; ${closed}`;
}

/** The same call without a shell, before a tool is used. */
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

/** Null for a group that held nothing else. */
function withoutOurs(group: Json): Json {
  if (!isObject(group) || !Array.isArray(group.hooks) || !hasOurs(group)) return group;
  const left = group.hooks.filter((one) => !(isObject(one) && isOurs(one.command)));
  return left.length === 0 ? null : { ...group, hooks: left };
}
