// The streamable HTTP transport of MCP. The server of the workspace has the listener and knows who calls; a session belongs to
// the caller who began it.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ServerCaller } from '../access/server-callers.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

const SESSIONS_MAX = 64;
const BODY_BYTES_MAX = 16 * 1_048_576;
/** How soon a client whose stream ended reconnects for the rest. */
const RETRY_MS = 500;

type Session = {
  readonly transport: StreamableHTTPServerTransport;
  readonly server: Server;
  readonly caller: ServerCaller;
};

export class McpSessions {
  /** A server for one more connection. */
  readonly #newServer: (caller: ServerCaller) => Server;
  /** In the order of their last use. */
  readonly #open = new Map<string, Session>();

  constructor(newServer: (caller: ServerCaller) => Server) {
    this.#newServer = newServer;
  }

  /** Answers a request of a caller who may use the server. Never throws. */
  async answer(request: IncomingMessage, response: ServerResponse, caller: ServerCaller): Promise<void> {
    try {
      await this.#handle(request, response, caller);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      refuseRpc(response, 500, deny('INTERNAL', reason));
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse, caller: ServerCaller): Promise<void> {
    const id = request.headers['mcp-session-id'];
    if (typeof id !== 'string') return this.#begin(request, response, caller);
    const session = this.#open.get(id);
    // A caller cannot use another caller's session.
    if (session?.caller.name !== caller.name)
      return refuseRpc(response, 404, deny('BAD_USAGE', 'there is no such session; initialize a new one'));
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

/** An error of JSON-RPC, with the whole verdict. */
export function refuseRpc(
  response: ServerResponse,
  status: number,
  verdict: Denied,
  headers: Readonly<Record<string, string>> = {},
): void {
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
 * The latest messages to a client, so that it can ask for the rest after a lost connection. The list is bounded: a client that
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
