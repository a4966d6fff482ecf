// The lines of a stream of bytes. They end at a line feed and nowhere else: other separators may stand in a JSON string. What
// arrives together is decoded together; only where it is not all UTF-8 are lines looked at one by one.
import { isUtf8 } from 'node:buffer';

export type Line =
  | { readonly text: string }
  /** It is not UTF-8; these are its bytes. */
  | { readonly bytes: Buffer }
  /** It has more bytes than a line may have, and they were not kept. */
  | { readonly tooLong: true };

const LINE_FEED = 0x0a;

/** The lines in their order. No more of an unfinished line is kept than a line may have. */
export async function* linesIn(input: AsyncIterable<Buffer | string>, bytesMax: number): AsyncGenerator<Line> {
  let begun: Buffer[] = [];
  let length = 0;
  for await (const given of input) {
    const chunk = typeof given === 'string' ? Buffer.from(given) : given;
    const first = chunk.indexOf(LINE_FEED);
    const isOver = length > bytesMax;
    if (first >= 0) {
      yield lineOf(isOver ? [] : [...begun, chunk.subarray(0, first)], length + first, bytesMax);
      const last = chunk.lastIndexOf(LINE_FEED);
      if (last > first) yield* wholeLines(chunk.subarray(first + 1, last), bytesMax);
      begun = [];
      length = 0;
    }
    const rest = chunk.subarray(first < 0 ? 0 : chunk.lastIndexOf(LINE_FEED) + 1);
    length += rest.length;
    if (length > bytesMax) begun = [];
    else if (rest.length > 0) begun.push(rest);
  }
  if (length > 0) yield lineOf(begun, length, bytesMax);
}

/** Lines that lie in one piece, without the line feed after the last one. */
function* wholeLines(bytes: Buffer, bytesMax: number): Generator<Line> {
  if (bytes.length <= bytesMax && isUtf8(bytes)) {
    for (const text of bytes.toString('utf8').split('\n')) yield { text };
    return;
  }
  for (let from = 0; from <= bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, from);
    const line = bytes.subarray(from, end < 0 ? bytes.length : end);
    yield lineOf([line], line.length, bytesMax);
    from = end < 0 ? bytes.length + 1 : end + 1;
  }
}

function lineOf(parts: readonly Buffer[], length: number, bytesMax: number): Line {
  if (length > bytesMax) return { tooLong: true };
  const bytes = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { bytes };
}
