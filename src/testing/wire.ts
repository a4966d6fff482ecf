// What every protocol of the model server gives: how it reads a request, how it says an answer whole and as a stream,
// and how it says an error. The server itself knows no provider.
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import type { Failed, Reply } from './answer.ts';
import type { Asked } from './request.ts';

/** One event of a stream. Chat Completions has no names for its events. */
export type StreamEvent = { readonly event?: string; readonly data: JsonObject | '[DONE]' };

export interface Wire {
  read(body: JsonObject): Asked;
  whole(reply: Reply): JsonObject;
  /** In the order they are sent; the text comes in several pieces so that a stream can break in its middle. */
  stream(reply: Reply): readonly StreamEvent[];
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
export function textOf(content: Json | undefined): string {
  if (isString(content)) return content;
  if (!Array.isArray(content)) return '';
  return objects(content)
    .map((part) => (isString(part.text) ? part.text : 'content' in part ? textOf(part.content) : ''))
    .filter((text) => text !== '')
    .join('\n');
}

export function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function stringOr(value: Json | undefined, otherwise: string): string {
  return isString(value) ? value : otherwise;
}

/**
 * The names of the tools of a request. In Chat Completions they stand one level deeper, some have only a type, and tools
 * in a group are named with it.
 */
export function toolNames(tools: Json | undefined): string[] {
  return objects(tools).flatMap((tool) => {
    const inner = isObject(tool.function) ? tool.function : tool;
    const name = stringOr(inner.name, stringOr(tool.type, ''));
    return tool.type === 'namespace' ? toolNames(tool.tools).map((one) => `${name}__${one}`) : [name];
  });
}
