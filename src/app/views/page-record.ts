// What the page of a cast shows beyond what the kernel keeps, one entry after the other: every turn with its attempts and
// its place in the timeline, how often each way of the graph was taken, and what people did. Rows are replaced and never
// changed, so that a page that was made stays as it was, and one entry costs the same in a long cast as in a short one.

import type { CastFact } from '../../kernel/cast/fact.ts';
import { itemKey } from '../../kernel/cast/item.ts';
import type { Item, Usage } from '../../kernel/cast/state.ts';
import type { Entry, Fact } from '../../kernel/fact.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { truncate } from '../../kernel/text.ts';
import { type TakenWay, wayIn } from './graph-drawing.ts';
import type { Text } from './in-words.ts';

export type AttemptOutcome =
  | 'accepted'
  | 'not_satisfied'
  | 'refused'
  | 'failed'
  | 'lost'
  | 'interrupted'
  | 'asks'
  | 'goes_on'
  | 'blocked';

export type AttemptRow = {
  readonly attempt: number;
  /** The entry that started it, and when. */
  readonly seq: number;
  readonly at: string;
  /** Null while it runs. */
  readonly end: AttemptOutcome | null;
  readonly endSeq: number | null;
  readonly endAt: string | null;
  readonly code: string | null;
  readonly reason: string;
  /** How many issues its refusal names. */
  readonly issues: number;
  readonly brief: Text;
  readonly output: Text | null;
  readonly usage: Usage | null;
  readonly runner: string | null;
  readonly model: string | null;
};

/** A time in which a turn waited for a person. `to` is null while it waits. */
export type WaitSpan = {
  readonly seq: number;
  readonly from: string;
  readonly to: string | null;
  readonly toSeq: number | null;
  readonly what: 'question' | 'approval' | 'turn' | 'blocked' | 'unknown' | 'spent';
};

export type TurnRow = {
  readonly turn: number;
  readonly socket: string;
  readonly visit: number;
  /** The place of its item from 1 on; null where it has none. */
  readonly number: number | null;
  readonly key: string | null;
  /** The list of its item: the key of the cursor. */
  readonly list: string | null;
  readonly title: string | null;
  readonly task: string | null;
  /** The row of the timeline. */
  readonly row: number;
  readonly isRework: boolean;
  readonly seq: number;
  readonly at: string;
  readonly endSeq: number | null;
  readonly endAt: string | null;
  readonly end: 'accepted' | 'not_satisfied' | 'failed' | 'parked' | 'dropped' | null;
  /** The last entry about it. */
  readonly lastSeq: number;
  readonly attempts: readonly AttemptRow[];
  readonly waits: readonly WaitSpan[];
  /** How many attempts were refused. */
  readonly refused: number;
};

/** Something that a person did, or was asked. */
export type TimelineMark = {
  readonly seq: number;
  readonly at: string;
  readonly by: string | null;
  readonly what: string;
  readonly turn: number | null;
};

export type TakenCount = { readonly count: number; readonly seq: number; readonly at: string };

export type PageRecord = {
  seq: number;
  at: string;
  /** What the cast shall do, whole or by digest. */
  request: Text;
  startedBy: string;
  startedSeq: number;
  /** When its status changed last. */
  changedAt: string;
  /** In the order of their numbers. */
  readonly rows: TurnRow[];
  readonly indexOf: Map<number, number>;
  readonly taken: Map<TakenWay, TakenCount>;
  /** By the socket and the item that work was sent back to. */
  readonly sentBack: Set<string>;
  /** By loop, the items that walk side by side, each at its place. */
  readonly lanes: Map<string, (string | null)[]>;
  lanesMax: number;
  readonly marks: TimelineMark[];
  /** By socket. */
  readonly visits: Map<string, number>;
  readonly refusals: Map<string, { readonly count: number; readonly turn: number; readonly attempt: number }>;
  /** By item, as `list key`. */
  readonly itemTurns: Map<string, { readonly count: number; readonly rework: number; readonly last: number }>;
  /** The last turn of each socket that was accepted. */
  readonly lastAccepted: Map<string, number>;
  /** By socket, how many items it finished. */
  readonly advanced: Map<string, number>;
  /** Loops that were left by an exit. */
  readonly left: Set<string>;
};

