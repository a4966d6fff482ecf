// Reads server-sent events: blocks of lines, each of them `field: value`, with an empty line behind a block.
type SentEvent = { readonly event: string; readonly id: string | null; readonly data: string };

/** Takes the pieces of a stream as they come, wherever they are cut, and answers the events that are whole. */
export function eventReader(): (piece: string) => readonly SentEvent[] {
  let rest = '';
  return (piece) => {
    // A `\r` at the end may be the first half of `\r\n`.
    const text = rest + piece;
    const isCut = text.endsWith('\r');
    const blocks = (isCut ? text.slice(0, -1) : text).replaceAll('\r\n', '\n').split('\n\n');
    rest = (blocks.pop() ?? '') + (isCut ? '\r' : '');
    return blocks.flatMap((block) => eventIn(block) ?? []);
  };
}

/** Null for a block without data, such as a comment. */
function eventIn(block: string): SentEvent | null {
  let [event, id]: [string, string | null] = ['message', null];
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') event = value;
    else if (name === 'id') id = value;
    else if (name === 'data') data.push(value);
  }
  return data.length === 0 ? null : { event, id, data: data.join('\n') };
}
