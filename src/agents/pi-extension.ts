// An extension for pi, which has neither an MCP client nor hooks. It starts the servers in its environment and registers their
// tools, and asks the guard in its environment before a tool writes. It runs inside pi, so it imports none of our code. Without
// a reachable server the agent has no tools and answers in its own words. Without a reachable guard every write is refused.
import { type ChildProcess, spawn } from 'node:child_process';
import { type GuardCall, type GuardedPi, guardBy } from './pi-guard.ts';

/** Names the servers, as JSON: `{name: {command, args, env}}`. */
export const SERVERS_VARIABLE = 'BATON_PI_SERVERS';

/** Names the guard before a tool call, as JSON: `{program, args}`. */
export const GUARD_VARIABLE = 'BATON_PI_GUARD';

/** A server that lists no tools by then is not awaited. */
const START_MS = 30_000;

type Server = {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};
type Params = Readonly<Record<string, unknown>>;
type Listed = { readonly name: string; readonly description?: string; readonly inputSchema: object };
type Text = { readonly type: 'text'; readonly text: string };
type Result = { readonly content: readonly Text[]; readonly details: undefined };
type Tool = Pick<Listed, 'name'> & {
  readonly label: string;
  readonly description: string;
  readonly parameters: object;
  execute(id: string, params: Params): Promise<Result>;
};
type Pi = GuardedPi & { registerTool(tool: Tool): void; on(event: 'session_shutdown', handler: () => void): void };
type Ask = (method: string, params: Params) => Promise<Params>;

export default async function extension(pi: Pi): Promise<void> {
  const guard = process.env[GUARD_VARIABLE];
  if (guard !== undefined) guardBy(JSON.parse(guard) as GuardCall)(pi);
  const servers = JSON.parse(process.env[SERVERS_VARIABLE] ?? '{}') as Record<string, Server>;
  await Promise.all(Object.values(servers).map((server) => offer(pi, server).catch(() => undefined)));
}

async function offer(pi: Pi, { command, args = [], env = {} }: Server): Promise<void> {
  const child = spawn(command, [...args], { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
  pi.on('session_shutdown', () => void child.kill());
  const ask = conversation(child);
  try {
    for (const tool of await within(START_MS, toolsOf(ask))) pi.registerTool(asTool(tool, ask));
  } catch (error) {
    child.kill();
    throw error;
  }
}

async function toolsOf(ask: Ask): Promise<readonly Listed[]> {
  const clientInfo = { name: 'pi', version: '1' };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  await ask('notifications/initialized', {});
  return ((await ask('tools/list', {})).tools ?? []) as readonly Listed[];
}

function asTool({ name, description = '', inputSchema }: Listed, ask: Ask): Tool {
  return {
    name,
    label: name,
    description,
    parameters: inputSchema,
    async execute(_id, params) {
      const { content = [], isError } = await ask('tools/call', { name, arguments: params });
      const text = (content as readonly Text[]).map((part) => part.text ?? '').join('\n');
      // For pi, a thrown error is a failed call.
      if (isError === true) throw new Error(text);
      return { content: [{ type: 'text', text }], details: undefined };
    },
  };
}

/** One JSON message a line, in both directions. */
function conversation(child: ChildProcess): Ask {
  const waiting = new Map<number, (answer: Params | Error) => void>();
  let asked = 0;
  let rest = '';
  const giveUp = (why: string) => {
    for (const answer of waiting.values()) answer(new Error(why));
    waiting.clear();
  };
  child.once('error', (error) => giveUp(error.message));
  child.once('close', () => giveUp('the server has ended'));
  child.stdin?.on('error', () => undefined);
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.filter((one) => one.trim() !== '')) take(line);
  });
  const take = (line: string) => {
    const { id, result, error } = JSON.parse(line) as { id?: number; result?: Params; error?: { message?: string } };
    const answer = waiting.get(id ?? 0);
    waiting.delete(id ?? 0);
    answer?.(error ? new Error(error.message ?? 'the server refused') : (result ?? {}));
  };
  return (method, params) => {
    const send = (message: object) =>
      child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method, params, ...message })}\n`);
    if (method.startsWith('notifications/')) {
      send({});
      return Promise.resolve({});
    }
    asked += 1;
    const id = asked;
    return new Promise((resolve, reject) => {
      if (child.exitCode !== null) return reject(new Error('the server has ended'));
      waiting.set(id, (answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
      send({ id });
    });
  };
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the server does not answer')), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
