// The whole length of a cast in a bounded record: which entry it had at which time, where turns that are no longer kept were, the
// longest of them, and what people did. A cast of a million entries takes as much room as one of two thousand.
import type { Entry } from '../../kernel/fact.ts';
import { isObject, isString } from '../../kernel/json.ts';
import type { AttemptRow, TurnRow } from './turn-rows.ts';

/** What a list shows of an entry. */
export type LogLine = {
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly kind: string;
  readonly turn: number | null;
  readonly socket: string | null;
  /** Of its item. */
  readonly number: number | null;
  /** It is a refusal, a failure, or work that was sent back. */
  readonly isTurning: boolean;
  readonly code: string | null;
};

/** The lists of entries that can be asked for. */
export const LOG_LISTS = ['all', 'turning', 'cast', 'turns'] as const;
export type LogList = (typeof LOG_LISTS)[number];

/** Something that a person did, or was asked. */
export type TimelineMark = {
  readonly seq: number;
  readonly at: string;
  readonly by: string | null;
  readonly what: string;
  readonly turn: number | null;
};

/** What a span of the timeline is drawn as; of those that share a place the last of these is on top. */
export const TONES = ['done', 'lost', 'runs', 'rework', 'waits', 'refused'] as const;
export type Tone = (typeof TONES)[number];

/**
 * One sample for each `every` entries: the number and the time of the first of them. `tones` has a list for each row of the timeline,
 * with the worst tone of its turns there: one more than its place in `TONES`, and 0 where no turn is.
 */
export type Samples = {
  readonly every: number;
  readonly seqs: readonly number[];
  readonly times: readonly number[];
  readonly tones: readonly (readonly number[])[];
};

export type TimelineRecord = {
  /** How many entries there were, by list. */
  readonly counts: Record<LogList, number>;
  samples: { every: number; seqs: number[]; times: number[]; tones: number[][] };
  marks: TimelineMark[];
  /** The longest of the turns that are no longer kept, the longest first. */
  readonly long: { readonly row: TurnRow; readonly ms: number }[];
};

/** More than a screen has pixels to tell apart, when a turn takes several entries. */
const SAMPLES_MAX = 2_048;
const MARKS_MAX = 512;
const LONG_MAX = 64;

export function noTimeline(): TimelineRecord {
  const samples = { every: 1, seqs: [], times: [], tones: [] };
  return { counts: { all: 0, turning: 0, cast: 0, turns: 0 }, samples, marks: [], long: [] };
}

/** `row` is the turn that the entry is about. */
export function foldTimeline(record: TimelineRecord, entry: Entry, row: TurnRow | null): void {
  const { seq, at } = entry;
  const { counts, samples } = record;
  for (const list of listsOf(lineOf(entry, row))) counts[list] += 1;
  if ((counts.all - 1) % samples.every === 0) {
    samples.seqs.push(seq);
    samples.times.push(Date.parse(at));
    for (const tones of samples.tones) tones.push(0);
  }
  if (samples.seqs.length > SAMPLES_MAX) halve(record);
  const mark = markOf(entry);
  if (mark) record.marks.push(mark);
  if (record.marks.length > MARKS_MAX) record.marks = record.marks.slice(-MARKS_MAX / 2);
}

export function listsOf({ kind, isTurning }: LogLine): readonly LogList[] {
  return [
    'all',
    ...(isTurning ? (['turning'] as const) : []),
    ...(kind.startsWith('cast.') || kind.startsWith('approval.') ? (['cast'] as const) : []),
    ...(kind === 'turn.started' ? (['turns'] as const) : []),
  ];
}

function halve(record: TimelineRecord): void {
  const { every, seqs, times, tones } = record.samples;
  const isFirst = (_: number, n: number) => n % 2 === 0;
  record.samples = {
    every: every * 2,
    seqs: seqs.filter(isFirst),
    times: times.filter(isFirst),
    tones: tones.map((row) => row.filter(isFirst).map((tone, n) => Math.max(tone, row[2 * n + 1] ?? 0))),
  };
}

/** Keeps of a turn that leaves the page where it was. */
export function keepPlace({ samples, long }: TimelineRecord, row: TurnRow): void {
  for (const attempt of row.attempts) put(samples, row.row, attempt.seq, toneOf(row, attempt));
  for (const wait of row.waits) put(samples, row.row, wait.seq, 'waits');
  const ms = row.endAt === null ? 0 : Date.parse(row.endAt) - Date.parse(row.at);
  if (long.length === LONG_MAX && ms <= (long.at(-1)?.ms ?? 0)) return;
  const again = long.findIndex((each) => each.row.turn === row.turn);
  if (again !== -1) long.splice(again, 1);
  const place = long.findIndex((each) => each.ms < ms);
  long.splice(place === -1 ? long.length : place, 0, { row, ms });
  if (long.length > LONG_MAX) long.pop();
}

function put({ seqs, tones }: TimelineRecord['samples'], row: number, seq: number, tone: Tone): void {
  while (tones.length <= row) tones.push(seqs.map(() => 0));
  const own = tones[row];
  const at = sampleAt(seqs, seq);
  if (own) own[at] = Math.max(own[at] ?? 0, TONES.indexOf(tone) + 1);
}

/** The place of the last sample up to an entry. */
export function sampleAt(seqs: readonly number[], seq: number): number {
  let [low, high] = [0, seqs.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((seqs[middle] ?? 0) <= seq) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** `isCut` is an attempt that was not ended when its cast stopped. */
export function toneOf({ isRework }: TurnRow, { end, endAt }: AttemptRow, isCut = false): Tone {
  if (end === 'refused' || end === 'failed') return 'refused';
  if (end === 'lost' || isCut) return 'lost';
  if (isRework) return 'rework';
  return endAt === null ? 'runs' : 'done';
}

const TURNING: ReadonlySet<string> = new Set([
  ...['attempt.refused', 'attempt.failed', 'attempt.lost', 'turn.unknown', 'turn.blocked', 'cast.failed'],
  'item.parked',
]);

export function lineOf({ seq, at, by, fact }: Entry, row: TurnRow | null): LogLine {
  const turn = 'turn' in fact && typeof fact.turn === 'number' ? fact.turn : null;
  const isBack = fact.kind === 'edge.taken' && fact.when === 'not_satisfied';
  return {
    ...{ seq, at, by, kind: fact.kind, turn },
    ...{ socket: row?.socket ?? null, number: row?.number ?? null },
    isTurning: isBack || TURNING.has(fact.kind),
    code: codeOf(fact),
  };
}

function codeOf(fact: Entry['fact']): string | null {
  if ('code' in fact && isString(fact.code)) return fact.code;
  return 'verdict' in fact && isObject(fact.verdict) && isString(fact.verdict.code) ? fact.verdict.code : null;
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
