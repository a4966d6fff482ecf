// pi: an extension of the project that asks `baton hook` before every tool call that writes. The file is all ours.
import { deny } from '../../kernel/verdict.ts';
import type { Host, How } from './host.ts';

const FIRST = '// Written by `baton install pi`; `baton install pi --undo` removes it.';

export const piHost: Host = {
  name: 'pi',
  files: ['.pi/extensions/baton.ts'],
  notes: [
    'pi asks whether the project is trusted before it loads its extensions; of the hooks it has those before a tool.',
  ],
  add(file, text, how) {
    if (text !== null)
      return deny('NOT_ALLOWED_NOW', `${file} is somebody else's; rename or remove it first`, { file });
    return extension(how);
  },
  remove: (_, text) => (text.startsWith(FIRST) ? null : text),
};

function extension({ program, dir, reportOnly }: How): string {
  const args = JSON.stringify(['-C', dir, 'hook', 'PreToolUse', ...(reportOnly ? ['--report-only'] : [])]);
  return `${FIRST}
import { spawn } from 'node:child_process';

const PROGRAM = ${JSON.stringify(program)};
const ARGS = ${args};
const SESSION = \`pi-\${process.pid}\`;

/** A call of pi in the words of the hook; undefined for a tool that writes nothing. */
function asHook(tool: string, input: Record<string, unknown>) {
  if (tool === 'bash') return { tool_name: 'Bash', tool_input: { command: input.command } };
  if (tool === 'write') return { tool_name: 'Write', tool_input: { file_path: input.path } };
  if (tool === 'edit') return { tool_name: 'Edit', tool_input: { file_path: input.path } };
  return undefined;
}

/** The reason of a refusal, or undefined. Whatever goes wrong refuses. */
function refusal(event: object): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, ARGS, { stdio: ['pipe', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.stdin.on('error', () => undefined);
    child.once('error', (error) => resolve(${reportOnly ? 'undefined' : `\`baton could not be asked: \${error.message}\``}));
    child.once('close', (code) => resolve(${reportOnly ? 'undefined' : `code === 0 ? undefined : said.trim() || \`baton ended with \${code}\``}));
    child.stdin.end(JSON.stringify(event));
  });
}

type ToolCall = { toolName: string; input: Record<string, unknown> };
type Answer = { block: true; reason: string } | undefined;
type Pi = { on(name: 'tool_call', handler: (event: ToolCall, ctx: { cwd?: string }) => Promise<Answer>): void };

export default function (pi: Pi) {
  pi.on('tool_call', async (event, ctx) => {
    const use = asHook(event.toolName, event.input ?? {});
    if (!use) return undefined;
    const reason = await refusal({ session_id: SESSION, cwd: ctx?.cwd ?? process.cwd(), ...use });
    if (reason === undefined) return undefined;
    // Nothing else tells the agent under which name its claims count.
    return { block: true, reason: \`\${reason}\\nTo baton you are \${SESSION}: claim tasks with --owner \${SESSION}.\` };
  });
}
`;
}
