// The streamable HTTP transport of MCP on the loopback interface. Whoever calls must show a token, and must have meant
// this machine: a web page that was led here by a forged name is turned away before anything is read.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ServerCaller } from '../access/server-callers.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

const HOST = '127.0.0.1';
const PATH = '/mcp';
const SESSIONS_MAX = 64;
const BODY_BYTES_MAX = 16 * 1_048_576;
/** How soon a client whose stream ended comes back for the rest. */
const RETRY_MS = 500;

type HttpOptions = {
  /** 0 takes a free one. */
  readonly port: number;
  /** Who shows this token, asked anew with each request: a token may be taken back at any time. */
  readonly admit: (token: string) => ServerCaller | Denied;
  /** Told of everybody who is turned away because of who he is. */
  readonly onRefused?: (verdict: Denied) => void;
  /** Whether an agent of a cast is at the other end: it has a server of its own and must not act as somebody else here. */
  readonly isAgentAt?: (socket: Socket) => boolean;
  /** A server for one more connection. */
  readonly newServer: (caller: ServerCaller) => Server;
};

export type Listening = { readonly url: string; close(): Promise<void> };

type Session = {
  readonly transport: StreamableHTTPServerTransport;
  readonly server: Server;
  readonly caller: ServerCaller;
};

export async function serveHttp({ port, admit, onRefused, isAgentAt, newServer }: HttpOptions): Promise<Listening> {
  const sessions = new Sessions(newServer);
  const http = createServer((request, response) => {
    const refusal = refusalOf(request);
    if (refusal) return refuse(response, refusal);
    const caller = admit(shownBy(request));
    if ('allow' in caller) {
      onRefused?.(caller);
      return refuse(response, { status: 401, verdict: caller, headers: ASK_FOR_TOKEN });
    }
    if (isAgentAt?.(request.socket)) {
      onRefused?.(FOR_NO_AGENT.verdict);
      return refuse(response, FOR_NO_AGENT);
    }
    sessions.handle(request, response, caller).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      refuse(response, { status: 500, verdict: deny('INTERNAL', reason) });
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
  readonly #newServer: HttpOptions['newServer'];
  /** In the order of their last use. */
  readonly #open = new Map<string, Session>();

  constructor(newServer: HttpOptions['newServer']) {
    this.#newServer = newServer;
  }

  async handle(request: IncomingMessage, response: ServerResponse, caller: ServerCaller): Promise<void> {
    const id = request.headers['mcp-session-id'];
    if (typeof id !== 'string') return this.#begin(request, response, caller);
    const session = this.#open.get(id);
    // Another caller's session is as good as none.
    if (session?.caller.name !== caller.name)
      return refuse(response, misused(404, 'there is no such session; initialize a new one'));
    this.#open.delete(id);
    this.#open.set(id, session);
    await session.transport.handleRequest(request, response);
  }

  async close(): Promise<void> {
    for (const { server } of this.#open.values()) await server.close();
    this.#open.clear();
  }

  /** Only a request to initialize makes a session; the transport refuses any other. */
  async #begin(request: IncomingMessage, response: ServerResponse, caller: ServerCaller): Promise<void> {
    const server = this.#newServer(caller);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new RecentEvents(),
      retryInterval: RETRY_MS,
      maxRequestBodySize: BODY_BYTES_MAX,
      onsessioninitialized: (id) => this.#keep(id, { transport, server, caller }),
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

type Refusal = { readonly status: number; readonly verdict: Denied; readonly headers?: Record<string, string> };

const ASK_FOR_TOKEN = { 'www-authenticate': 'Bearer' };
const FOR_NO_AGENT: Refusal = {
  status: 403,
  verdict: deny('APPROVER_IS_AGENT', 'an agent of a cast uses the server that its cast offers, not this one'),
};

function refusalOf({ headers, url = '' }: IncomingMessage): Refusal | null {
  const { host = '', origin } = headers;
  if (!isLoopback(`http://${host}`)) return misused(403, 'the Host header names another machine');
  if (origin !== undefined && !isLoopback(origin)) return misused(403, 'pages of other origins may not call');
  if (url.split('?')[0] !== PATH) return misused(404, `there is only ${PATH}`);
  return null;
}

function misused(status: number, reason: string): Refusal {
  return { status, verdict: deny('BAD_USAGE', reason) };
}

function shownBy({ headers }: IncomingMessage): string {
  const { authorization = '' } = headers;
  // The name of a scheme may be written in any case.
  return /^bearer /i.test(authorization) ? authorization.slice('Bearer '.length) : '';
}

function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(address).hostname);
}

/** An error of JSON-RPC, with the whole verdict for whoever reads codes. */
function refuse(response: ServerResponse, { status, verdict, headers = {} }: Refusal): void {
  if (response.headersSent) return void response.end();
  const body = JSON.stringify({
    jsonrpc: '2.0',
    error: { code: -32000, message: verdict.reason, data: verdict },
    id: null,
  });
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

type Message = Parameters<EventStore['storeEvent']>[1];
type Sent = { readonly number: number; readonly stream: string; readonly message: Message };

/**
 * What was sent to a client lately, so that one whose connection drops can ask for the rest. It is bounded: a client that
 * stays away too long asks again.
 */
export class RecentEvents implements EventStore {
  readonly #max: number;
  readonly #sent: Sent[] = [];
  #last = 0;

  constructor(max = 1_000) {
    this.#max = max;
  }

  async storeEvent(stream: string, message: Message): Promise<string> {
    this.#last += 1;
    this.#sent.push({ number: this.#last, stream, message });
    if (this.#sent.length > this.#max) this.#sent.shift();
    return `${this.#last}_${stream}`;
  }

  async getStreamIdForEventId(event: string): Promise<string | undefined> {
    return parts(event)?.stream;
  }

  async replayEventsAfter(
    event: string,
    { send }: { send: (event: string, message: Message) => Promise<void> },
  ): Promise<string> {
    const { number, stream } = parts(event) ?? { number: this.#last, stream: '' };
    for (const sent of this.#sent.filter((one) => one.stream === stream && one.number > number)) {
      // The event that opens a stream carries nothing.
      if (Object.keys(sent.message).length > 0) await send(`${sent.number}_${stream}`, sent.message);
    }
    return stream;
  }
}

function parts(event: string): { readonly number: number; readonly stream: string } | null {
  const end = event.indexOf('_');
  const number = Number(event.slice(0, end));
  return end > 0 && Number.isSafeInteger(number) ? { number, stream: event.slice(end + 1) } : null;
}
