// The programs that Baton can install itself into: Claude Code, Codex and pi. Claude Code has hooks in its settings and an MCP
// server in `.mcp.json`. Codex has the server in `config.toml`, in a marked block, and the hooks in `hooks.json`. pi has an
// extension that asks `baton hook` before each tool call that writes.

import { readFileSync } from 'node:fs';
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { shellWord } from '../../shell/programs.ts';
import {
  beforeArgs,
  changeJson,
  type Hooked,
  type HookOptions,
  type Host,
  withHooks,
  withMember,
  withoutHooks,
} from './host.ts';
import { tomlKeys } from './toml-keys.ts';

export const LOCAL_SETTINGS = '.claude/settings.local.json';
export const SETTINGS = '.claude/settings.json';
const SERVERS = '.mcp.json';
const CLAUDE_WRITERS = 'Write|Edit|MultiEdit|NotebookEdit|Bash';

/** The hook before a tool is used. */
export const CLAUDE_BEFORE: Hooked = ['PreToolUse', `${CLAUDE_WRITERS}|Task|Agent`];

/** The events that are hooked, with the tools they are about. */
const CLAUDE_HOOKS: readonly Hooked[] = [
  CLAUDE_BEFORE,
  ['PostToolUse', `${CLAUDE_WRITERS}|Task|Agent`],
  ['UserPromptSubmit', null],
  ['Stop', null],
  // A subagent learns here under which name it claims.
  ['SubagentStart', null],
  ['SubagentStop', null],
  ['SessionStart', null],
];

/** The default is the user's own settings: hooks must not stop teammates who have no Baton. */
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

/** Removes Baton from every file that it may have written for Claude Code. */
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
          ? withMcpServer(object, how)
          : withHooks(object, file, CLAUDE_HOOKS, { ...how, file }, '"$CLAUDE_PROJECT_DIR"'),
      );
      return changed ?? '';
    },
    remove(file, text) {
      return changeJson(file, text, (object) => (file === SERVERS ? withoutMcpServer(object) : withoutHooks(object)));
    },
  };
}

/** Whether a settings file already has our hooks. In both files, every hook would run twice. */
export function hasHooks(text: string | null): boolean {
  if (text === null) return false;
  const own = changeJson(SETTINGS, text, withoutHooks);
  return own !== text;
}

function withMcpServer(file: JsonObject, { program }: HookOptions): JsonObject | Denied {
  const servers = file.mcpServers ?? {};
  if (!isObject(servers)) return deny('INVALID_CONFIG', `mcpServers in ${SERVERS} is not an object. Correct it first.`);
  if (servers.baton !== undefined) {
    return deny('NOT_ALLOWED_NOW', `${SERVERS} has another server called baton. Rename or remove it first.`);
  }
  return { ...file, mcpServers: { ...servers, baton: { command: program, args: ['mcp'] } } };
}

function withoutMcpServer(file: JsonObject): JsonObject {
  const { mcpServers: servers } = file;
  if (!isObject(servers) || !isObject(servers.baton)) return file;
  const { command, args } = servers.baton;
  const isIts = isString(command) && /(?:^|\/)baton$/.test(command) && Array.isArray(args) && args.join(' ') === 'mcp';
  if (!isIts) return file;
  const { baton: _ours, ...rest } = servers;
  return withMember(file, 'mcpServers', rest);
}

const CODEX_CONFIG = '.codex/config.toml';
const CODEX_HOOKS_FILE = '.codex/hooks.json';
const BLOCK_BEGIN = '# >>> baton: written by `baton install codex`; `baton install codex --undo` takes it out';
const BLOCK_END = '# <<< baton';

/** Hooks see Codex's shell as Bash. Patches come from their own tool or as a shell command. */
const CODEX_WRITERS = 'Bash|apply_patch|Edit|Write';

/** The hook before a tool is used. */
export const CODEX_BEFORE: Hooked = ['PreToolUse', CODEX_WRITERS];

const CODEX_HOOKS: readonly Hooked[] = [
  CODEX_BEFORE,
  ['PostToolUse', CODEX_WRITERS],
  ['UserPromptSubmit', null],
  ['Stop', null],
  ['SubagentStop', null],
  ['SessionStart', null],
];

