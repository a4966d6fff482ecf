// What the page of a cast shows beyond what the kernel keeps, one entry after the other: the turns that may still change and the
// latest others, how far each socket and each item came, how often each way of the graph was taken, and the timeline. It does not
// grow with the turns: a row that is complete leaves it. Rows are replaced and never changed.

import type { CastFact } from '../../kernel/cast/fact.ts';
import { itemKey } from '../../kernel/cast/item.ts';
import type { Cast, Item } from '../../kernel/cast/state.ts';
import type { Entry, Fact } from '../../kernel/fact.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { foldTimeline, keepPlace, noTimeline, type TimelineRecord } from './cast-timeline.ts';
import { type TakenWay, wayIn } from './graph-drawing.ts';
import type { Text } from './in-words.ts';
import { changedRow, type TurnRow } from './turn-rows.ts';

export type TakenCount = { readonly count: number; readonly seq: number; readonly at: string };

/** What became of a socket so far. */
export type SocketRecord = {
  readonly turns: number;
  readonly refused: { readonly count: number; readonly turn: number; readonly attempt: number } | null;
  /** The turn that began last. */
  readonly last: Pick<TurnRow, 'turn' | 'number' | 'title'> | null;
  /** The last turn that was accepted. */
  readonly accepted: TurnRow | null;
  /** How many items it finished. */
  readonly advanced: number;
};

export type ItemRecord = Pick<TurnRow, 'turn' | 'socket' | 'title' | 'endAt'> & {
  readonly turns: number;
  readonly rework: number;
};

export type PageRecord = {
  seq: number;
  /** The entry before it. */
  before: number | null;
  at: string;
  /** What the cast shall do, whole or by digest. */
  request: Text;
  startedBy: string;
  /** When its status changed last. */
  changedAt: string;
  turns: number;
  refused: number;
  /** In the order of their numbers. */
  readonly rows: Map<number, TurnRow>;
  /** Complete rows, for a caller that keeps all of them: taken away after each entry. */
  leaving: TurnRow[];
  /** An entry was about a turn whose row had left, and nobody had kept it. */
  isTorn: boolean;
  readonly taken: Map<TakenWay, TakenCount>;
  /** By the socket and the item that work was sent back to. */
  readonly sentBack: Set<string>;
  /** By loop, the items that walk side by side, each at its place. */
  readonly lanes: Map<string, (string | null)[]>;
  lanesMax: number;
  hasItems: boolean;
  readonly sockets: Map<string, SocketRecord>;
  /** By item, as `list key`. */
  readonly items: Map<string, ItemRecord>;
  /** Loops that were left by an exit. */
  readonly left: Set<string>;
  /** The socket of the turn with which it failed last. */
  failedAt: string | null;
  readonly timeline: TimelineRecord;
};

/** So many turns of the latest are kept although they are over: all of most casts. */
const ROWS_MAX = 200;

export function noPage(): PageRecord {
  return {
    ...{ seq: 0, before: null, at: '', request: '', startedBy: '', changedAt: '', turns: 0, refused: 0 },
    ...{ rows: new Map(), leaving: [], isTorn: false, taken: new Map(), sentBack: new Set(), lanes: new Map() },
    ...{ lanesMax: 0, hasItems: false, sockets: new Map(), items: new Map(), left: new Set(), failedAt: null },
    timeline: noTimeline(),
  };
}

const NO_SOCKET: SocketRecord = { turns: 0, refused: null, last: null, accepted: null, advanced: 0 };

/** Brings back the row of a turn that has left, for a caller that kept it. */
export type Recall = (turn: number) => TurnRow | undefined;

/** `stored` is the fact as it came: a long text may be a reference in it. */
export function foldPage(record: PageRecord, entry: Entry, stored: Fact, cast: Cast | null, recall?: Recall): void {
  const { seq, at, fact } = entry;
  record.before = record.seq === 0 ? null : record.seq;
  record.seq = seq;
  record.at = at;
  if (fact.kind === 'cast.started') begun(record, entry, stored);
  if (fact.kind.startsWith('cast.')) record.changedAt = at;
  const way = wayIn(fact);
  if (way !== null) record.taken.set(way, { count: (record.taken.get(way)?.count ?? 0) + 1, seq, at });
  if (fact.kind === 'edge.taken' && fact.when === 'not_satisfied') record.sentBack.add(noteOf(fact.to, fact.item));
  if (fact.kind === 'exit.taken' && fact.loop !== null) record.left.add(fact.loop);
  if (fact.kind === 'cursor.reset') record.left.delete(fact.loop);
  if (fact.kind === 'lane.ended') endLane(record, fact);
  if (fact.kind === 'turn.started') begin(record, entry, fact, cast);
  const row = foldRow(record, entry, recall);
  if (fact.kind === 'cast.failed') record.failedAt = row?.socket ?? null;
  foldTimeline(record.timeline, entry, row);
}

