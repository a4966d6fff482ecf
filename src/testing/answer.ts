// What a scripted model says to one request, in words that belong to no provider. A test gives a list of these, used in
// order, or a function from the request to one of them.
import type { JsonObject } from '../kernel/json.ts';
import type { ModelRequest } from './request.ts';

export type ToolCall = {
  readonly name: string;
  readonly input: JsonObject;
  /** Made up from the number of the request when it is left out. */
  readonly id?: string;
  /** Responses only: the group the tool stands in, which Codex makes of an MCP server (`mcp__NAME`). */
  readonly namespace?: string;
};

export type Tokens = { readonly input: number; readonly output: number };

/** A finished answer: text, then tool calls. */
export type Said = {
  readonly text?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly usage?: Tokens;
  /** The model that claims to have answered; the one that was asked for when it is left out. */
  readonly model?: string;
  /** Ended because the answer became too long. */
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
  /** The provider's own name of the error; the usual one of the status when it is left out. */
  readonly type?: string;
  readonly retryAfterSeconds?: number;
};

/** Goes silent without closing the connection: before the first byte, or in the middle of the text. */
export type Stalled = { readonly stall: 'before' | 'during'; readonly text?: string };

/** Closes the connection: before the first byte, or in the middle of the text. */
export type Cut = { readonly cut: 'before' | 'during'; readonly text?: string };

/** A string is a finished answer with that text. */
export type Answer = string | Said | Failed | Stalled | Cut;
export type Answers = readonly Answer[] | ((request: ModelRequest) => Answer | Promise<Answer>);

/** An answer with every default filled in, ready to be put into a provider's words. */
export type Reply = {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly toolCalls: readonly (ToolCall & { readonly id: string })[];
  readonly usage: Tokens;
  readonly cutShort: boolean;
};

const FLOOD_LINE = 'all work and no play makes a very long answer.\n';

export function replyTo(request: ModelRequest, said: Said): Reply {
  const flood = FLOOD_LINE.repeat(Math.ceil((said.floodBytes ?? 0) / FLOOD_LINE.length));
  const text = (said.text ?? '') + flood.slice(0, said.floodBytes ?? 0);
  return {
    id: `answer_${request.number}`,
    model: said.model ?? request.model,
    text,
    toolCalls: (said.toolCalls ?? []).map((call, index) => ({ id: `call_${request.number}_${index + 1}`, ...call })),
    usage: said.usage ?? { input: 10, output: Math.ceil(text.length / 4) },
    cutShort: said.cutShort ?? false,
  };
}

/** How long a connection takes to close or to fall silent is the server's business; here is only what it says before. */
export function isInterrupted(answer: Said | Failed | Stalled | Cut): answer is Stalled | Cut {
  return 'stall' in answer || 'cut' in answer;
}
