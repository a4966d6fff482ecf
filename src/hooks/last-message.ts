// The last words of an agent. They come with the event; where they do not, they stand at the end of the transcript, of which
// no more than the end is read.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isObject, isString, type JsonObject } from '../kernel/json.ts';
import type { HookInput } from './event.ts';

const TAIL_BYTES = 4 * 1_048_576;

/** Null where there are none to be found. */
export function lastMessage({ lastMessage: told, transcript }: HookInput): string | null {
  return told ?? (transcript === null ? null : lastIn(tailOf(transcript)));
}

/** The text of the last message of the assistant in a transcript of one JSON object a line. */
export function lastIn(transcript: string): string | null {
  for (let end = transcript.length; end > 0; ) {
    const start = transcript.lastIndexOf('\n', end - 1) + 1;
    const text = textOf(transcript.slice(start, end));
    if (text !== null) return text;
    end = start - 1;
  }
  return null;
}

function textOf(line: string): string | null {
  // Most lines are those of tools, and long; they need not be parsed.
  if (!line.includes('"assistant"')) return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isObject(value) || value.type !== 'assistant' || !isObject(value.message)) return null;
  const { content } = value.message;
  if (isString(content)) return content;
  const parts = Array.isArray(content) ? content.filter((part): part is JsonObject => isObject(part)) : [];
  const texts = parts.flatMap(({ type, text }) => (type === 'text' && isString(text) ? [text] : []));
  return texts.length === 0 ? null : texts.join('\n');
}

function tailOf(file: string): string {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(handle);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const read = readSync(handle, bytes, 0, bytes.length, Math.max(0, size - bytes.length));
    return bytes.subarray(0, read).toString('utf8');
  } catch {
    return '';
  } finally {
    closeSync(handle);
  }
}
