// A request as the model server logs it: the same few things whatever the protocol, and the body as it came. Which
// conversation it continues is found by its messages, because the programs name their sessions in different places.
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../kernel/json.ts';

export type Protocol = 'messages' | 'responses' | 'chat';

/** One message, flattened: what was said, what was called, and what a tool gave back. */
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
export type Asked = Pick<ModelRequest, 'model' | 'stream' | 'system' | 'messages' | 'tools'>;

/** Names the conversation of a request: that of the longest earlier one whose messages it begins with. */
export function conversationOf(earlier: readonly ModelRequest[], protocol: Protocol, asked: Asked): string {
  let found: ModelRequest | null = null;
  for (const one of earlier) {
    if (one.protocol !== protocol || one.messages.length === 0 || !continues(asked.messages, one.messages)) continue;
    if (!found || one.messages.length >= found.messages.length) found = one;
  }
  return found?.conversation ?? `c${new Set(earlier.map((one) => one.conversation)).size + 1}`;
}

// A repeated request counts as the same conversation too: that is what a retry looks like.
function continues(later: readonly Message[], before: readonly Message[]): boolean {
  return (
    later.length >= before.length &&
    before.every((message, index) => {
      const same = later[index];
      return same?.role === message.role && same.text === message.text;
    })
  );
}
