// The part of an extension of pi that asks `baton hook` before every tool call that writes. It runs inside pi, so that it
// brings nothing of ours along: an installed extension holds this very text, and the one of a cast loads it.
import { spawn } from 'node:child_process';

/** Who is asked, and whether his answer is only written down. */
export type GuardCall = { readonly program: string; readonly args: readonly string[]; readonly isReportOnly?: boolean };

type Input = Readonly<Record<string, unknown>>;
type ToolCall = { readonly toolName: string; readonly input?: Input };
type Answer = { readonly block: true; readonly reason: string } | undefined;
type Handler = (event: ToolCall, ctx?: { readonly cwd?: string }) => Promise<Answer>;

export type GuardedPi = { on(name: 'tool_call', handler: Handler): void };

/** What an extension of pi exports. */
export function guardBy(asked: GuardCall): (pi: GuardedPi) => void {
  const session = `pi-${process.pid}`;
  return (pi) =>
    pi.on('tool_call', async ({ toolName, input = {} }, ctx) => {
      const use = asHook(toolName, input);
      if (!use) return undefined;
      const reason = await askGuard(asked, { session_id: session, cwd: ctx?.cwd ?? process.cwd(), ...use });
      if (reason === undefined) return undefined;
      // Nothing else tells the agent under which name its claims count; in a cast they are the cast's.
      const name = `\nTo baton you are ${session}: claim tasks with --owner ${session}.`;
      return { block: true, reason: process.env.BATON_CAST ? reason : `${reason}${name}` };
    });
}

/** A call of pi in the words of the hook; undefined for a tool that writes nothing. */
function asHook(tool: string, input: Input): object | undefined {
  if (tool === 'bash') return { tool_name: 'Bash', tool_input: { command: input.command } };
  if (tool === 'write') return { tool_name: 'Write', tool_input: { file_path: input.path } };
  if (tool === 'edit') return { tool_name: 'Edit', tool_input: { file_path: input.path } };
  return undefined;
}

/** The reason of a refusal, or undefined. Whatever goes wrong refuses. */
export function askGuard(
  { program, args, isReportOnly = false }: GuardCall,
  event: object,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const refuse = (reason: string) => resolve(isReportOnly ? undefined : reason);
    const child = spawn(program, [...args], { stdio: ['pipe', 'ignore', 'pipe'] });
    let printed = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    child.stdin.on('error', () => undefined);
    child.once('error', (error) =>
      refuse(`baton could not be asked (${error.message}): install it, or remove the extension that asks it`),
    );
    child.once('close', (code) =>
      code === 0 ? resolve(undefined) : refuse(printed.trim() || `baton ended with ${code}`),
    );
    child.stdin.end(JSON.stringify(event));
  });
}
