// Gemini's interface (`POST /v1beta/models/MODEL:generateContent`, streamed `:streamGenerateContent`). Model and way of answering
// are in the path: the server puts them into the body it reads from.
import { isObject, type JsonObject } from '../kernel/json.ts';
import {
  type CompleteAnswer,
  type Failed,
  type Message,
  type ModelEvent,
  type ModelProtocol,
  objects,
  type ParsedRequest,
  pieces,
  stringOr,
} from './script.ts';

export const generate: ModelProtocol = { read, whole, stream, error };

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function read(body: JsonObject): ParsedRequest {
  return {
    model: stringOr(body.model, ''),
    stream: body.stream === true,
    system: isObject(body.systemInstruction) ? textIn(body.systemInstruction) : '',
    messages: objects(body.contents).map(asMessage),
    tools: objects(body.tools).flatMap(({ functionDeclarations }) =>
      objects(functionDeclarations).map(({ name }) => stringOr(name, '')),
    ),
  };
}

function asMessage(content: JsonObject): Message {
  const parts = objects(content.parts);
  const calls = parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [stringOr(functionCall.name, '')] : []));
  const hasResult = parts.some(({ functionResponse }) => isObject(functionResponse));
  return { role: hasResult ? 'tool' : content.role === 'model' ? 'assistant' : 'user', text: textIn(content), calls };
}

/** What a tool gave back is an object, and is read as its JSON. */
function textIn({ parts }: JsonObject): string {
  return objects(parts)
    .map(({ text, functionResponse }) =>
      isObject(functionResponse) ? JSON.stringify(functionResponse.response) : stringOr(text, ''),
    )
    .filter((text) => text !== '')
    .join('\n');
}

function whole(reply: CompleteAnswer): JsonObject {
  return chunk(reply, [...textParts(reply.text), ...callParts(reply)], true);
}

function stream(reply: CompleteAnswer): ModelEvent[] {
  const parts = pieces(reply.text).map((piece) => ({ data: chunk(reply, textParts(piece), false) }));
  return [...parts, { data: chunk(reply, callParts(reply), true) }];
}

function error({ status, type, message, retryAfterSeconds }: Failed): JsonObject {
  const name = type ?? STATUS_NAMES[status] ?? 'INTERNAL';
  const wait = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSeconds}s` };
  const details = retryAfterSeconds === undefined ? {} : { details: [wait] };
  return { error: { code: status, message: message ?? `scripted error ${status}`, status: name, ...details } };
}

function chunk({ id, model, usage, cutShort }: CompleteAnswer, parts: JsonObject[], isLast: boolean): JsonObject {
  const finish = isLast ? { finishReason: cutShort ? 'MAX_TOKENS' : 'STOP' } : {};
  const { input, output } = usage;
  const metadata = { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output };
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, ...finish }],
    ...(isLast ? { usageMetadata: metadata } : {}),
    modelVersion: model,
    responseId: id,
  };
}

function textParts(text: string): JsonObject[] {
  return text === '' ? [] : [{ text }];
}

function callParts({ toolCalls }: CompleteAnswer): JsonObject[] {
  return toolCalls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } }));
}
