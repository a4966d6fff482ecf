// A plugin that OpenCode loads. It asks whom its environment names before a tool writes, and prints what OpenCode keeps to itself until
// a step is over: what is said, which tool is at work, which model answers, and that its provider is asked again. It runs inside
// OpenCode, which takes every export for a plugin.
import { askGuard, type GuardCall } from './pi-guard.ts';

type Properties = {
  readonly field?: string;
  readonly delta?: string;
  readonly info?: { readonly role?: string; readonly modelID?: string };
  readonly status?: { readonly type?: string; readonly message?: string; readonly next?: number };
  readonly part?: {
    readonly type?: string;
    readonly tool?: string;
    readonly callID?: string;
    readonly state?: { readonly status?: string; readonly input?: Args };
  };
};
type OpenCodeEvent = { readonly type: string; readonly properties: Properties };
type Args = Readonly<Record<string, unknown>>;

export default async function baton(): Promise<object> {
  const guard = process.env.BATON_OPENCODE_GUARD;
  const asked = guard === undefined ? null : (JSON.parse(guard) as GuardCall);
  return {
    event: async ({ event }: { readonly event: OpenCodeEvent }) => {
      const line = toldBy(event);
      if (line) process.stdout.write(`${JSON.stringify({ type: 'baton', ...line })}\n`);
    },
    'tool.execute.before': async ({ tool }: { readonly tool: string }, { args = {} }: { readonly args?: Args }) => {
      const use = asked && asHook(tool, args);
      const reason = use && (await askGuard(asked, { session_id: 'opencode', cwd: process.cwd(), ...use }));
      // What is thrown is what the agent gets as the result of the call.
      if (reason) throw new Error(reason);
    },
  };
}

function toldBy({ type, properties: { field, delta, info, status, part } }: OpenCodeEvent): object | null {
  if (type === 'message.part.delta') return field === 'text' ? { said: delta } : null;
  if (type === 'message.updated') return info?.role === 'assistant' ? { model: info.modelID } : null;
  if (type === 'session.status') {
    if (status?.type !== 'retry') return null;
    return { retry: status.message ?? 'error', forMs: Math.max(0, (status.next ?? 0) - Date.now()) };
  }
  if (type !== 'message.part.updated' || part?.type !== 'tool' || part.state?.status !== 'running') return null;
  return { begun: part.callID, tool: part.tool, input: part.state.input };
}

/** A call in the words of the hook; undefined for a tool that writes nothing. */
function asHook(tool: string, args: Args): object | undefined {
  if (tool === 'bash') return { tool_name: 'Bash', tool_input: { command: args.command } };
  if (tool === 'write') return { tool_name: 'Write', tool_input: { file_path: args.filePath } };
  if (tool === 'edit') return { tool_name: 'Edit', tool_input: { file_path: args.filePath } };
  return undefined;
}