function foldRow(record: PageRecord, entry: Entry, recall: Recall | undefined): TurnRow | null {
  const { seq, fact } = entry;
  if (!('turn' in fact) || typeof fact.turn !== 'number') return null;
  const before = record.rows.get(fact.turn) ?? recall?.(fact.turn);
  if (!before) {
    record.isTorn ||= record.turns > record.rows.size && fact.turn > 0;
    return null;
  }
  const row = { ...changedRow(before, entry), lastSeq: seq };
  const { turn, socket, key, list } = row;
  record.rows.set(turn, row);
  const of = record.sockets.get(socket) ?? NO_SOCKET;
  record.sockets.set(socket, {
    ...of,
    // The cursor also passes an item that is parked, and names none then.
    advanced: of.advanced + (fact.kind === 'cursor.advanced' && fact.item !== null ? 1 : 0),
    accepted: fact.kind === 'turn.accepted' || of.accepted?.turn === turn ? row : of.accepted,
    refused:
      fact.kind === 'attempt.refused'
        ? { count: (of.refused?.count ?? 0) + 1, turn, attempt: fact.attempt }
        : of.refused,
  });
  if (fact.kind === 'attempt.refused') record.refused += 1;
  const item = list === null || key === null ? undefined : record.items.get(itemIdOf(list, key));
  if (item?.turn === turn && list !== null && key !== null)
    record.items.set(itemIdOf(list, key), { ...item, endAt: row.endAt });
  return row;
}

function begun(record: PageRecord, { by }: Entry, stored: Fact): void {
  const { request } = stored as unknown as { readonly request: Text };
  Object.assign(record, { request, startedBy: by });
}

function noteOf(socket: string, item: string | null): string {
  return `${socket} ${item ?? ''}`;
}

export function itemIdOf(list: string, key: string): string {
  return `${list} ${key}`;
}

function begin(
  record: PageRecord,
  { seq, at }: Entry,
  fact: Extract<CastFact, { kind: 'turn.started' }>,
  cast: Cast | null,
): void {
  const { turn, socket, item, lane } = fact;
  const note = noteOf(socket, item?.key ?? null);
  const isRework = record.sentBack.delete(note);
  const row: TurnRow = {
    turn,
    socket,
    ...itemIn(item),
    row: item === null ? 0 : lane === undefined ? 1 : placeInLane(record, lane, item.key),
    isRework,
    seq,
    at,
    endSeq: null,
    endAt: null,
    end: null,
    lastSeq: seq,
    attempts: [],
    waits: [],
    refused: 0,
  };
  record.rows.set(turn, row);
  record.turns += 1;
  record.hasItems ||= row.row > 0;
  letGo(record, cast);
  const { number, title, list, key } = row;
  const of = record.sockets.get(socket) ?? NO_SOCKET;
  record.sockets.set(socket, { ...of, turns: of.turns + 1, last: { turn, number, title } });
  if (list === null || key === null) return;
  const id = itemIdOf(list, key);
  const { turns, rework } = record.items.get(id) ?? { turns: 0, rework: 0 };
  record.items.set(id, { turn, socket, title, endAt: null, turns: turns + 1, rework: rework + (isRework ? 1 : 0) });
}

/** The first rows that are complete leave; what is open is waited for. */
function letGo(record: PageRecord, cast: Cast | null): void {
  for (const [turn, row] of record.rows) {
    if (record.rows.size <= ROWS_MAX) return;
    if (row.end === null || cast?.turns[turn]) continue;
    record.rows.delete(turn);
    record.leaving.push(row);
    keepPlace(record.timeline, row);
  }
}

function itemIn(item: Item | null): Pick<TurnRow, 'number' | 'key' | 'list' | 'title'> {
  if (item === null) return { number: null, key: null, list: null, title: null };
  // An item without a title of its own is called by its key.
  const title = item.label === itemKey(item.items, item.as, item.index) ? null : item.label;
  return { number: item.index + 1, key: item.key, list: item.cursorKey, title };
}

/** The lowest place in which no other item walks; the rows of lanes begin with 1. */
function placeInLane(record: PageRecord, lane: string, item: string): number {
  const places = record.lanes.get(lane) ?? [];
  record.lanes.set(lane, places);
  const own = places.indexOf(item);
  const free = places.indexOf(null);
  const place = own !== -1 ? own : free !== -1 ? free : places.length;
  places[place] = item;
  record.lanesMax = Math.max(record.lanesMax, place + 1);
  return place + 1;
}

function endLane({ lanes }: PageRecord, { item }: Extract<CastFact, { kind: 'lane.ended' }>): void {
  for (const places of lanes.values()) {
    const place = item === null ? -1 : places.indexOf(item);
    if (place !== -1) places[place] = null;
  }
}

type Reference = Exclude<Text, string>;

function isReference(value: Json | undefined): value is Json & Reference {
  return isObject(value) && isString(value.digest) && isString(value.preview) && typeof value.bytes === 'number';
}

/** The entry with the beginning of each long text in the place of its reference: what the kernel reads is text. */
export function withBeginnings(entry: Entry): Entry {
  return { ...entry, fact: beginning(entry.fact as unknown as Json) as unknown as Fact };
}

// Most facts hold no such text, and are passed on as they are.
function beginning(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const read = value.map(beginning);
    return read.some((each, n) => each !== value[n]) ? read : value;
  }
  if (isReference(value) && typeof value.seq === 'number') return `${value.preview}…`;
  let read: Record<string, Json> | null = null;
  for (const name in value) {
    const member = (value as JsonObject)[name] as Json;
    const found = beginning(member);
    if (found === member) continue;
    read ??= { ...(value as JsonObject) } as Record<string, Json>;
    read[name] = found;
  }
  return read ?? value;
}