const PREVIEW_CHARS = 200;

export function noPage(): PageRecord {
  return {
    seq: 0,
    at: '',
    request: '',
    startedBy: '',
    startedSeq: 0,
    changedAt: '',
    rows: [],
    indexOf: new Map(),
    taken: new Map(),
    sentBack: new Set(),
    lanes: new Map(),
    lanesMax: 0,
    marks: [],
    visits: new Map(),
    refusals: new Map(),
    itemTurns: new Map(),
    lastAccepted: new Map(),
    advanced: new Map(),
    left: new Set(),
  };
}

/** `stored` is the fact as it came: a long text may be a reference in it. */
export function foldPage(record: PageRecord, entry: Entry, stored: Fact): void {
  const { seq, at, fact } = entry;
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
  const mark = markOf(entry);
  if (mark) record.marks.push(mark);
  if (fact.kind === 'turn.started') begin(record, entry, fact);
  const turn = 'turn' in fact && typeof fact.turn === 'number' ? fact.turn : null;
  const index = turn === null ? undefined : record.indexOf.get(turn);
  const row = index === undefined ? undefined : record.rows[index];
  if (index === undefined || row === undefined) return;
  const next = { ...changed(row, entry, stored as unknown as JsonObject), lastSeq: seq };
  record.rows[index] = next;
  if (fact.kind === 'attempt.refused') {
    const count = (record.refusals.get(row.socket)?.count ?? 0) + 1;
    record.refusals.set(row.socket, { count, turn: row.turn, attempt: fact.attempt });
  }
  if (fact.kind === 'turn.accepted') record.lastAccepted.set(row.socket, row.turn);
  // The cursor also passes an item that is parked, and names none then.
  if (fact.kind === 'cursor.advanced' && fact.item !== null)
    record.advanced.set(row.socket, (record.advanced.get(row.socket) ?? 0) + 1);
}

function begun(record: PageRecord, { seq, by }: Entry, stored: Fact): void {
  const { request } = stored as unknown as { readonly request: Text };
  Object.assign(record, { request, startedBy: by, startedSeq: seq });
}

function noteOf(socket: string, item: string | null): string {
  return `${socket} ${item ?? ''}`;
}

export function itemIdOf(list: string, key: string): string {
  return `${list} ${key}`;
}

