// What sockets said in `context` for those who come after them. All of it is in the data of the cast; a brief shows a
// bounded part, and to somebody who works on an item nothing that was said about the others.
import type { Heard, Item, ReworkNote } from '../state.ts';
import { cut } from './cut.ts';
import { reasonIn } from './rework.ts';

const LINE_CHARS_MAX = 4_000;
const HEARD_CHARS_MAX = 4_000;

export function withLine(heard: readonly Heard[], item: Item | null, line: string): readonly Heard[] {
  const all = [...heard, { about: aboutOf(item), line: cut(line, LINE_CHARS_MAX) }];
  let room = HEARD_CHARS_MAX;
  const first = all.findLastIndex((each) => {
    room -= each.line.length;
    return room < 0;
  });
  return all.slice(first + 1);
}

/** A rejection travels to its target as a note, which need not hear it twice; and once it is settled, nobody need hear it. */
export function withoutNoted(heard: readonly Heard[], notes: readonly ReworkNote[]): readonly Heard[] {
  if (notes.length === 0) return heard;
  return heard.filter(({ line }) => !notes.some((note) => isSaidIn(note, line)));
}

function isSaidIn({ from, label, reason }: ReworkNote, line: string): boolean {
  const said = `[${from} ${label}] `;
  return line.startsWith(said) && reasonIn(line.slice(said.length)) === reason;
}

/** A new list: what was said about places in the old one is about nothing now. */
export function withoutList(heard: readonly Heard[], cursorKey: string): readonly Heard[] {
  return heard.filter(({ about }) => about === null || !about.startsWith(`${cursorKey}:`));
}

/** What is said to somebody who works on this item, or on none. */
export function linesFor(heard: readonly Heard[], item: Item | null): readonly string[] {
  return heard.filter(({ about }) => concerns(about, item)).map(({ line }) => line);
}

/** Whoever works on an item is told what is about all or about that item; whoever works on none, everything. */
export function concerns(about: string | null, item: Item | null): boolean {
  return item === null || about === null || about === aboutOf(item);
}

/** What is said in a turn is about its item, known by its place in the list. */
export function aboutOf(item: Item | null): string | null {
  return item && `${item.cursorKey}:${item.index}`;
}
