// The two protocols of OpenAI: Chat Completions (`POST /v1/chat/completions`), which most compatible servers speak, and Responses
// (`POST /v1/responses`).
import { isObject, isString, type JsonObject } from '../kernel/json.ts';
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

export const chat: ModelProtocol = { read: readChat, whole: wholeChat, stream: streamChat, error: openAiError };

function readChat(body: JsonObject): ParsedRequest {
  const all = objects(body.messages);
  const isSystem = ({ role }: JsonObject) => role === 'system' || role === 'developer';
  return {
    model: stringOr(body.model, ''),
    stream: body.stream === true,
    system: all
      .filter(isSystem)
      .map(({ content }) => contentText(content))
      .join('\n'),
    messages: all.filter((message) => !isSystem(message)).map(chatMessage),
    tools: toolNames(body.tools),
  };
}

function chatMessage({ role, content, tool_calls }: JsonObject): Message {
  const calls = objects(tool_calls).map(({ function: called }) => (isObject(called) ? stringOr(called.name, '') : ''));
  return { role: role === 'assistant' || role === 'tool' ? role : 'user', text: contentText(content), calls };
}

function wholeChat(reply: CompleteAnswer): JsonObject {
  const calls = chatCalls(reply);
  const message = { role: 'assistant', content: reply.text, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  const choice = { index: 0, message, finish_reason: finishReason(reply) };
  return { ...chatHead(reply, 'chat.completion'), choices: [choice], usage: chatUsage(reply) };
}

function streamChat(reply: CompleteAnswer): ModelEvent[] {
  const chunk = (delta: JsonObject, finish_reason: string | null = null): ModelEvent => ({
    data: { ...chatHead(reply, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason }] },
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(reply.text).map((content) => chunk({ content })),
    ...chatCalls(reply).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
    chunk({}, finishReason(reply)),
    { data: { ...chatHead(reply, 'chat.completion.chunk'), choices: [], usage: chatUsage(reply) } },
    { data: '[DONE]' },
  ];
}

function openAiError({ status, type, message }: Failed): JsonObject {
  const kind =
    type ?? (status === 429 ? 'rate_limit_exceeded' : status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message: message ?? `scripted error ${status}`, type: kind, code: kind, param: null } };
}

function chatHead({ id, model }: CompleteAnswer, object: string): JsonObject {
  return { id: `chatcmpl_${id}`, object, created: 0, model };
}

function chatCalls({ toolCalls }: CompleteAnswer): JsonObject[] {
  return toolCalls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
}

function finishReason({ toolCalls, cutShort }: CompleteAnswer): string {
  if (cutShort) return 'length';
  return toolCalls.length > 0 ? 'tool_calls' : 'stop';
}

function chatUsage({ usage: { input, output } }: CompleteAnswer): JsonObject {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

/** Errors look the same in both of OpenAI's protocols. */
export const responses: ModelProtocol = {
  read: readResponses,
  whole: (reply) => responseOf(reply, true),
  stream: streamResponses,
  error: openAiError,
};

function readResponses(body: JsonObject): ParsedRequest {
  const items = isString(body.input) ? [{ type: 'message', role: 'user', content: body.input }] : objects(body.input);
  const isSystem = ({ role }: JsonObject) => role === 'system' || role === 'developer';
  const system = [
    stringOr(body.instructions, ''),
    ...items.filter(isSystem).map(({ content }) => contentText(content)),
  ];
  return {
    model: stringOr(body.model, ''),
    stream: body.stream === true,
    system: system.filter((text) => text !== '').join('\n'),
    messages: items.filter((item) => !isSystem(item)).flatMap(responseMessages),
    tools: toolNames(body.tools),
  };
}

function responseMessages(item: JsonObject): Message[] {
  const type = stringOr(item.type, 'message');
  if (type === 'message') {
    return [{ role: item.role === 'assistant' ? 'assistant' : 'user', text: contentText(item.content), calls: [] }];
  }
  if (type.endsWith('_call_output')) {
    const text = isString(item.output) ? item.output : contentText(item.output);
    return [{ role: 'tool', text, calls: [] }];
  }
  if (type.endsWith('_call')) return [{ role: 'assistant', text: '', calls: [stringOr(item.name, type)] }];
  return []; // Reasoning and the like say nothing that a test looks for.
}

function streamResponses(reply: CompleteAnswer): ModelEvent[] {
  const events: ModelEvent[] = [];
  const send = (type: string, data: JsonObject) =>
    events.push({ event: type, data: { type, sequence_number: events.length, ...data } });
  send('response.created', { response: responseOf(reply, false) });
  send('response.in_progress', { response: responseOf(reply, false) });
  for (const [output_index, item] of responseItems(reply).entries()) {
    const item_id = stringOr(item.id, '');
    const at = { item_id, output_index };
    if (item.type === 'message') {
      const part = { type: 'output_text', text: reply.text, annotations: [] };
      send('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', content: [] } });
      send('response.content_part.added', { ...at, content_index: 0, part: { ...part, text: '' } });
      for (const delta of pieces(reply.text)) send('response.output_text.delta', { ...at, content_index: 0, delta });
      send('response.output_text.done', { ...at, content_index: 0, text: reply.text });
      send('response.content_part.done', { ...at, content_index: 0, part });
    } else {
      const given = stringOr(item.arguments, '');
      send('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', arguments: '' } });
      for (const delta of pieces(given)) send('response.function_call_arguments.delta', { ...at, delta });
      send('response.function_call_arguments.done', { ...at, arguments: given });
    }
    send('response.output_item.done', { output_index, item });
  }
  send(reply.cutShort ? 'response.incomplete' : 'response.completed', { response: responseOf(reply, true) });
  return events;
}

function responseOf(reply: CompleteAnswer, isDone: boolean): JsonObject {
  const { input, output } = reply.usage;
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  return {
    id: `resp_${reply.id}`,
    object: 'response',
    created_at: 0,
    status: isDone ? (reply.cutShort ? 'incomplete' : 'completed') : 'in_progress',
    incomplete_details: isDone && reply.cutShort ? { reason: 'max_output_tokens' } : null,
    error: null,
    model: reply.model,
    output: isDone ? responseItems(reply) : [],
    usage: isDone ? usage : null,
  };
}

function responseItems({ id, text, toolCalls }: CompleteAnswer): JsonObject[] {
  const calls = toolCalls.map((call) => ({
    type: 'function_call',
    id: `fc_${call.id}`,
    call_id: call.id,
    name: call.name,
    ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
    arguments: JSON.stringify(call.input),
    status: 'completed',
  }));
  if (text === '' && calls.length > 0) return calls;
  const content = [{ type: 'output_text', text, annotations: [] }];
  return [{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content }, ...calls];
}
