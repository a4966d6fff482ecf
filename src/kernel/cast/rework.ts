// When a `not_satisfied` edge is taken, the reason travels with it: the target is told what to mend, for that item only.
import type { Handoff } from '../dialect.ts';
import type { Edge, Materia, Socket } from '../graph/config.ts';
import { isObject, isText, type Json } from '../json.ts';
import type { Cast, ReworkNote, Turn } from '../state.ts';
import { asData, escaped } from '../trust/as-data.ts';
import { cut } from './cut.ts';
import { noteKey } from './item-memory.ts';

export const REWORK_NOTES_MAX = 3;
const REASON_CHARS_MAX = 900;
const BLOCK_CHARS_MAX = 2400;
const LABEL_CHARS_MAX = 200;

export function noteFor(turn: Turn, socket: Socket, materia: Materia, edge: Edge, handoff: Handoff): ReworkNote {
  return {
    from: socket.id,
    label: materia.label,
    target: edge.to,
    when: edge.when,
    item: turn.item?.key ?? null,
    itemLabel: turn.item?.label ?? null,
    reason: reasonOf(handoff.payload, handoff.note),
  };
}

/** The notes a start of this socket has to be shown: those of its item, and those that belong to no item. */
export function notesFor(cast: Cast, socket: string, item: string | null): readonly ReworkNote[] {
  const general = cast.rework[noteKey(socket, null)] ?? [];
  return item === null ? general : [...general, ...(cast.rework[noteKey(socket, item)] ?? [])];
}

/** Oldest first. Where not all of them fit, the oldest stay away: the newest says what is wrong now. */
export function renderRework(notes: readonly ReworkNote[]): string {
  if (notes.length === 0) return '';
  let block = '';
  for (const note of notes.toReversed()) {
    const room = BLOCK_CHARS_MAX - HEAD.length - FRAME_CHARS - block.length - 1;
    const line = escaped(lineOf(note));
    if (line.length > room && block !== '') break;
    block = `\n${cut(line, room)}${block}`;
  }
  return `${HEAD}\n${asData(block.slice(1))}`;
}

const FRAME_CHARS = asData('').length;
const HEAD = '## Follow-up\nThis turn is follow-up work on the current item. What has to be mended:';

function lineOf({ from, label, itemLabel, reason }: ReworkNote): string {
  const item = itemLabel === null ? '' : ` for ${cut(collapse(itemLabel), LABEL_CHARS_MAX)}`;
  return `- From ${from} ${label}${item}: ${reason}`;
}

/** Whether one of these notes holds what the payload says is wrong. */
export function isNoted(notes: readonly ReworkNote[], payload: Json): boolean {
  const reason = reasonOf(payload);
  return notes.some((note) => note.reason === reason);
}

function reasonOf(payload: Json, note?: string): string {
  if (isObject(payload) && isText(payload.context)) return reasonIn(payload.context);
  if (isText(note)) return reasonIn(note);
  if (isObject(payload)) {
    const { text: _text, parallelSchedule: _schedule, state: _state, ...rest } = payload;
    return `No context was given. The result was: ${cut(JSON.stringify(rest), REASON_CHARS_MAX)}`;
  }
  if (isText(payload)) return `No context was given. The result was: ${cut(collapse(payload), REASON_CHARS_MAX)}`;
  return 'Nothing was said about what is wrong.';
}

/** The reason as it is kept: on one line, and bounded. */
export function reasonIn(context: string): string {
  return cut(collapse(context), REASON_CHARS_MAX);
}

/** One line of it: a title with line breaks could otherwise pass for a heading of the brief. */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