const codexHost: Host = {
  name: 'codex',
  files: [CODEX_CONFIG, CODEX_HOOKS_FILE],
  notes: [
    'Codex reads .codex/ in projects that you trust.',
    'It runs hooks only after you have reviewed them: start codex once in a terminal and trust them when it asks.',
    'Until then, and after each change, it skips them silently, also in `codex exec`.',
  ],
  add: (file, text, how) => (file === CODEX_HOOKS_FILE ? withOurHooks(text, how) : withTomlServer(file, text, how)),
  remove: (file, text) =>
    file === CODEX_HOOKS_FILE ? changeJson(file, text, withoutHooks) : withoutTomlServer(file, text),
};

function withOurHooks(text: string | null, how: HookOptions): string | Denied {
  return (
    changeJson(CODEX_HOOKS_FILE, text, (object) =>
      withHooks(object, CODEX_HOOKS_FILE, CODEX_HOOKS, { ...how, file: CODEX_HOOKS_FILE }, shellWord(how.dir)),
    ) ?? ''
  );
}

function withTomlServer(file: string, text: string | null, { program, dir }: HookOptions): string | Denied {
  // A JSON string is also a TOML string.
  const command = `command = ${JSON.stringify(program)}`;
  const args = `args = [${['-C', dir, 'mcp'].map((arg) => JSON.stringify(arg)).join(', ')}]`;
  const before = text ?? '';
  const denied = roomFor(file, before, `baton = { ${command}, ${args} }`);
  if (denied) return denied;
  const table = `[mcp_servers.baton]\n${command}\n${args}\n`;
  return `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${BLOCK_BEGIN}\n${table}${BLOCK_END}\n`;
}

/** Why the table cannot be added. Codex rejects a file that has a table twice. */
function roomFor(file: string, text: string, byHand: string): Denied | null {
  const keys = tomlKeys(text);
  if (!keys.ok) return deny('INVALID_CONFIG', `${file} is not valid TOML (${keys.why}); correct it first`, { file });
  const servers = keys.root.children.get('mcp_servers');
  if (servers?.children.has('baton')) {
    return deny('NOT_ALLOWED_NOW', `${file} has another server called baton; rename or remove it first`, { file });
  }
  if (!servers || ['table', 'implied', 'dotted'].includes(servers.kind)) return null;
  const reason = `mcp_servers in ${file} is written as ${WRITTEN_AS[servers.kind] ?? 'a value'}, so no table can be added below it`;
  return deny('NOT_ALLOWED_NOW', `${reason}; write it as tables ([mcp_servers.NAME]), or add by hand: ${byHand}`, {
    file,
  });
}

const WRITTEN_AS: Readonly<Record<string, string>> = {
  inline: 'a table between braces',
  'array of tables': 'an array',
};

function withoutTomlServer(file: string, text: string): string | null | Denied {
  const from = text.indexOf(BLOCK_BEGIN);
  if (from === -1) return text;
  const end = text.indexOf(BLOCK_END, from);
  if (end === -1) {
    return deny('INVALID_CONFIG', `baton's block in ${file} has no end (${BLOCK_END}); remove it by hand`, { file });
  }
  const rest = text.slice(0, from) + text.slice(end + BLOCK_END.length).replace(/^\r?\n/, '');
  return rest.trim() === '' ? null : rest;
}

const PI_FIRST_LINE = '// Written by `baton install pi`; `baton install pi --undo` removes it.';

const piHost: Host = {
  name: 'pi',
  files: ['.pi/extensions/baton.ts'],
  notes: ['pi loads extensions only in projects that you trust. It has hooks only before tools.'],
  add(file, text, how) {
    if (text !== null)
      return deny('NOT_ALLOWED_NOW', `${file} was not written by Baton; rename or remove it first`, { file });
    return extension(how);
  },
  remove: (_, text) => (text.startsWith(PI_FIRST_LINE) ? null : text),
};

/** The file contains the guard itself, so it works without Baton's sources and refuses if Baton is gone. */
function extension(how: HookOptions): string {
  const file = import.meta.url.endsWith('.ts') ? '../../agents/pi-guard.ts' : '../../agents/pi-guard.js';
  const guard = readFileSync(new URL(file, import.meta.url), 'utf8').trimEnd();
  const asked = { program: how.program, args: beforeArgs(how), isReportOnly: how.reportOnly };
  return `${PI_FIRST_LINE}\n${guard}\n\nexport default guardBy(${JSON.stringify(asked)});\n`;
}

export const HOSTS: readonly Host[] = [claudeHost, codexHost, piHost];
