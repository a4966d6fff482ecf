// OpenAI Chat Completions (`POST /v1/chat/completions`), which most compatible servers speak.
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Failed, Reply } from './answer.ts';
import type { Asked, Message } from './request.ts';
import { objects, pieces, type StreamEvent, stringOr, textOf, toolNames, type Wire } from './wire.ts';

export const chat: Wire = { read, whole, stream, error };

function read(body: JsonObject): Asked {
  const all = objects(body.messages);
  const isSystem = ({ role }: JsonObject) => role === 'system' || role === 'developer';
  return {
    model: stringOr(body.model, ''),
    stream: body.stream === true,
    system: all
      .filter(isSystem)
      .map(({ content }) => textOf(content))
      .join('\n'),
    messages: all.filter((message) => !isSystem(message)).map(asMessage),
    tools: toolNames(body.tools),
  };
}

function asMessage({ role, content, tool_calls }: JsonObject): Message {
  const calls = objects(tool_calls).map(({ function: called }) => (isObject(called) ? stringOr(called.name, '') : ''));
  return { role: role === 'assistant' || role === 'tool' ? role : 'user', text: textOf(content), calls };
}

function whole(reply: Reply): JsonObject {
  const calls = callsOf(reply);
  const message = { role: 'assistant', content: reply.text, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  const choice = { index: 0, message, finish_reason: finishOf(reply) };
  return { ...head(reply, 'chat.completion'), choices: [choice], usage: usageOf(reply) };
}

function stream(reply: Reply): StreamEvent[] {
  const chunk = (delta: JsonObject, finish_reason: string | null = null): StreamEvent => ({
    data: { ...head(reply, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason }] },
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(reply.text).map((content) => chunk({ content })),
    ...callsOf(reply).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
    chunk({}, finishOf(reply)),
    { data: { ...head(reply, 'chat.completion.chunk'), choices: [], usage: usageOf(reply) } },
    { data: '[DONE]' },
  ];
}

function error({ status, type, message }: Failed): JsonObject {
  const kind =
    type ?? (status === 429 ? 'rate_limit_exceeded' : status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message: message ?? `scripted error ${status}`, type: kind, code: kind, param: null } };
}

function head({ id, model }: Reply, object: string): JsonObject {
  return { id: `chatcmpl_${id}`, object, created: 0, model };
}

function callsOf({ toolCalls }: Reply): JsonObject[] {
  return toolCalls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
}

function finishOf({ toolCalls, cutShort }: Reply): string {
  if (cutShort) return 'length';
  return toolCalls.length > 0 ? 'tool_calls' : 'stop';
}

function usageOf({ usage: { input, output } }: Reply): JsonObject {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
