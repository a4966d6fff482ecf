// What a server sends besides verdicts, as its clients read it, and how its stream is read.
import type { LiveEvent } from '../engine/ports.ts';
import type { JsonObject } from '../kernel/json.ts';

/** A text over 256 bytes: its beginning, and where the whole is. */
export type TextRef = {
  readonly digest: string;
  readonly seq: number;
  readonly bytes: number;
  /** Its first 200 characters. */
  readonly preview: string;
};

/** An entry of the log. Long texts in its fact are a `TextRef`. */
export type SentEntry = {
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly clock?: string;
  readonly ranMs?: number;
  readonly fact: JsonObject & { readonly kind: string; readonly cast?: string };
};

/** What an agent says or does right now. It is not kept, and some of it is left out for a slow reader. */
export type Live = {
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  readonly event: LiveEvent;
};

export type Head = { readonly seq: number; readonly hash: string };

/** Who calls, where, and what may be done. */
export type About = {
  readonly me: { readonly name: string; readonly role: string };
  readonly workspace: { readonly name: string; readonly dir: string; readonly version: string };
  readonly head: Head;
  readonly operations: readonly (JsonObject & { readonly name: string; readonly act: string; readonly may: boolean })[];
};

export type { CastPage } from '../app/views/cast-page.ts';

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
