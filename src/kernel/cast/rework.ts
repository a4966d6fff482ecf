// When a `not_satisfied` edge is taken, the reason travels with it: the target is told what to mend, for that item only.
import type { Handoff } from '../dialect.ts';
import type { Edge, Materia, Socket } from '../graph/config.ts';
import { isObject, isText } from '../json.ts';
import type { Cast, ReworkNote, Turn } from '../state.ts';

export const REWORK_NOTES_MAX = 3;
const REASON_CHARS_MAX = 900;
const BLOCK_CHARS_MAX = 2400;

export function noteKey(target: string, item: string | null): string {
  return `${target}@${item ?? ''}`;
}

export function noteFor(turn: Turn, socket: Socket, materia: Materia, edge: Edge, handoff: Handoff): ReworkNote {
  return {
    from: socket.id,
    label: materia.label,
    target: edge.to,
    when: edge.when,
    item: turn.item?.key ?? null,
    itemLabel: turn.item?.label ?? null,
    reason: reasonOf(handoff),
  };
}

/** The notes a start of this socket has to be shown: those of its item, and those that belong to no item. */
export function notesFor(cast: Cast, socket: string, item: string | null): readonly ReworkNote[] {
  const general = cast.rework[noteKey(socket, null)] ?? [];
  return item === null ? general : [...general, ...(cast.rework[noteKey(socket, item)] ?? [])];
}

export function renderRework(notes: readonly ReworkNote[]): string {
  if (notes.length === 0) return '';
  const lines = notes.map(
    (note) =>
      `- From ${note.from} ${note.label}${note.itemLabel === null ? '' : ` for ${note.itemLabel}`}: ${note.reason}`,
  );
  const head = '## Follow-up\nThis turn is follow-up work on the current item. What has to be mended:';
  return cut(`${head}\n${lines.join('\n')}`, BLOCK_CHARS_MAX);
}

function reasonOf(handoff: Handoff): string {
  const { payload } = handoff;
  if (isObject(payload) && isText(payload.context)) return cut(collapse(payload.context), REASON_CHARS_MAX);
  if (isObject(payload)) {
    const { text: _text, parallelSchedule: _schedule, ...rest } = payload;
    return `No context was given. The result was: ${cut(JSON.stringify(rest), REASON_CHARS_MAX)}`;
  }
  if (isText(payload)) return `No context was given. The result was: ${cut(collapse(payload), REASON_CHARS_MAX)}`;
  return 'Nothing was said about what is wrong.';
}

function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** At most `max` characters, the ellipsis included. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}
