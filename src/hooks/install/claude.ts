// Claude Code: hooks in the project's settings, and the MCP server beside them.
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { type Hooked, withHooks, withoutHooks } from './hook-groups.ts';
import type { Host, How } from './host.ts';
import { changeJson, withMember } from './json-file.ts';

const SETTINGS = '.claude/settings.json';
const SERVERS = '.mcp.json';
const WRITERS = 'Write|Edit|MultiEdit|NotebookEdit|Bash';

/** Before a tool is used. */
export const CLAUDE_BEFORE: Hooked = ['PreToolUse', `${WRITERS}|Task|Agent`];

/** The events that are hooked, with the tools they are about. */
const HOOKED: readonly Hooked[] = [
  CLAUDE_BEFORE,
  ['PostToolUse', `${WRITERS}|Task|Agent`],
  ['UserPromptSubmit', null],
  ['Stop', null],
  // A helper claims under a name of its own, which it learns here.
  ['SubagentStart', null],
  ['SubagentStop', null],
  ['SessionStart', null],
];

export const claudeHost: Host = {
  name: 'claude',
  files: [SETTINGS, SERVERS],
  notes: ['Claude Code asks once whether it may use the server in .mcp.json.'],
  warnings: (file, text) =>
    file === SETTINGS && /"disableAllHooks"\s*:\s*true/.test(text)
      ? [`disableAllHooks is true in ${SETTINGS}: no hook runs until it is taken out, and nothing is refused.`]
      : [],
  add(file, text, how) {
    const changed = changeJson(file, text, (object) =>
      file === SERVERS ? withServer(object, how) : withHooks(object, SETTINGS, HOOKED, how, '"$CLAUDE_PROJECT_DIR"'),
    );
    return changed ?? '';
  },
  remove(file, text) {
    return changeJson(file, text, (object) => (file === SERVERS ? withoutServer(object) : withoutHooks(object)));
  },
};

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
