// A model on loopback for tests. It speaks Anthropic Messages, OpenAI Responses, Chat Completions and Gemini's interface, streamed and
// whole, gives the scripted answers, and records every request. It needs no key and no network.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { generate } from './generate.ts';
import { countTokens, messages } from './messages.ts';
import { chat, responses } from './openai.ts';
import {
  type Answers,
  type Cut,
  conversationOf,
  type Failed,
  isInterrupted,
  type ModelEvent,
  type ModelProtocol,
  type ModelRequest,
  objects,
  type Protocol,
  replyTo,
  type ScriptedAnswer,
  type Stalled,
} from './script.ts';

export type ModelServerOptions = {
  readonly answers: Answers;
  /** The models `GET /v1/models` lists. Requests may name any model. */
  readonly models?: readonly string[];
};

export type ModelServer = {
  /** `http://127.0.0.1:PORT`, without a slash and without `/v1`. */
  readonly url: string;
  /** Every request for an answer, in the order they came. */
  readonly requests: readonly ModelRequest[];
  /** Ends stalled connections too. */
  close(): Promise<void>;
};

const PROTOCOLS: Readonly<Record<Protocol, ModelProtocol>> = { messages, responses, chat, generate };
const PATHS: Readonly<Record<string, Protocol>> = {
  '/v1/messages': 'messages',
  '/v1/responses': 'responses',
  '/v1/chat/completions': 'chat',
};
/** Gemini's requests name the model and what is asked of it in their path. */
const GENERATE = /^\/v1(?:beta)?\/models\/([^/:]{1,200}):(generateContent|streamGenerateContent|countTokens)$/;
const BODY_BYTES_MAX = 64 * 1_048_576;

export async function modelServer({ answers, models = ['test-model'] }: ModelServerOptions): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const closing = new AbortController();
  const server = createServer((incoming, response) => {
    // A client that hangs up, and a server that is closed, are both ordinary ends of a test.
    serve(incoming, response).catch(() => response.destroy());
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (incoming.url ?? '').split('?')[0] ?? '';
    if (incoming.method === 'HEAD') return end(response, 200, {});
    if (path === '/v1/models') return end(response, 200, modelList(models));
    const body = parse(await bodyOf(incoming));
    if (body === null) return end(response, 400, { error: { message: 'the body is not a JSON object' } });
    if (path === '/v1/messages/count_tokens') return end(response, 200, countTokens(body));
    const [, model, verb] = GENERATE.exec(path) ?? [];
    if (verb === 'countTokens') return end(response, 200, { totalTokens: Math.ceil(JSON.stringify(body).length / 4) });
    const protocol = verb === undefined ? PATHS[path] : 'generate';
    if (!protocol) return end(response, 404, { error: { message: `there is nothing at ${path}` } });
    const named = model === undefined ? body : { ...body, model, stream: verb === 'streamGenerateContent' };
    const asked = PROTOCOLS[protocol].read(named);
    const conversation = conversationOf(requests, protocol, asked);
    const request = { number: requests.length + 1, protocol, ...asked, conversation, headers: incoming.headers, body };
    requests.push(request);
    await say(request, await answerTo(request), response);
  }

  async function answerTo(request: ModelRequest): Promise<ScriptedAnswer> {
    if (typeof answers === 'function') return answers(request);
    const next = answers[request.number - 1];
    return next ?? { status: 400, message: `the script has no answer for request ${request.number}` };
  }

  async function say(request: ModelRequest, answer: ScriptedAnswer, response: ServerResponse): Promise<void> {
    const protocol = PROTOCOLS[request.protocol];
    const finished = typeof answer === 'string' ? { text: answer } : answer;
    if ('status' in finished) return fail(protocol, finished, response);
    if (isInterrupted(finished)) return interrupt(request, finished, response);
    if (finished.delayMs) await sleep(finished.delayMs, undefined, { signal: closing.signal });
    const reply = replyTo(request, finished);
    if (!request.stream) return end(response, 200, protocol.whole(reply));
    begin(response);
    for (const event of protocol.stream(reply)) await write(response, event);
    response.end();
  }

  /** Says the first half of a stream, or nothing, and then hangs up or goes silent. */
  async function interrupt(request: ModelRequest, how: Stalled | Cut, response: ServerResponse): Promise<void> {
    const when = 'stall' in how ? how.stall : how.cut;
    if (when === 'during') {
      begin(response, request.stream ? 'text/event-stream' : 'application/json');
      const { text = 'this answer is never going to be finished' } = how;
      const reply = replyTo(request, { text: text.slice(0, Math.ceil(text.length / 2)) });
      const events = request.stream ? PROTOCOLS[request.protocol].stream(reply) : [];
      for (const event of events.slice(0, events.findLastIndex(saysText) + 1)) await write(response, event);
      if (!request.stream) response.write('{"unfinished": ');
    }
    if ('cut' in how) {
      // What was written must be on its way before the connection is torn down.
      await sleep(20);
      response.destroy();
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      closing.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** After the last of these comes only what ends an answer. */
function saysText({ data }: ModelEvent): boolean {
  if (data === '[DONE]') return false;
  const [choice] = objects(data.choices);
  const [candidate] = objects(data.candidates);
  const isPart = candidate !== undefined && candidate.finishReason === undefined;
  const isPiece = isPart || data.type === 'content_block_delta' || data.type === 'response.output_text.delta';
  return isPiece || (isObject(choice?.delta) && choice.delta.content !== undefined);
}

function fail(protocol: ModelProtocol, failed: Failed, response: ServerResponse): void {
  if (failed.retryAfterSeconds !== undefined) response.setHeader('retry-after', String(failed.retryAfterSeconds));
  end(response, failed.status, protocol.error(failed));
}

function end(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function begin(response: ServerResponse, type = 'text/event-stream'): void {
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
}

async function write(response: ServerResponse, { event, data }: ModelEvent): Promise<void> {
  const name = event === undefined ? '' : `event: ${event}\n`;
  const text = `${name}data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`;
  if (response.write(text) || response.destroyed) return;
  await new Promise<void>((resolve) => {
    const goOn = () => {
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('the request is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** In the shape that both providers' clients read. */
function modelList(models: readonly string[]): JsonObject {
  const data = models.map((id) => ({
    id,
    object: 'model',
    type: 'model',
    display_name: id,
    created: 0,
    owned_by: 'test',
  }));
  return { object: 'list', data, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null };
}
