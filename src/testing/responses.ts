// OpenAI Responses (`POST /v1/responses`).
import { isString, type JsonObject } from '../kernel/json.ts';
import type { Reply } from './answer.ts';
import { chat } from './chat.ts';
import type { Asked, Message } from './request.ts';
import { objects, pieces, type StreamEvent, stringOr, textOf, toolNames, type Wire } from './wire.ts';

/** Errors look the same in both of OpenAI's protocols. */
export const responses: Wire = { read, whole: (reply) => responseOf(reply, true), stream, error: chat.error };

function read(body: JsonObject): Asked {
  const items = isString(body.input) ? [{ type: 'message', role: 'user', content: body.input }] : objects(body.input);
  const isSystem = ({ role }: JsonObject) => role === 'system' || role === 'developer';
  const system = [stringOr(body.instructions, ''), ...items.filter(isSystem).map(({ content }) => textOf(content))];
  return {
    model: stringOr(body.model, ''),
    stream: body.stream === true,
    system: system.filter((text) => text !== '').join('\n'),
    messages: items.filter((item) => !isSystem(item)).flatMap(asMessage),
    tools: toolNames(body.tools),
  };
}

function asMessage(item: JsonObject): Message[] {
  const type = stringOr(item.type, 'message');
  if (type === 'message') {
    return [{ role: item.role === 'assistant' ? 'assistant' : 'user', text: textOf(item.content), calls: [] }];
  }
  if (type.endsWith('_call_output')) {
    const text = isString(item.output) ? item.output : textOf(item.output);
    return [{ role: 'tool', text, calls: [] }];
  }
  if (type.endsWith('_call')) return [{ role: 'assistant', text: '', calls: [stringOr(item.name, type)] }];
  return []; // Reasoning and the like say nothing that a test looks for.
}

function stream(reply: Reply): StreamEvent[] {
  const events: StreamEvent[] = [];
  const send = (type: string, data: JsonObject) =>
    events.push({ event: type, data: { type, sequence_number: events.length, ...data } });
  send('response.created', { response: responseOf(reply, false) });
  send('response.in_progress', { response: responseOf(reply, false) });
  for (const [output_index, item] of itemsOf(reply).entries()) {
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

function responseOf(reply: Reply, isDone: boolean): JsonObject {
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
    output: isDone ? itemsOf(reply) : [],
    usage: isDone ? usage : null,
  };
}

function itemsOf({ id, text, toolCalls }: Reply): JsonObject[] {
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
