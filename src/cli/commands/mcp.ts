// `baton mcp`: an MCP server for agents within a cast and for clients outside, on standard input and output or over HTTP.
import { shownToken } from '../../access/actor.ts';
import { mayDecideBy, refusalOfStart, type ServerCaller } from '../../access/server-callers.ts';
import { actorHere } from '../../access/who-acts.ts';
import { noteRefusal, RefusalCount } from '../../app/refusals.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { Extension } from '../../mcp/server.ts';
import { type Call, EXIT_CODE, note, outJson, Refused, text, UsageError, version, withWorkspace } from '../command.ts';
import { contextFor, listen, portIn, type Serving, untilSignal } from '../serving.ts';

/** The server of the command, and whatever else it is to offer. */
export function serveMcp(call: Call, extension: Extension | null): Promise<number> {
  const given = text(call.values, 'http');
  const port = given === undefined ? null : portIn('http', given);
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
  const serving = { here, refusals };
  const newServer = (caller?: ServerCaller) =>
    serverFor({ ...contextFor(workspace, serving, caller), ...personToken }, version(), extension);
  if (port !== null) return overHttp(call, workspace, port, serving, newServer);
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
  return EXIT_CODE.ok;
}

/** The listener of the workspace's server, with nothing but MCP. */
async function overHttp(
  call: Call,
  workspace: Workspace,
  port: number,
  serving: Serving,
  newServer: (caller: ServerCaller) => ReturnType<ServerFor>,
): Promise<number> {
  const { url, token, isNewToken, close } = await listen(
    call,
    workspace,
    serving,
    { port, isMcpOnly: true },
    newServer,
  );
  const address = `${url}/mcp`;
  note(`MCP at ${address}`);
  // The token is shown once and written nowhere: reading a file of the workspace must not be enough to act as a person.
  if (isNewToken) note(`Authorization: Bearer ${token}`);
  if (call.json) outJson({ url: address, ...(isNewToken ? { token } : {}) });
  await untilSignal();
  await close();
  await serving.refusals.close(Date.now());
  return EXIT_CODE.ok;
}

type ServerFor = typeof import('../../mcp/server.ts').serverFor;
