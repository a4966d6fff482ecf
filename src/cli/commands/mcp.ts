// `baton mcp`: an MCP server for agents within a cast and for clients outside, on standard input and output or over HTTP.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Actor } from '../../access/actor.ts';
import { actorHere } from '../../access/actor-here.ts';
import { isAgentAt } from '../../access/peer.ts';
import {
  actorCalling,
  callerWith,
  mayDecideBy,
  refusalOfStart,
  refusedCaller,
  refusedStranger,
  type ServerCaller,
} from '../../access/server-callers.ts';
import { shownToken } from '../../access/shown-token.ts';
import { noteRefusal, RefusalCount } from '../../app/note-refusal.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { Denied } from '../../kernel/verdict.ts';
import type { Extension } from '../../mcp/server.ts';
import { contextIn, isAgentIn, type ToolContext } from '../../mcp/tool.ts';
import { type Call, EXIT, note, outJson, Refused, text, UsageError } from '../command.ts';
import { withWorkspace } from '../open-workspace.ts';

/** A short token can be guessed by whoever may try often enough. */
const TOKEN_CHARS_MIN = 16;

export function run(call: Call): Promise<number> {
  return serve(call, null);
}

/** The server of the command, and whatever else it is to offer. */
export function serve(call: Call, extension: Extension | null): Promise<number> {
  const port = portOf(call);
  return withWorkspace(call, (workspace) => serveIn(workspace, call, port, extension));
}

async function serveIn(
  workspace: Workspace,
  call: Call,
  port: number | null,
  extension: Extension | null,
): Promise<number> {
  const { serverFor } = await import('../../mcp/server.ts');
  const refusals = new RefusalCount((verdict, turned) => noteRefusal(workspace, verdict, turned, note));
  const shown = shownToken();
  const here = actorHere(workspace, { isServer: true, shown });
  // The server's own token over HTTP acts as an administrator. Over standard input and output the role of the actor limits.
  const refusal = refusalOfStart(call.env, shown, here, port === null ? 'look' : 'govern');
  if (refusal) {
    await noteRefusal(workspace, refusal, { who: here.name }, note);
    throw new Refused(refusal);
  }
  const personToken = shown === null ? {} : { personToken: () => mayDecideBy(call.env, shown) };
  const newServer = (caller?: ServerCaller) =>
    serverFor(
      { ...contextOf(workspace, { here, refusals, ...(caller ? { caller } : {}) }), ...personToken },
      version(),
      extension,
    );
  if (port !== null) return overHttp(call, port, { here, refusals }, newServer);
  if (call.json) throw new UsageError('standard output belongs to the protocol; --json goes with --http');
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const server = newServer();
  const gone = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => resolve());
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await server.connect(new StdioServerTransport());
  await gone;
  await server.close();
  await refusals.close(Date.now());
  return EXIT.ok;
}

type Serving = {
  /** Who started the server. */
  readonly here: Actor;
  readonly refusals: RefusalCount;
  readonly caller?: ServerCaller;
};

/** The workspace as the user who started the server sees it, or, over HTTP, as the caller does. */
function contextOf(workspace: Workspace, { here, refusals, caller }: Serving): ToolContext {
  const actor = caller ? actorCalling(caller, here) : here;
  const role = caller ? caller.role : here.role;
  const onRefused = (verdict: Denied) => void refusals.add(verdict, refusedCaller(verdict, actor), Date.now());
  const checkWork: ToolContext['checkWork'] = async (cast, turn, signal) =>
    (await import('../../app/submitted-work.ts')).checkSubmitted(workspace, cast, turn, signal);
  return { ...contextIn(workspace, actor), checkWork, ...(role === null ? {} : { role }), onRefused };
}

async function overHttp(
  call: Call,
  port: number,
  { here, refusals }: Serving,
  newServer: (caller: ServerCaller) => ReturnType<ServerFor>,
): Promise<number> {
  const { serveHttp } = await import('../../mcp/http.ts');
  const given = call.env.BATON_MCP_TOKEN;
  if (given !== undefined && given.length < TOKEN_CHARS_MIN)
    throw new UsageError(
      `BATON_MCP_TOKEN is shorter than ${TOKEN_CHARS_MIN} characters; choose a longer one, or leave it out`,
    );
  const token = given ?? randomBytes(32).toString('base64url');
  const admit = (shown: string) => callerWith(call.env, here, token, shown);
  // Started by an agent, it serves that agent, with an agent's tools.
  const guard = isAgentIn(call.env) ? {} : { isAgentAt };
  const onRefused = (verdict: Denied) => void refusals.add(verdict, { who: refusedStranger(verdict) }, Date.now());
  const listening = await serveHttp({ port, admit, onRefused, ...guard, newServer }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.syscall !== 'listen') throw error;
      throw new UsageError(`port ${port} cannot be used (${error.code}); name another one, or 0 for a free one`);
    },
  );
  note(`MCP at ${listening.url}`);
  // The token is told once and written nowhere: whoever can read a file of the workspace is not yet a person.
  if (given === undefined) note(`Authorization: Bearer ${token}`);
  if (call.json) outJson({ url: listening.url, ...(given === undefined ? { token } : {}) });
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await listening.close();
  await refusals.close(Date.now());
  return EXIT.ok;
}

type ServerFor = typeof import('../../mcp/server.ts').serverFor;

function portOf({ values }: Call): number | null {
  const given = text(values, 'http');
  if (given === undefined) return null;
  const port = Number(given);
  if (/^[0-9]{1,5}$/.test(given) && port <= 65_535) return port;
  throw new UsageError(`--http must be a port, 0 to 65535, not ${given}`);
}

function version(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return String(JSON.parse(readFileSync(file, 'utf8')).version);
}
