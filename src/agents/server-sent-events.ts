// The stream of a model API, taken apart as it comes: fields by line, events by blank line. Only events whose data is a
// JSON object are of interest; the closing `[DONE]` and comments are passed over.
import { isObject, type JsonObject } from '../kernel/json.ts';

export type ServerSentEvents = { push(chunk: string): JsonObject[] };

/** An event that is longer than this is given up instead of kept. */
const EVENT_CHARS_MAX = 16 * 1_048_576;

export function serverSentEvents(eventMax = EVENT_CHARS_MAX): ServerSentEvents {
  let line: string[] = [];
  let data: string[] = [];
  let chars = 0;
  const keep = (part: string) => {
    chars += part.length;
    if (chars <= eventMax) line.push(part);
    else {
      line = [];
      data = [];
    }
  };
  const endLine = (): JsonObject[] => {
    const text = line.join('').replace(/\r$/, '');
    line = [];
    if (text !== '') {
      if (text.startsWith('data:')) data.push(text.slice(text[5] === ' ' ? 6 : 5));
      return [];
    }
    const found = chars <= eventMax ? parse(data.join('\n')) : [];
    data = [];
    chars = 0;
    return found;
  };
  return {
    push(chunk) {
      const found: JsonObject[] = [];
      let from = 0;
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
        keep(chunk.slice(from, end));
        found.push(...endLine());
        from = end + 1;
      }
      if (from < chunk.length) keep(chunk.slice(from));
      return found;
    },
  };
}

function parse(text: string): JsonObject[] {
  if (!text.startsWith('{')) return [];
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? [value] : [];
  } catch {
    return [];
  }
}
