// The streamable HTTP transport of MCP on the loopback interface. Whoever calls must know the token, and must have meant
// this machine: a web page that was led here by a forged name is turned away before anything is read.
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { RecentEvents } from './event-store.ts';

const HOST = '127.0.0.1';
const PATH = '/mcp';
const SESSIONS_MAX = 64;
const BODY_BYTES_MAX = 16 * 1_048_576;
/** How soon a client whose stream ended comes back for the rest. */
const RETRY_MS = 500;

export type HttpOptions = {
  /** 0 takes a free one. */
  readonly port: number;
  readonly token: string;
  /** A server for one more connection. */
  readonly newServer: () => Server;
};

export type Listening = { readonly url: string; close(): Promise<void> };

type Session = { readonly transport: StreamableHTTPServerTransport; readonly server: Server };

export async function serveHttp({ port, token, newServer }: HttpOptions): Promise<Listening> {
  const sessions = new Sessions(newServer);
  const http = createServer((request, response) => {
    const refusal = refusalOf(request, token);
    if (refusal) return refuse(response, refusal);
    sessions.handle(request, response).catch((error: unknown) => {
      refuse(response, { status: 500, message: error instanceof Error ? error.message : String(error) });
    });
  });
  // An answer may take as long as a cast does.
  http.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, HOST, resolve);
  });
  const { port: taken } = http.address() as AddressInfo;
  return {
    url: `http://${HOST}:${taken}${PATH}`,
    async close() {
      await sessions.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

class Sessions {
  readonly #newServer: () => Server;
  /** In the order of their last use. */
  readonly #open = new Map<string, Session>();

  constructor(newServer: () => Server) {
    this.#newServer = newServer;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    if (typeof id !== 'string') return this.#begin(request, response);
    const session = this.#open.get(id);
    if (!session) return refuse(response, { status: 404, message: 'there is no such session; initialize a new one' });
    this.#open.delete(id);
    this.#open.set(id, session);
    await session.transport.handleRequest(request, response);
  }

  async close(): Promise<void> {
    for (const { server } of this.#open.values()) await server.close();
    this.#open.clear();
  }

  /** Only a request to initialize makes a session; the transport refuses any other. */
  async #begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const server = this.#newServer();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new RecentEvents(),
      retryInterval: RETRY_MS,
      maxRequestBodySize: BODY_BYTES_MAX,
      onsessioninitialized: (id) => this.#keep(id, { transport, server }),
      onsessionclosed: (id) => void this.#open.delete(id),
    });
    // The SDK's own types disagree about members that may be undefined.
    await server.connect(transport as Transport);
    await transport.handleRequest(request, response);
    if (transport.sessionId === undefined) await server.close();
  }

  async #keep(id: string, session: Session): Promise<void> {
    this.#open.set(id, session);
    const [oldest] = this.#open;
    if (!oldest || this.#open.size <= SESSIONS_MAX) return;
    this.#open.delete(oldest[0]);
    await oldest[1].server.close();
  }
}

type Refusal = { readonly status: number; readonly message: string; readonly headers?: Record<string, string> };

function refusalOf({ headers, url = '' }: IncomingMessage, token: string): Refusal | null {
  const { host = '', origin, authorization = '' } = headers;
  if (!isLoopback(`http://${host}`)) return { status: 403, message: 'the Host header names another machine' };
  if (origin !== undefined && !isLoopback(origin))
    return { status: 403, message: 'pages of other origins may not call' };
  if (url.split('?')[0] !== PATH) return { status: 404, message: `there is only ${PATH}` };
  if (!isSame(authorization, `Bearer ${token}`)) {
    const message = 'send the token of this server: Authorization: Bearer TOKEN';
    return { status: 401, message, headers: { 'www-authenticate': 'Bearer' } };
  }
  return null;
}

function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(address).hostname);
}

/** Takes as long for a wrong token as for the right one. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

function refuse(response: ServerResponse, { status, message, headers = {} }: Refusal): void {
  if (response.headersSent) return void response.end();
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null });
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}