function begin(record: PageRecord, { seq, at }: Entry, fact: Extract<CastFact, { kind: 'turn.started' }>): void {
  const { turn, socket, visit, item, task = null, lane } = fact;
  const note = noteOf(socket, item?.key ?? null);
  const isRework = record.sentBack.delete(note);
  const row: TurnRow = {
    turn,
    socket,
    visit,
    ...itemIn(item),
    task,
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
  record.indexOf.set(turn, record.rows.length);
  record.rows.push(row);
  record.visits.set(socket, (record.visits.get(socket) ?? 0) + 1);
  if (row.list === null || row.key === null) return;
  const id = itemIdOf(row.list, row.key);
  const before = record.itemTurns.get(id) ?? { count: 0, rework: 0, last: 0 };
  record.itemTurns.set(id, { count: before.count + 1, rework: before.rework + (isRework ? 1 : 0), last: turn });
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

function changed(row: TurnRow, entry: Entry, stored: JsonObject): TurnRow {
  const { seq, at, fact } = entry;
  const over = (end: NonNullable<TurnRow['end']>) => ({ end, endSeq: seq, endAt: at });
  switch (fact.kind) {
    case 'attempt.started':
      return {
        ...awake(row, seq, at),
        attempts: [...withoutAttempt(row, fact.attempt), attemptOf(entry, fact, stored)],
      };
    case 'attempt.answered':
      return ended(row, fact.attempt, { output: sentText(stored.output) });
    case 'attempt.refused': {
      const { issues } = fact.verdict.details;
      const end = {
        end: 'refused',
        endSeq: seq,
        endAt: at,
        code: fact.verdict.code,
        reason: fact.verdict.reason,
      } as const;
      const count = Array.isArray(issues) ? issues.length : 0;
      const told = { ...end, issues: count, output: sentText(stored.output), ...toldIn(fact) };
      return { ...ended(row, fact.attempt, told), refused: row.refused + 1 };
    }
    case 'attempt.failed': {
      const end = {
        end: 'failed',
        endSeq: seq,
        endAt: at,
        code: fact.cause ?? fact.code,
        reason: fact.reason,
      } as const;
      return ended(row, fact.attempt, { ...end, output: sentText(stored.said), ...toldIn(fact) });
    }
    case 'attempt.lost':
      return ended(row, fact.attempt, { end: 'lost', endSeq: seq, endAt: at, reason: fact.reason });
    case 'attempt.interrupted':
      return ended(row, fact.attempt, { end: 'interrupted', endSeq: seq, endAt: at, ...toldIn(fact) });
    case 'attempt.spent':
      return ended(row, fact.attempt, { end: 'lost', endSeq: seq, endAt: at, ...toldIn(fact) });
    case 'turn.unknown': {
      const lost = { end: 'lost', endSeq: seq, endAt: at, code: 'OUTCOME_UNKNOWN', reason: fact.reason } as const;
      return waits(ended(row, fact.attempt, lost), seq, at, 'unknown');
    }
    case 'turn.asked':
      return waits(row, seq, at, 'turn');
    case 'turn.reported': {
      const end = { end: fact.outcome === 'continue' ? 'goes_on' : 'asks', endSeq: seq, endAt: at } as const;
      const row2 = ended(row, fact.attempt, {
        ...end,
        reason: fact.note,
        output: sentText(stored.output),
        ...toldIn(fact),
      });
      if (fact.outcome === 'continue') return row2;
      return waits(row2, seq, at, fact.outcome === 'ask' ? 'question' : 'approval');
    }
    case 'turn.blocked': {
      const end = { end: 'blocked', endSeq: seq, endAt: at, code: fact.code, reason: fact.reason } as const;
      const output = fact.output === '' ? {} : { output: sentText(stored.output), ...toldIn(fact) };
      return waits(ended(row, fact.attempt, { ...end, ...output }), seq, at, 'blocked');
    }
    case 'edge.spent':
      return waits({ ...row, end: null, endSeq: null, endAt: null }, seq, at, 'spent');
    case 'edge.extended':
    case 'turn.answered':
    case 'turn.decided':
      return awake(row, seq, at);
    case 'turn.reopened':
      return { ...awake(row, seq, at), end: null, endSeq: null, endAt: null };
    case 'turn.accepted': {
      const end = fact.handoff.satisfied === false ? 'not_satisfied' : 'accepted';
      const told = {
        end,
        endSeq: seq,
        endAt: at,
        code: null,
        output: sentText(stored.output),
        ...toldIn(fact),
      } as const;
      return { ...awake(ended(row, fact.attempt, told), seq, at), ...over(end) };
    }
    case 'item.parked':
      return { ...awake(row, seq, at), ...over('parked') };
    case 'turn.dropped':
      return row.end === null ? { ...awake(row, seq, at), ...over('dropped') } : row;
    case 'cast.failed':
      return row.end === null ? { ...awake(row, seq, at), ...over('failed') } : row;
    default:
      return row;
  }
}

function attemptOf(
  { seq, at }: Entry,
  fact: Extract<CastFact, { kind: 'attempt.started' }>,
  stored: JsonObject,
): AttemptRow {
  return {
    attempt: fact.attempt,
    seq,
    at,
    ...{ end: null, endSeq: null, endAt: null, code: null, reason: '', issues: 0 },
    brief: sentText(stored.brief) ?? '',
    output: null,
    usage: null,
    runner: fact.attestation?.runner ?? null,
    model: fact.attestation?.model ?? null,
  };
}

/** An attempt that is made again after a crash has the number that it had. */
function withoutAttempt({ attempts }: TurnRow, number: number): readonly AttemptRow[] {
  return attempts.filter(({ attempt }) => attempt !== number);
}

function ended(row: TurnRow, number: number, change: Partial<AttemptRow>): TurnRow {
  const attempts = row.attempts.map((each) => (each.attempt === number ? { ...each, ...change } : each));
  return { ...row, attempts };
}

/** Who answered, and what that used. */
function toldIn(fact: Fact): Partial<AttemptRow> {
  const agent = 'agent' in fact && typeof fact.agent === 'object' ? fact.agent : undefined;
  return {
    ...('usage' in fact && 'attempt' in fact ? { usage: fact.usage } : {}),
    ...(agent?.runner === undefined ? {} : { runner: agent.runner }),
    ...(agent?.model === undefined ? {} : { model: agent.model }),
  };
}

function waits(row: TurnRow, seq: number, from: string, what: WaitSpan['what']): TurnRow {
  const before = awake(row, seq, from);
  return { ...before, waits: [...before.waits, { seq, from, to: null, toSeq: null, what }] };
}

function awake(row: TurnRow, toSeq: number, to: string): TurnRow {
  if (row.waits.at(-1)?.to !== null) return row;
  return { ...row, waits: row.waits.map((wait) => (wait.to === null ? { ...wait, to, toSeq } : wait)) };
}

const MARKS: Readonly<Record<string, string>> = {
  'cast.started': 'Started',
  'cast.paused': 'Paused',
  'cast.resumed': 'Goes on',
  'cast.recovered': 'Taken over',
  'cast.recast': 'Run on',
  'cast.aborted': 'Stopped',
  'cast.failed': 'Failed',
  'cast.completed': 'Completed',
  'turn.decided': 'Decided',
  'turn.asked': 'Your turn',
  'budget.changed': 'Budget changed',
  'item.retried': 'Item tried again',
  'item.dropped': 'Item left out',
  'item.parked': 'Item parked',
  'approval.requested': 'Permission asked',
  'approval.approved': 'Approved',
  'approval.rejected': 'Rejected',
};

function markOf({ seq, at, by, fact }: Entry): TimelineMark | null {
  const turn = 'turn' in fact && typeof fact.turn === 'number' ? fact.turn : null;
  const who = 'by' in fact && isString(fact.by) ? fact.by : by;
  if (fact.kind === 'turn.answered')
    return fact.from === 'person' ? { seq, at, by: who, what: 'Answered', turn } : null;
  if (fact.kind === 'turn.reported')
    return fact.outcome === 'ask' ? { seq, at, by: null, what: 'Question asked', turn } : null;
  const what = MARKS[fact.kind];
  return what === undefined ? null : { seq, at, by: who, what, turn };
}

/** A text of a fact as it came: short ones whole, long ones by digest with how they begin. */
function sentText(value: Json | undefined): Text | null {
  if (isString(value)) return truncate(value, PREVIEW_CHARS);
  return isReference(value) ? value : null;
}

type Reference = Exclude<Text, string>;

function isReference(value: Json | undefined): value is Json & Reference {
  return isObject(value) && isString(value.digest) && isString(value.preview) && typeof value.bytes === 'number';
}

/** The entry with the beginning of each long text in the place of its reference: what the kernel reads is text. */
export function withBeginnings(entry: Entry): Entry {
  return { ...entry, fact: beginning(entry.fact as unknown as Json) as unknown as Fact };
}

function beginning(value: Json): Json {
  if (Array.isArray(value)) return value.map(beginning);
  if (!isObject(value)) return value;
  if (isReference(value) && typeof value.seq === 'number') return `${value.preview}…`;
  const read: Record<string, Json> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined && name !== '__proto__') read[name] = beginning(member);
  }
  return read;
}
