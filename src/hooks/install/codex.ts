// Codex: the MCP server in the project's `config.toml`, in a block with a beginning and an end of its own. It has no hooks
// that could refuse.
import { deny } from '../../kernel/verdict.ts';
import type { Host } from './host.ts';

const FILE = '.codex/config.toml';
const BEGIN = '# >>> baton: written by `baton install codex`; `baton install codex --undo` takes it out';
const END = '# <<< baton';

export const codexHost: Host = {
  name: 'codex',
  files: [FILE],
  notes: [
    'Codex reads .codex/config.toml in projects that you trust.',
    'It has no hooks, so that locks and contracts are kept by what its agent asks the server for, and by casts.',
  ],
  add(file, text, { program, dir }) {
    if (/^\s*\[\s*mcp_servers\s*\.\s*"?baton"?\s*[\].]/m.test(text ?? '')) {
      return deny('NOT_ALLOWED_NOW', `${file} has a server baton of somebody else; rename or remove it first`, {
        file,
      });
    }
    // A JSON string is a string of TOML too.
    const args = ['-C', dir, 'mcp'].map((arg) => JSON.stringify(arg)).join(', ');
    const table = `[mcp_servers.baton]\ncommand = ${JSON.stringify(program)}\nargs = [${args}]\n`;
    const before = text ?? '';
    return `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${BEGIN}\n${table}${END}\n`;
  },
  remove(file, text) {
    const from = text.indexOf(BEGIN);
    if (from === -1) return text;
    const end = text.indexOf(END, from);
    if (end === -1) {
      return deny('INVALID_CONFIG', `the block of baton in ${file} has no end (${END}); take it out by hand`, { file });
    }
    const rest = text.slice(0, from) + text.slice(end + END.length).replace(/^\r?\n/, '');
    return rest.trim() === '' ? null : rest;
  },
};
