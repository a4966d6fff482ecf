// Claude Code: hooks in its settings, those of the person or those of the project, and the MCP server.
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { type Hooked, withHooks, withoutHooks } from './hook-groups.ts';
import type { Host, How } from './host.ts';
import { changeJson, withMember } from './json-file.ts';

export const LOCAL_SETTINGS = '.claude/settings.local.json';
export const SETTINGS = '.claude/settings.json';
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

/** In the person's own settings by default: teammates without Baton must not be stopped by its hooks. */
export const claudeHost: Host = {
  ...hostWith(LOCAL_SETTINGS, [LOCAL_SETTINGS]),
  name: 'claude',
  notes: [
    `${LOCAL_SETTINGS} is for you alone; \`baton install claude --shared\` writes ${SETTINGS} for the team.`,
    'To use the MCP server as well: claude mcp add baton -- baton mcp',
  ],
};

export const sharedClaudeHost: Host = {
  ...hostWith(SETTINGS, [SETTINGS, SERVERS]),
  name: 'claude --shared',
  notes: [
    'Claude Code asks once whether it may use the server in .mcp.json.',
    'Teammates need baton on their PATH: without it every tool call is refused, with a message that says so.',
  ],
};

/** Takes Baton out of every file it may have written for Claude Code. */
export const anyClaudeHost: Host = {
  ...hostWith(SETTINGS, [LOCAL_SETTINGS, SETTINGS, SERVERS]),
  name: 'claude',
  notes: [],
};

function hostWith(settings: string, files: readonly string[]): Omit<Host, 'name' | 'notes'> {
  return {
    files,
    warnings: (file, text) =>
      file === settings && /"disableAllHooks"\s*:\s*true/.test(text)
        ? [`disableAllHooks is true in ${settings}: no hook runs, and nothing is refused, until you remove it.`]
        : [],
    add(file, text, how) {
      const changed = changeJson(file, text, (object) =>
        file === SERVERS
          ? withServer(object, how)
          : withHooks(object, file, HOOKED, { ...how, file }, '"$CLAUDE_PROJECT_DIR"'),
      );
      return changed ?? '';
    },
    remove(file, text) {
      return changeJson(file, text, (object) => (file === SERVERS ? withoutServer(object) : withoutHooks(object)));
    },
  };
}

/** Whether the settings of the team have our hooks already: with both, every hook would run twice. */
export function isInShared(text: string | null): boolean {
  if (text === null) return false;
  const own = changeJson(SETTINGS, text, withoutHooks);
  return own !== text;
}

function withServer(file: JsonObject, { program }: How): JsonObject | Denied {
  const servers = file.mcpServers ?? {};
  if (!isObject(servers)) return deny('INVALID_CONFIG', `mcpServers in ${SERVERS} is no object. Correct it first.`);
  if (servers.baton !== undefined) {
    return deny('NOT_ALLOWED_NOW', `${SERVERS} has another server called baton. Rename or remove it first.`);
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
