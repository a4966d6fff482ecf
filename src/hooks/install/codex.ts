// Codex: the MCP server in the project's `config.toml`, in a block with a beginning and an end of its own, and the hooks in
// `hooks.json` beside it. Codex runs the hooks of a project only after a person has looked at them and trusts them.
import { type Denied, deny } from '../../kernel/verdict.ts';
import { type Hooked, quoted, withHooks, withoutHooks } from './hook-groups.ts';
import type { Host, How } from './host.ts';
import { changeJson } from './json-file.ts';
import { tomlKeys } from './toml-keys.ts';

const FILE = '.codex/config.toml';
const HOOKS = '.codex/hooks.json';
const BEGIN = '# >>> baton: written by `baton install codex`; `baton install codex --undo` takes it out';
const END = '# <<< baton';

/** Its shell calls itself Bash to hooks; patches come as a tool of their own or as a command of the shell. */
const WRITERS = 'Bash|apply_patch|Edit|Write';

/** Before a tool is used. */
export const CODEX_BEFORE: Hooked = ['PreToolUse', WRITERS];

const HOOKED: readonly Hooked[] = [
  CODEX_BEFORE,
  ['PostToolUse', WRITERS],
  ['UserPromptSubmit', null],
  ['Stop', null],
  ['SubagentStop', null],
  ['SessionStart', null],
];

export const codexHost: Host = {
  name: 'codex',
  files: [FILE, HOOKS],
  notes: [
    'Codex reads .codex/ in projects that you trust.',
    'It runs hooks only after you have reviewed them: start codex once in a terminal and trust them when it asks.',
    'Until then, and after each change of them, it leaves them out without a word, in `codex exec` too.',
  ],
  add: (file, text, how) => (file === HOOKS ? withOurHooks(text, how) : withServer(file, text, how)),
  remove: (file, text) => (file === HOOKS ? changeJson(file, text, withoutHooks) : withoutServer(file, text)),
};

function withOurHooks(text: string | null, how: How): string | Denied {
  return (
    changeJson(HOOKS, text, (object) => withHooks(object, HOOKS, HOOKED, { ...how, file: HOOKS }, quoted(how.dir))) ??
    ''
  );
}

function withServer(file: string, text: string | null, { program, dir }: How): string | Denied {
  // A JSON string is a string of TOML too.
  const command = `command = ${JSON.stringify(program)}`;
  const args = `args = [${['-C', dir, 'mcp'].map((arg) => JSON.stringify(arg)).join(', ')}]`;
  const before = text ?? '';
  const denied = roomFor(file, before, `baton = { ${command}, ${args} }`);
  if (denied) return denied;
  const table = `[mcp_servers.baton]\n${command}\n${args}\n`;
  return `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${BEGIN}\n${table}${END}\n`;
}

/** Why a table cannot be added below those that are there: Codex reads nothing of a file that has one twice. */
function roomFor(file: string, text: string, byHand: string): Denied | null {
  const keys = tomlKeys(text);
  if (!keys.ok)
    return deny('INVALID_CONFIG', `${file} is no TOML that can be added to (${keys.why}); mend it first`, { file });
  const servers = keys.root.children.get('mcp_servers');
  if (servers?.children.has('baton')) {
    return deny('NOT_ALLOWED_NOW', `${file} has a server baton of somebody else; rename or remove it first`, { file });
  }
  if (!servers || ['table', 'implied', 'dotted'].includes(servers.kind)) return null;
  const reason = `mcp_servers in ${file} is written as ${AS[servers.kind] ?? 'a value'}, below which no table can be added`;
  return deny('NOT_ALLOWED_NOW', `${reason}; write it as tables ([mcp_servers.NAME]), or add by hand: ${byHand}`, {
    file,
  });
}

const AS: Readonly<Record<string, string>> = { inline: 'a table between braces', 'array of tables': 'an array' };

function withoutServer(file: string, text: string): string | null | Denied {
  const from = text.indexOf(BEGIN);
  if (from === -1) return text;
  const end = text.indexOf(END, from);
  if (end === -1) {
    return deny('INVALID_CONFIG', `the block of baton in ${file} has no end (${END}); take it out by hand`, { file });
  }
  const rest = text.slice(0, from) + text.slice(end + END.length).replace(/^\r?\n/, '');
  return rest.trim() === '' ? null : rest;
}
