// `baton serve` and the server behind it, which `baton ui` and `baton mcp --http` use as well: who may come in, with which token, and
// what becomes of those it turns away, until a signal ends it.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import { type Actor, shownToken, whyNotPerson } from '../access/actor.ts';
import { refusalToAgent } from '../access/rights.ts';
import {
  actorCalling,
  agentCalling,
  callerWith,
  isAgentAt,
  refusalOfStart,
  refusedCaller,
  refusedStranger,
  type ServerCaller,
  sessionCaller,
} from '../access/server-callers.ts';
import { actorHere } from '../access/who-acts.ts';
import { deliverWhileServing } from '../app/driving/deliver-events.ts';
import { keepDriven } from '../app/driving/detach.ts';
import { noteRefusal, RefusalCount } from '../app/refusals.ts';
import type { Workspace } from '../app/workspace.ts';
import type { Denied } from '../kernel/verdict.ts';
import type { serverFor } from '../mcp/server.ts';
import { contextIn, isAgentIn, type ToolContext } from '../mcp/tool.ts';
import { noteServer } from '../server/running-server.ts';
import type { RunningServer, ServeOptions } from '../server/serve.ts';
import { PAGE_DIR, pageBuilder } from './build-page.ts';
import {
  type Call,
  EXIT_CODE,
  flag,
  note,
  outJson,
  Refused,
  text,
  UsageError,
  version,
  withWorkspace,
} from './command.ts';

type Server = RunningServer & {
  /** Acts as the user who started the server. */
  readonly token: string;
  /** Whether the token was made now; one from the environment is not shown. */
  readonly isNewToken: boolean;
};

/** Without a port: the usual one, or a free one where that is taken. */
export type Where = Partial<Pick<ServeOptions, 'port' | 'host' | 'tls' | 'publicUrl' | 'isBehindProxy' | 'isMcpOnly'>>;

export type Serving = {
  /** Who started the server. */
  readonly here: Actor;
  readonly refusals: RefusalCount;
};

/** Serves until a signal ends it. */
export function serveCommand(call: Call): Promise<number> {
  const where = whereOf(call);
  return withWorkspace(call, (workspace) =>
    serving(call, workspace, where, async ({ url, token, isNewToken }) => {
      note(`Baton serves ${workspace.dir} at ${url}`);
      // The token is shown once and written nowhere.
      if (isNewToken) note(`Page: ${url}/#token=${token}`);
      if (call.json) outJson({ url, ...(isNewToken ? { token } : {}) });
      await untilSignal();
      return EXIT_CODE.ok;
    }),
  );
}

/** Beyond this machine the connection must be encrypted: by TLS here, or by a proxy. */
function whereOf(call: Call): Where {
  const { values } = call;
  const given = text(values, 'port');
  const [host, cert, key, publicUrl] = ['host', 'tls-cert', 'tls-key', 'public-url'].map((name) => text(values, name));
  const isBehindProxy = flag(values, 'behind-proxy');
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('--tls-cert and --tls-key go together');
  if (publicUrl !== undefined && !/^https:\/\/[^/?#\s]+\/?$/.test(publicUrl))
    throw new UsageError(`--public-url must be an address such as https://baton.example.org, not ${publicUrl}`);
  const isBeyond = host !== undefined && !['127.0.0.1', 'localhost'].includes(host);
  if (isBeyond && cert === undefined && !isBehindProxy)
    throw new UsageError(`--host ${host} is beyond this machine: give --tls-cert and --tls-key, or --behind-proxy`);
  if ((isBeyond || isBehindProxy) && publicUrl === undefined)
    throw new UsageError('give --public-url: the address by which the server is called; any other name is refused');
  return {
    ...(given === undefined ? {} : { port: portIn('port', given) }),
    ...(isBeyond ? { host } : {}),
    ...(cert === undefined || key === undefined ? {} : { tls: { cert: fileOf(call, cert), key: fileOf(call, key) } }),
    ...(publicUrl === undefined ? {} : { publicUrl: publicUrl.replace(/\/$/, '') }),
    ...(isBehindProxy ? { isBehindProxy } : {}),
  };
}

function fileOf({ cwd }: Call, name: string): string {
  try {
    return readFileSync(resolve(cwd, name), 'utf8');
  } catch (error) {
    throw new UsageError(`${name} cannot be read (${(error as Error).message})`);
  }
}

/** A shorter token could be guessed. */
const TOKEN_CHARS_MIN = 16;

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
  const castOf = async (id: string) => (workspace.hasLog() ? workspace.castStore().view('cast', id) : null);
  const options = {
    workspace,
    here,
    version: version(),
    host: LOOPBACK_HOST,
    ...where,
    pageDir: PAGE_DIR,
    buildPage: pageBuilder(call.env),
    admit,
    onRefused: (verdict: Denied) => void refusals.add(verdict, { who: refusedStranger(verdict) }, Date.now()),
    // Started by an agent, it serves that agent, with an agent's tools.
    ...(isAgentIn(call.env) ? {} : { isAgentAt }),
    admitAgent: (shown: string, socket: Socket) =>
      agentCalling({ stateDir: workspace.stateDir, castOf }, shown, isAgentIn(call.env) ? null : socket),
    newMcp,
    say: note,
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
  workspace.offerTools(listening.mcpUrl);
  const close = () => {
    unnote();
    workspace.offerTools(null);
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

/** Runs the server for as long as `work` takes. */
export async function serving<T>(
  call: Call,
  workspace: Workspace,
  where: Where,
  work: (server: Server) => Promise<T>,
): Promise<T> {
  const refusals = new RefusalCount((verdict, turned) => noteRefusal(workspace, verdict, turned, note));
  const shown = shownToken();
  const here = actorHere(workspace, { isServer: true, shown });
  const why = whyNotPerson(here, call.command.name, null, workspace.program);
  // The server's own token acts as an administrator.
  const refusal =
    why === null
      ? refusalOfStart(call.env, shown, here, 'govern')
      : refusalToAgent('serve a workspace', { operation: 'serve' }, why);
  if (refusal) {
    await noteRefusal(workspace, refusal, { who: here.name }, note);
    throw new Refused(refusal);
  }
  const { serverFor } = await import('../mcp/server.ts');
  const server = await listen(call, workspace, { here, refusals }, where, (caller) =>
    serverFor(contextFor(workspace, { here, refusals }, caller), version()),
  );
  const driven = keepDriven(workspace, here, { say: note });
  const delivered = await deliverWhileServing(workspace, note);
  try {
    return await work(server);
  } finally {
    driven.close();
    delivered.close();
    await server.close();
    await refusals.close(Date.now());
  }
}

/** The workspace as the user who started the server sees it, or, over HTTP, as the caller does. */
export function contextFor(workspace: Workspace, { here, refusals }: Serving, caller?: ServerCaller): ToolContext {
  const actor = caller ? actorCalling(caller, here) : here;
  const role = caller ? caller.role : here.role;
  const onRefused = (verdict: Denied) => void refusals.add(verdict, refusedCaller(verdict, actor), Date.now());
  const checkWork: ToolContext['checkWork'] = async (cast, turn, signal) =>
    (await import('../app/cast-work.ts')).checkSubmitted(workspace, cast, turn, signal);
  const context = { ...contextIn(workspace, actor), ...(role === null ? {} : { role }), onRefused };
  if (!caller?.attempt) return { ...context, checkWork };
  // Its token proves the attempt. The project's checks run when the turn ends: this process is not the agent's, and holds more than it may see.
  return { ...context, attempt: caller.attempt, isAgent: true, isElsewhere: true, isOwn: async () => true };
}
