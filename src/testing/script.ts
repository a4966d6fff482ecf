// A test and the model server share these types: the request as it is logged, the scripted answer to it, and what every protocol
// has to provide. A test gives a list of answers, used in order, or a function from the request to an answer.
import type { IncomingHttpHeaders } from 'node:http';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';

export type Protocol = 'messages' | 'responses' | 'chat' | 'generate';

/** One message, flattened: its text, the tools it calls, and what a tool gave back. */
export type Message = {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  /** The names of the tools called in it. */
  readonly calls: readonly string[];
};

export type ModelRequest = {
  /** From 1, in the order they came. */
  readonly number: number;
  readonly protocol: Protocol;
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly messages: readonly Message[];
  /** The names of the tools the model may call. */
  readonly tools: readonly string[];
  /** `c1`, `c2`, …: requests whose messages continue those of an earlier one share its name. */
  readonly conversation: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
};

/** What a protocol reads from a body. */
export type ParsedRequest = Pick<ModelRequest, 'model' | 'stream' | 'system' | 'messages' | 'tools'>;

/**
 * Names the conversation of a request: that of the longest earlier one whose messages it begins with. Messages decide, because
 * programs name their sessions in different places.
 */
export function conversationOf(earlier: readonly ModelRequest[], protocol: Protocol, asked: ParsedRequest): string {
  let found: ModelRequest | null = null;
  for (const one of earlier) {
    if (one.protocol !== protocol || one.messages.length === 0 || !continues(asked.messages, one.messages)) continue;
    if (!found || one.messages.length >= found.messages.length) found = one;
  }
  return found?.conversation ?? `c${new Set(earlier.map((one) => one.conversation)).size + 1}`;
}

// A repeated request continues the conversation too: a retry looks like that.
function continues(later: readonly Message[], before: readonly Message[]): boolean {
  return (
    later.length >= before.length &&
    before.every((message, index) => {
      const same = later[index];
      return same?.role === message.role && same.text === message.text;
    })
  );
}

export type ToolCall = {
  readonly name: string;
  readonly input: JsonObject;
  /** Without it, made from the number of the request. */
  readonly id?: string;
  /** Responses only: the group of the tool, which Codex makes of an MCP server (`mcp__NAME`). */
  readonly namespace?: string;
};

export type Tokens = { readonly input: number; readonly output: number };

/** A finished answer: text, then tool calls. */
export type FinishedAnswer = {
  readonly text?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly usage?: Tokens;
  /** The model named in the answer. Without it, the requested one. */
  readonly model?: string;
  /** The answer ended because it became too long. */
  readonly cutShort?: boolean;
  /** Wait this long before the first byte. */
  readonly delayMs?: number;
  /** Follow the text with this many bytes more. */
  readonly floodBytes?: number;
};

/** An error of the provider. */
export type Failed = {
  readonly status: number;
  readonly message?: string;
  /** The provider's name of the error. Without it, the usual one of the status. */
  readonly type?: string;
  readonly retryAfterSeconds?: number;
};

/** Stops without closing the connection, before the first byte, or in the middle of the text. */
export type Stalled = { readonly stall: 'before' | 'during'; readonly text?: string };

/** Closes the connection, before the first byte, or in the middle of the text. */
export type Cut = { readonly cut: 'before' | 'during'; readonly text?: string };

/** A string is a finished answer with that text. */
export type ScriptedAnswer = string | FinishedAnswer | Failed | Stalled | Cut;
export type Answers = readonly ScriptedAnswer[] | ((request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** An answer with every default filled in. */
export type CompleteAnswer = {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly toolCalls: readonly (ToolCall & { readonly id: string })[];
  readonly usage: Tokens;
  readonly cutShort: boolean;
};

const FLOOD_LINE = 'all work and no play makes a very long answer.\n';

export function replyTo(request: ModelRequest, finished: FinishedAnswer): CompleteAnswer {
  const flood = FLOOD_LINE.repeat(Math.ceil((finished.floodBytes ?? 0) / FLOOD_LINE.length));
  const text = (finished.text ?? '') + flood.slice(0, finished.floodBytes ?? 0);
  return {
    id: `answer_${request.number}`,
    model: finished.model ?? request.model,
    text,
    toolCalls: (finished.toolCalls ?? []).map((call, index) => ({
      id: `call_${request.number}_${index + 1}`,
      ...call,
    })),
    usage: finished.usage ?? { input: 10, output: Math.ceil(text.length / 4) },
    cutShort: finished.cutShort ?? false,
  };
}

export function isInterrupted(answer: FinishedAnswer | Failed | Stalled | Cut): answer is Stalled | Cut {
  return 'stall' in answer || 'cut' in answer;
}

/** One event of a stream. Chat Completions has no names for its events. */
export type ModelEvent = { readonly event?: string; readonly data: JsonObject | '[DONE]' };

export interface ModelProtocol {
  read(body: JsonObject): ParsedRequest;
  whole(reply: CompleteAnswer): JsonObject;
  /** In the order they are sent; the text comes in several pieces so that a stream can break in its middle. */
  stream(reply: CompleteAnswer): readonly ModelEvent[];
  error(failed: Failed): JsonObject;
}

/** The text in pieces: a few for a short one, larger ones for a long one. */
export function pieces(text: string): string[] {
  const size = Math.max(8, Math.ceil(text.length / 64));
  const cut: string[] = [];
  for (let at = 0; at < text.length; at += size) cut.push(text.slice(at, at + size));
  return cut;
}

/** The text of a message's content, which is a string or a list of parts. */
export function contentText(content: Json | undefined): string {
  if (isString(content)) return content;
  if (!Array.isArray(content)) return '';
  return objects(content)
    .map((part) => (isString(part.text) ? part.text : 'content' in part ? contentText(part.content) : ''))
    .filter((text) => text !== '')
    .join('\n');
}

export function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function stringOr(value: Json | undefined, otherwise: string): string {
  return isString(value) ? value : otherwise;
}

/** The names of the tools of a request. Chat Completions nests them one level deeper, some have only a type, and a grouped tool has the group's name. */
export function toolNames(tools: Json | undefined): string[] {
  return objects(tools).flatMap((tool) => {
    const inner = isObject(tool.function) ? tool.function : tool;
    const name = stringOr(inner.name, stringOr(tool.type, ''));
    return tool.type === 'namespace' ? toolNames(tool.tools).map((one) => `${name}__${one}`) : [name];
  });
}
