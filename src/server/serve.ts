// The server of a workspace: one listener for the operations, the streams, the page and MCP. It is a skin: a caller who gets in
// calls an operation, as by the command line.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Server as McpServer } from '@modelcontextprotocol/sdk/server/index.js';
import type { Actor } from '../access/actor.ts';
import { actorCalling, type ServerCaller } from '../access/server-callers.ts';
import { verdictOf } from '../app/refused.ts';
import type { Workspace } from '../app/workspace.ts';
import type { Denied } from '../kernel/verdict.ts';
import { McpSessions, refuseRpc } from '../mcp/http.ts';
import { headersFor, httpStatusOf, noRoute } from './answer.ts';
import { appOf } from './app.ts';
import { operationNamed } from './calls.ts';
import { EventHub } from './event-hub.ts';
import { FrontDoor } from './front-door.ts';
import { LiveFeed } from './live-feed.ts';
import { RequestCounts, routeOf } from './metrics-text.ts';
import { type BuildPage, PageFiles } from './page-files.ts';
import { requestTraces } from './request-traces.ts';

export type ServeOptions = {
  readonly workspace: Workspace;
  /** Who started the server. */
  readonly here: Actor;
  readonly version: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The address under which others know this server, beyond this machine. */
  readonly publicUrl?: string;
  readonly isBehindProxy?: boolean;
  /** The folder of the built page. */
  readonly pageDir: string;
  /** Makes it where it was never built. */
  readonly buildPage?: BuildPage | null;
  readonly admit: (token: string) => ServerCaller | Denied;
  readonly onRefused: (verdict: Denied) => void;
  readonly isAgentAt?: (socket: Socket) => boolean;
  /** The agent that shows the token of its attempt; it is let in to MCP alone. */
  readonly admitAgent?: (token: string, socket: Socket) => Promise<ServerCaller | Denied>;
  readonly newMcp: (caller: ServerCaller) => McpServer;
  readonly requestsPerSecond?: number;
  /** Tells the person who started it. */
  readonly say?: (line: string) => void;
  /** It offers MCP and nothing else. */
  readonly isMcpOnly?: boolean;
};

export type RunningServer = {
  readonly url: string;
  /** The tools, as programs of this machine reach them. */
  readonly mcpUrl: string;
  readonly port: number;
  close(): Promise<void>;
};

const CONNECTIONS_MAX = 1_024;
/** For a whole request to come in; the answer may take as long as it takes. */
const REQUEST_MS_MAX = 60_000;
export const LOOPBACK_HOST = '127.0.0.1';
const MCP_PATH = '/mcp';

export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { workspace, here, host, port, tls, publicUrl = null, isBehindProxy = false } = options;
  const hub = new EventHub(workspace);
  const live = new LiveFeed(workspace, hub);
  const door = new FrontDoor({
    publicUrl,
    isLoopback: host === LOOPBACK_HOST,
    isBehindProxy,
    admit: options.admit,
    onRefused: options.onRefused,
    ...(options.isAgentAt ? { isAgentAt: options.isAgentAt } : {}),
    ...(options.admitAgent ? { admitAgent: options.admitAgent } : {}),
    ...(options.requestsPerSecond === undefined ? {} : { requestsPerSecond: options.requestsPerSecond }),
  });
  const requests = new RequestCounts();
  const traces = requestTraces(workspace, options.say ?? (() => undefined));
  const app = appOf({
    workspace,
    version: options.version,
    door,
    actorOf: (caller) => actorCalling(caller, here),
    hub,
    live,
    page: new PageFiles(options.pageDir, options.buildPage),
    requests,
  });
  const mcp = new McpSessions(options.newMcp);
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const onMcp = async (request: IncomingMessage, response: ServerResponse) => {
    const caller = await door.toolCallerOf(request).catch(verdictOf);
    if ('allow' in caller) return refuseRpc(response, httpStatusOf(caller), caller, headersFor(caller));
    await mcp.answer(request, response, caller);
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url?.split('?')[0] ?? '';
    const [began, startedAt] = [performance.now(), Date.now()];
    response.once('finish', () => {
      const { statusCode } = response;
      // How long a stream is open says nothing about the server.
      if (path === '/api/events' && statusCode === 200) return;
      const route = routeOf(path, (name) => operationNamed(name) !== null);
      requests.note(route, request.method ?? '', statusCode, performance.now() - began);
      traces.note(request, route, statusCode, startedAt);
    });
    if (path === MCP_PATH) void onMcp(request, response);
    else if (options.isMcpOnly) refuseRpc(response, 404, noRoute(request.url ?? ''));
    else void listener(request, response);
  };
  const http: Server = tls ? createTlsServer(tls, onRequest) : createServer(onRequest);
  http.maxConnections = CONNECTIONS_MAX;
  http.requestTimeout = REQUEST_MS_MAX;
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, host, resolve);
  });
  const { port: taken } = http.address() as AddressInfo;
  const scheme = tls ? 'https' : 'http';
  const own = `${scheme}://${host}:${taken}`;
  return {
    url: publicUrl ?? own,
    mcpUrl: `${tls === undefined && host === LOOPBACK_HOST ? own : (publicUrl ?? own)}${MCP_PATH}`,
    port: taken,
    async close() {
      hub.close();
      await live.close();
      await mcp.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await traces.settled();
    },
  };
}
