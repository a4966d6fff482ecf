// Anthropic Messages (`POST /v1/messages`), as far as agents need it.
import { isObject, type JsonObject } from '../kernel/json.ts';
import {
  type CompleteAnswer,
  contentText,
  type Failed,
  type Message,
  type ModelEvent,
  type ModelProtocol,
  objects,
  type ParsedRequest,
  pieces,
  stringOr,
  toolNames,
} from './script.ts';

export const messages: ModelProtocol = { read, whole, stream, error };

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function read(body: JsonObject): ParsedRequest {
  return {
    model: stringOr(body.model, ''),
    stream: body.stream === true,
    system: contentText(body.system),
    messages: objects(body.messages).map(asMessage),
    tools: toolNames(body.tools),
  };
}

function asMessage({ role, content }: JsonObject): Message {
  const parts = objects(content);
  const calls = parts.filter(({ type }) => type === 'tool_use').map(({ name }) => stringOr(name, ''));
  const hasResult = parts.some(({ type }) => type === 'tool_result');
  return { role: hasResult ? 'tool' : role === 'assistant' ? 'assistant' : 'user', text: contentText(content), calls };
}

function whole(reply: CompleteAnswer): JsonObject {
  return { ...head(reply), content: blocksOf(reply), stop_reason: stopOf(reply), usage: usageOf(reply) };
}

function stream(reply: CompleteAnswer): ModelEvent[] {
  const events: ModelEvent[] = [];
  const send = (data: JsonObject) => events.push({ event: stringOr(data.type, ''), data });
  const usage = { ...usageOf(reply), output_tokens: 1 };
  send({ type: 'message_start', message: { ...head(reply), content: [], stop_reason: null, usage } });
  for (const [index, block] of blocksOf(reply).entries()) {
    const isText = block.type === 'text';
    const start = isText ? { ...block, text: '' } : { ...block, input: {} };
    send({ type: 'content_block_start', index, content_block: start });
    for (const piece of pieces(isText ? stringOr(block.text, '') : JSON.stringify(block.input))) {
      const delta = isText ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece };
      send({ type: 'content_block_delta', index, delta });
    }
    send({ type: 'content_block_stop', index });
  }
  const delta = { stop_reason: stopOf(reply), stop_sequence: null };
  send({ type: 'message_delta', delta, usage: { output_tokens: reply.usage.output } });
  send({ type: 'message_stop' });
  return events;
}

function error({ status, type, message }: Failed): JsonObject {
  const kind = type ?? ERROR_TYPES[status] ?? 'api_error';
  return { type: 'error', error: { type: kind, message: message ?? `scripted error ${status}` } };
}

function head({ id, model }: CompleteAnswer): JsonObject {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null };
}

function blocksOf({ text, toolCalls }: CompleteAnswer): JsonObject[] {
  const calls = toolCalls.map(({ id, name, input }) => ({ type: 'tool_use', id: `toolu_${id}`, name, input }));
  return text === '' && calls.length > 0 ? calls : [{ type: 'text', text }, ...calls];
}

function stopOf({ toolCalls, cutShort }: CompleteAnswer): string {
  if (cutShort) return 'max_tokens';
  return toolCalls.length > 0 ? 'tool_use' : 'end_turn';
}

function usageOf({ usage }: CompleteAnswer): JsonObject {
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
}

/** An estimate for `count_tokens`: four characters a token. */
export function countTokens(body: JsonObject): JsonObject {
  const { system, messages: parsed } = read(body);
  const length = parsed.reduce((sum, { text }) => sum + text.length, system.length);
  const tools = isObject(body) && body.tools !== undefined ? JSON.stringify(body.tools).length : 0;
  return { input_tokens: Math.ceil((length + tools) / 4) };
}
