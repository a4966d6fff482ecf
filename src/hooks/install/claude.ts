// Claude Code: hooks in the project's settings, and the MCP server beside them.
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import type { Host, How } from './host.ts';
import { changeJson, withMember } from './json-file.ts';

const SETTINGS = '.claude/settings.json';
const SERVERS = '.mcp.json';
const WRITERS = 'Write|Edit|MultiEdit|NotebookEdit|Bash';
/** In seconds. The hook gives up, and refuses, before the host does. */
const TIMEOUT_S = 15;

/** The events that are hooked, with the tools they are about. */
const HOOKED: readonly (readonly [string, string | null])[] = [
  ['PreToolUse', WRITERS],
  ['PostToolUse', WRITERS],
  ['Stop', null],
  ['SubagentStop', null],
  ['SessionStart', null],
];

export const claudeHost: Host = {
  name: 'claude',
  files: [SETTINGS, SERVERS],
  notes: ['Claude Code asks once whether it may use the server in .mcp.json.'],
  add(file, text, how) {
    const changed = changeJson(file, text, (object) =>
      file === SERVERS ? withServer(object, how) : withHooks(object, how),
    );
    return changed ?? '';
  },
  remove(file, text) {
    return changeJson(file, text, (object) => (file === SERVERS ? withoutServer(object) : withoutHooks(object)));
  },
};

function withHooks(settings: JsonObject, how: How): JsonObject | Denied {
  const hooks = settings.hooks ?? {};
  if (!isObject(hooks)) return deny('INVALID_CONFIG', `hooks in ${SETTINGS} is no object; mend it first`);
  let changed: JsonObject = hooks;
  for (const [event, matcher] of HOOKED) {
    const there = hooks[event] ?? [];
    if (!Array.isArray(there)) return deny('INVALID_CONFIG', `hooks.${event} in ${SETTINGS} is no list; mend it first`);
    const handler = { type: 'command', command: commandFor(event, how), timeout: TIMEOUT_S };
    const group = { ...(matcher === null ? {} : { matcher }), hooks: [handler] };
    changed = { ...changed, [event]: [...there, group] };
  }
  return { ...settings, hooks: changed };
}

/** The folder of the session is named: an agent that walks elsewhere takes its hooks with it. A program that cannot be started refuses. */
function commandFor(event: string, { program, reportOnly }: How): string {
  const call = `${quoted(program)} -C "$CLAUDE_PROJECT_DIR" hook ${event}`;
  return reportOnly ? `${call} --report-only || true` : `${call} || exit 2`;
}

function quoted(program: string): string {
  return /^[\w./-]+$/.test(program) ? program : `'${program.replaceAll("'", `'\\''`)}'`;
}

function isOurs(command: Json | undefined): boolean {
  return isString(command) && /baton'? -C "\$CLAUDE_PROJECT_DIR" hook [A-Z]/.test(command);
}

function withoutHooks(settings: JsonObject): JsonObject {
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

function withServer(file: JsonObject, { program }: How): JsonObject | Denied {
  const servers = file.mcpServers ?? {};
  if (!isObject(servers)) return deny('INVALID_CONFIG', `mcpServers in ${SERVERS} is no object; mend it first`);
  if (servers.baton !== undefined) {
    return deny('NOT_ALLOWED_NOW', `${SERVERS} has a server baton of somebody else; rename or remove it first`);
  }
  return { ...file, mcpServers: { ...servers, baton: { command: program, args: ['mcp'] } } };
}

function withoutServer(file: JsonObject): JsonObject {
  const { mcpServers: servers } = file;
  if (!isObject(servers) || !isObject(servers.baton)) return file;
  const { command, args } = servers.baton;
  const isIts = isString(command) && /(?:^|\/)baton$/.test(command) && Array.isArray(args) && args.join(' ') === 'mcp';
  if (!isIts) return file;
  const { baton: _ours, ...rest } = servers;
  return withMember(file, 'mcpServers', rest);
}
