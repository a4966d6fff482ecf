// `baton mcp`: an MCP server for agents within a cast and for clients outside, on standard input and output or over HTTP.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Actor } from '../../access/actor.ts';
import { actorHere } from '../../access/actor-here.ts';
import { isAgentAt } from '../../access/peer.ts';
import { mayDo } from '../../access/role.ts';
import { shownToken } from '../../access/shown-token.ts';
import { admitToken } from '../../access/tokens.ts';
import { ACTS_FOR, NOBODY } from '../../access/who-acts.ts';
import { noteRefusal, RefusalCount, type TurnedAway } from '../../app/note-refusal.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { Denied, Verdict } from '../../kernel/verdict.ts';
import type { Caller } from '../../mcp/http.ts';
import type { Extension } from '../../mcp/server.ts';
import { contextIn, isAgentIn, type ToolContext } from '../../mcp/tool.ts';
import { type Call, EXIT, note, outJson, text, UsageError } from '../command.ts';
import { withWorkspace } from '../open-workspace.ts';

/** A short token can be guessed by whoever may try often enough. */
const TOKEN_CHARS_MIN = 16;
/** How the log names whoever acts by a token. */
const TOKEN_NAMES = 'token:';

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
  const personToken = shown === null ? {} : { personToken: () => decisionToken(call, shown) };
  const newServer = (caller?: Caller) =>
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
  readonly caller?: Caller;
};

/** The workspace as the user who started the server sees it, or, over HTTP, as the caller does. */
function contextOf(workspace: Workspace, { here, refusals, caller }: Serving): ToolContext {
  const actor = caller ? actorOf(caller, here) : here;
  const onRefused = (verdict: Denied) => void refusals.add(verdict, refusedCaller(verdict, actor), Date.now());
  const checkWork: ToolContext['checkWork'] = async (cast, turn, signal) =>
    (await import('../../app/submitted-work.ts')).checkSubmitted(workspace, cast, turn, signal);
  return { ...contextIn(workspace, actor), checkWork, ...(caller ? { role: caller.role } : {}), onRefused };
}

/** Whether the token that the server was started with is good for a decision now: it may expire or be revoked at any time. */
function decisionToken({ env }: Call, shown: string): Verdict {
  const admitted = admitToken(env, shown, Date.now());
  return admitted.ok ? mayDo(admitted.value.role, 'decide', 'a decision') : admitted.verdict;
}

/** Whoever shows a token acts under its name; where an agent started the server, that agent acts. */
function actorOf({ name, role }: Caller, here: Actor): Actor {
  if (here.kind === 'agent' || here.name === name) return here;
  // A process that is started for the caller acts for the same token.
  const env = name.startsWith(TOKEN_NAMES) ? { [ACTS_FOR]: name.slice(TOKEN_NAMES.length) } : {};
  return { name, kind: 'person', role, attempt: null, env };
}

async function overHttp(
  call: Call,
  port: number,
  { here, refusals }: Serving,
  newServer: (caller: Caller) => ReturnType<ServerFor>,
): Promise<number> {
  const { serveHttp } = await import('../../mcp/http.ts');
  const given = call.env.BATON_MCP_TOKEN;
  if (given !== undefined && given.length < TOKEN_CHARS_MIN)
    throw new UsageError(
      `BATON_MCP_TOKEN is shorter than ${TOKEN_CHARS_MIN} characters; choose a longer one, or leave it out`,
    );
  const token = given ?? randomBytes(32).toString('base64url');
  const admit = (shown: string) => callerFor(call, here, token, shown);
  // Started by an agent, it serves that agent, with an agent's tools.
  const guard = isAgentIn(call.env) ? {} : { isAgentAt };
  const onRefused = (verdict: Denied) => void refusals.add(verdict, { who: refusedName(verdict) }, Date.now());
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

/** Who shows a token: the one who started the server, with the server's own token, or whoever a token was made for. */
function callerFor({ env }: Call, here: Actor, own: string, shown: string): Caller | Denied {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  // Takes as long for a wrong token as for the right one.
  if (timingSafeEqual(digest(shown), digest(own))) return { name: here.name, role: 'admin' };
  const admitted = admitToken(env, shown, Date.now());
  if (!admitted.ok) return admitted.verdict;
  return { name: `${TOKEN_NAMES}${admitted.value.name}`, role: admitted.value.role };
}

/** Whoever wanted a tool that is kept from him; of an agent, also which tool it was. */
function refusedCaller({ code, details }: Denied, { name: who, kind }: Actor): TurnedAway {
  if (code !== 'APPROVER_IS_AGENT') return { who };
  const what = typeof details.tool === 'string' ? { what: details.tool } : {};
  return { who: kind === 'agent' ? who : 'agent:unknown', ...what };
}

/** How the log names whoever was turned away: by the token he showed, where it was one once. */
function refusedName({ code, details }: Denied): string {
  if (code === 'APPROVER_IS_AGENT') return 'agent:unknown';
  return typeof details.token === 'string' ? `${TOKEN_NAMES}${details.token}` : NOBODY;
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
