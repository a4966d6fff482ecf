// The server of a workspace as a command runs it: who may come in, with which token, until a signal ends it.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sessionCaller } from '../access/page-sessions.ts';
import { callerWith, isAgentAt, refusedStranger, type ServerCaller } from '../access/server-callers.ts';
import type { Workspace } from '../app/workspace.ts';
import type { Denied } from '../kernel/verdict.ts';
import type { serverFor } from '../mcp/server.ts';
import { isAgentIn } from '../mcp/tool.ts';
import { noteServer } from '../server/running-server.ts';
import type { RunningServer, ServeOptions } from '../server/serve.ts';
import { type Call, UsageError } from './command.ts';
import type { Serving } from './tool-context.ts';

/** A short token can be guessed by whoever may try often enough. */
const TOKEN_CHARS_MIN = 16;

/** The built page, beside the sources or the compiled files. */
export const PAGE_DIR = fileURLToPath(new URL('../../web/dist', import.meta.url));

export type Server = RunningServer & {
  /** Acts for whoever started the server. */
  readonly token: string;
  /** Whether the token was made now; else the environment holds it, and it is told to nobody. */
  readonly isNewToken: boolean;
};

/** Without a port: the usual one, or a free one where that is taken. */
export type Where = Partial<Pick<ServeOptions, 'port' | 'host' | 'tls' | 'publicUrl' | 'isBehindProxy' | 'isMcpOnly'>>;

/** The address of the page stays the same from day to day. */
const USUAL_PORT = 4187;

export async function listen(
  call: Call,
  workspace: Workspace,
  serving: Serving,
  where: Where,
  newMcp: (caller: ServerCaller) => ReturnType<typeof serverFor>,
): Promise<Server> {
  const { here, refusals } = serving;
  const given = call.env.BATON_MCP_TOKEN;
  if (given !== undefined && given.length < TOKEN_CHARS_MIN)
    throw new UsageError(
      `BATON_MCP_TOKEN is shorter than ${TOKEN_CHARS_MIN} characters; choose a longer one, or leave it out`,
    );
  const token = given ?? randomBytes(32).toString('base64url');
  const { LOOPBACK_HOST, startServer } = await import('../server/serve.ts');
  const admit = (shown: string) => {
    const caller = callerWith(call.env, here, token, shown);
    const isUnknown = 'allow' in caller && caller.code === 'TOKEN_UNKNOWN';
    return (isUnknown ? sessionCaller(workspace, shown, Date.now()) : null) ?? caller;
  };
  const options = {
    workspace,
    here,
    version: version(),
    host: LOOPBACK_HOST,
    ...where,
    pageDir: PAGE_DIR,
    admit,
    onRefused: (verdict: Denied) => void refusals.add(verdict, { who: refusedStranger(verdict) }, Date.now()),
    // Started by an agent, it serves that agent, with an agent's tools.
    ...(isAgentIn(call.env) ? {} : { isAgentAt }),
    newMcp,
  };
  const listening = await startServer({ ...options, port: where.port ?? USUAL_PORT }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.syscall !== 'listen') throw error;
      if (where.port === undefined && error.code === 'EADDRINUSE') return startServer({ ...options, port: 0 });
      throw new UsageError(`port ${where.port} cannot be used (${error.code}); name another one, or 0 for a free one`);
    },
  );
  const isReached = !where.isMcpOnly && where.tls === undefined && where.publicUrl === undefined;
  const unnote = isReached ? noteServer(workspace, listening.url) : () => undefined;
  const close = () => {
    unnote();
    return listening.close();
  };
  return { ...listening, close, token, isNewToken: given === undefined };
}

/** Resolves when a signal asks this process to end. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}

export function portIn(option: string, given: string): number {
  const port = Number(given);
  if (/^[0-9]{1,5}$/.test(given) && port <= 65_535) return port;
  throw new UsageError(`--${option} must be a port, 0 to 65535, not ${given}`);
}

export function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return String(JSON.parse(readFileSync(file, 'utf8')).version);
}
