// When a `not_satisfied` edge is taken, the reason travels with it: the target is told what to mend, for that item only.
import type { Handoff } from '../dialect.ts';
import type { Edge, Materia, Socket } from '../graph/config.ts';
import { isObject, isText, type Json } from '../json.ts';
import { spokenPaths } from '../ledger/path.ts';
import { scrub } from '../secrets.ts';
import { collapse, cut } from '../text.ts';
import { asData, escaped } from '../trust/as-data.ts';
import type { AgentNote, Cast, Heard, Item, Line, ReworkNote, Session, Turn } from './state.ts';

export const REWORK_NOTES_MAX = 3;
const REASON_CHARS_MAX = 900;
const BLOCK_CHARS_MAX = 2400;
const LABEL_CHARS_MAX = 200;

export function noteFor(turn: Turn, socket: Socket, materia: Materia, edge: Edge, handoff: Handoff): ReworkNote {
  return {
    from: socket.id,
    label: materia.label,
    target: edge.to,
    when: 'not_satisfied',
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

// What sockets said in `context` for those who come after them. All of it is in the data of the cast; a brief shows a
// bounded part, and to somebody who works on an item nothing that was said about the others.
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

// The conversation in a turn that takes more than one report: what the agent said last, and what it was told since. Bounded,
// because a person may answer any number of times.
const LINES_MAX = 8;
const SPOKEN_CHARS_MAX = 4_000;

export function withSaid(exchange: readonly Line[], { from, text }: Line): readonly Line[] {
  return [...exchange, { from, text: cut(text, SPOKEN_CHARS_MAX) }].slice(-LINES_MAX);
}

const SAID_BY: Readonly<Record<Line['from'], string>> = {
  agent: 'You reported',
  person: 'A person answered',
  runtime: 'You are told',
};

/** The conversation as the agent is shown it; where it remembers its own part, only what is new. */
export function renderExchange(exchange: readonly Line[], remembers: boolean): string {
  const last = exchange.findLastIndex(({ from }) => from === 'agent');
  const shown = remembers ? exchange.slice(last + 1) : exchange;
  return shown.map(({ from, text }) => `${SAID_BY[from]}: ${text}`).join('\n');
}

// What an agent's program tells of itself is foreign text: it is bounded and scrubbed before it is stored, and a name that
// will stand among the arguments of a command has to look like a name.
const NAMES_MAX = 50;
const NAME_CHARS_MAX = 200;
const WARNING_CHARS_MAX = 500;

/** A conversation's name becomes an argument; one that begins with a dash would be taken for an option. */
const SESSION_ID = /^[A-Za-z0-9][\w.-]{0,199}$/;

/** Undefined when nothing is left to note. */
export function cleanNote(note: AgentNote | undefined): AgentNote | undefined {
  if (!note) return undefined;
  const { runner, model, unpriced, session, denials = [], warnings = [], commands, unapproved = [] } = note;
  const kept: AgentNote = {
    ...(runner === undefined ? {} : { runner: line(runner, NAME_CHARS_MAX) }),
    ...(model === undefined ? {} : { model: line(model, NAME_CHARS_MAX) }),
    ...(unpriced ? { unpriced } : {}),
    ...(session && isUsable(session) ? { session } : {}),
    ...(denials.length > 0 ? { denials: listed(denials, NAMES_MAX, NAME_CHARS_MAX) } : {}),
    ...(warnings.length > 0 ? { warnings: listed(warnings, NAMES_MAX, WARNING_CHARS_MAX) } : {}),
    ...(commands === undefined ? {} : { commands: listed(commands, COMMANDS_MAX, COMMAND_CHARS_MAX) }),
    ...(unapproved.length > 0 ? { unapproved: listed(unapproved, COMMANDS_MAX, COMMAND_CHARS_MAX) } : {}),
  };
  return Object.keys(kept).length > 0 ? kept : undefined;
}

function isUsable({ id }: Session): boolean {
  return SESSION_ID.test(id);
}

function listed(texts: readonly string[], max: number, charsMax: number): readonly string[] {
  return [...new Set(texts)].slice(0, max).map((text) => line(text, charsMax));
}

function line(text: string, charsMax: number): string {
  return cut(scrub(text).text, charsMax);
}

// How many of the commands that an agent was seen to run are noted, and how much of each.
export const COMMANDS_MAX = 50;
export const COMMAND_CHARS_MAX = 300;

/** The notes for a socket about one item, or about none. */
export function noteKey(target: string, item: string | null): string {
  return `${target}@${item ?? ''}`;
}

// What became of a merge: the item goes on as it was accepted, or, where others changed the same meanwhile, begins once more
// with the files named. An item that gets nowhere that way is blocked, and a person is asked.
/** So many files are named to whoever has to mend them. */
const FILES_NAMED_MAX = 20;

/** What an agent is told that has to bring two versions together. */
export function clashNote(files: readonly string[]): string {
  return reasonIn(`${ASKED} The files: ${spokenPaths(files, FILES_NAMED_MAX)}.`);
}

const ASKED = [
  'MERGE_CONFLICT: the work on this item cannot be joined with what others have finished since it began. The folder now',
  'holds both, and what clashes stands between lines of <<<<<<< and >>>>>>>. Mend it so that both hold, remove these',
  'lines, and report again.',
].join(' ');
