// A stream of one JSON object a line, taken apart as it comes. Programs print other things between their events; what is
// no object is passed over, and a line that never ends is given up instead of kept.
import { isObject, type JsonObject } from '../kernel/json.ts';

export type JsonLines = {
  push(chunk: string): JsonObject[];
  /** What is held of a line that has not ended yet, if it is whole already. It stays held. */
  rest(): JsonObject[];
};

const LINE_CHARS_MAX = 16 * 1_048_576;

export function jsonLines(lineMax = LINE_CHARS_MAX): JsonLines {
  let held: string[] = [];
  let chars = 0;
  const keep = (part: string) => {
    chars += part.length;
    if (chars <= lineMax) held.push(part);
    else held = [];
  };
  const rest = () => parse(chars <= lineMax ? held.join('') : '');
  const take = (): JsonObject[] => {
    const found = rest();
    held = [];
    chars = 0;
    return found;
  };
  return {
    push(chunk) {
      const found: JsonObject[] = [];
      let from = 0;
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
        keep(chunk.slice(from, end));
        found.push(...take());
        from = end + 1;
      }
      if (from < chunk.length) keep(chunk.slice(from));
      return found;
    },
    rest,
  };
}

function parse(line: string): JsonObject[] {
  const text = line.trim();
  if (!text.startsWith('{')) return [];
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? [value] : [];
  } catch {
    return [];
  }
}
