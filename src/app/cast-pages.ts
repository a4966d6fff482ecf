// The page of a cast as of any of its entries. The newest view of a cast is kept and folded on; keyframes of it are left on the way,
// one every thousand entries or farther apart where a view is large, and a look at the past folds from the nearest. A keyframe is
// written out: as an object it would be many times as large. Turns that have left the view, and a line for each entry, are kept beside.
import { deserialize, serialize } from 'node:v8';
import type { Store } from '../engine/store.ts';
import type { Cast } from '../kernel/cast/state.ts';
import type { Entry } from '../kernel/fact.ts';
import type { JsonObject } from '../kernel/json.ts';
import { type CastPage, castPageOf } from './views/cast-page.ts';
import { type LogLine, type LogList, lineOf, listsOf } from './views/cast-timeline.ts';
import { emptyPageView, foldSent, type PageView, writtenView } from './views/cast-view.ts';
import { tasksIn } from './views/result.ts';
import type { TurnRow } from './views/turn-rows.ts';

const EVERY_ENTRIES = 1_000;
/** A view of so many bytes takes as long to write as an entry takes to read and fold, four times over. */
const BYTES_AN_ENTRY = 600;
/** With more bytes every other one is let go. */
const KEYFRAME_BYTES_MAX = 32 * 1_048_576;
/** More than are open at once in most workspaces. */
const CASTS_MAX = 32;
const PAGE_ENTRIES = 1_000;

/** What is asked for page by page, because it can be long. */
export type CastPart = 'state' | 'ledger' | 'turns' | 'log';
export type CastRows = {
  readonly seq: number;
  readonly rows: readonly JsonObject[];
  readonly total: number;
  /** How many rows there are before these. */
  readonly after: number;
};

/**
 * Which rows: `after` leaves out so many of the first. `from` begins with a turn or an entry, `until` ends with one; they are for
 * turns and the log, which are in that order.
 */
export type RowQuery = {
  readonly after: number;
  readonly limit: number;
  readonly from?: number;
  readonly until?: number;
  readonly list?: LogList;
};

type Place = {
  /** The last entry of the cast that is in the view, and how many are. */
  seq: number;
  count: number;
};
type Moment = Place & { readonly view: PageView };

type Kept = Moment & {
  /** After so many entries the next keyframe is left. */
  next: number;
  /** In the order of their entries. */
  keyframes: (Readonly<Place> & { readonly written: Uint8Array })[];
  /** The moment that was looked at last: the next one is mostly a step further. */
  past: Moment | null;
  /** The turns that have left the view, each time that they did. */
  readonly left: Map<number, TurnRow[]>;
  /** The numbers of all turns. */
  readonly turns: number[];
  readonly lines: Readonly<Record<LogList, LogLine[]>>;
  /** One look at a time: folding goes on from where the last one stopped. */
  busy: Promise<unknown>;
};

type Reading = Pick<Store, 'read'>;

const pagesOf = new WeakMap<Reading, CastPages>();

/** The pages of the casts of a store, kept as long as the store is open. */
export function castPages(store: Reading): CastPages {
  const known = pagesOf.get(store) ?? new CastPages();
  pagesOf.set(store, known);
  return known;
}

/** How many of the latest lines come with a view that is folded on. */
const LINES_SENT = 200;

export class CastPages {
  /** In the order of their last use. */
  readonly #kept = new Map<string, Kept>();

  /** Null for a moment before the cast began, and where the caller has left by its turn. Without `at`, as it is now. */
  pageOf(store: Reading, cast: string, at: number | null, signal?: AbortSignal): Promise<CastPage | null> {
    // Ages in the past are counted from that time.
    const now = () => (at === null ? new Date().toISOString() : undefined);
    return this.#look(store, cast, at, (view) => castPageOf(view, now()), signal);
  }

  /** What a page needs to fold on by itself, with the latest lines of the log, as JSON: the view itself changes in place. */
  async foldOf(store: Reading, cast: string): Promise<string> {
    const text = await this.#look(store, cast, null, (view, { lines }) => {
      const latest = JSON.stringify(lines.all.slice(-LINES_SENT));
      return `{"seq":${view.page.seq},"view":${writtenView(view)},"lines":${latest}}`;
    });
    return text ?? '';
  }

  /** Looks at the cast as the kernel knows it, with the beginnings of its long texts. It changes in place. */
  async lookAt(store: Reading, cast: string, look: (cast: Cast) => void): Promise<void> {
    await this.#look(store, cast, null, (view) => view.cast && look(view.cast));
  }

  /** Rows of a part of it, whole, as of the same moments; those of the log as of now. */
  partOf(
    store: Reading,
    cast: string,
    at: number | null,
    part: CastPart,
    query: RowQuery,
    signal?: AbortSignal,
  ): Promise<CastRows | null> {
    const look = (view: PageView, kept: Kept): CastRows | null => {
      const { cast: folded, page } = view;
      if (!folded) return null;
      const cut = <T>(
        rows: readonly T[],
        keyOf: ((row: T) => number) | null,
        shown = (row: T): unknown => row,
      ): CastRows => {
        const [first, end] = rangeOf(rows, keyOf, query);
        const found = rows.slice(first, end).map((row) => structuredClone(shown(row)) as JsonObject);
        return { seq: page.seq, rows: found, total: rows.length, after: first };
      };
      if (part === 'ledger') return cut(tasksIn(view), null);
      if (part === 'state') return cut(Object.entries(folded.data), null, ([name, value]) => ({ name, value }));
      if (part === 'log') return cut(kept.lines[query.list ?? 'all'], ({ seq }) => seq);
      // By then it had so many turns.
      const turns = kept.turns.slice(0, page.turns);
      const rowOf = (turn: number) => page.rows.get(turn) ?? recalled(kept, turn, page.seq);
      return cut(turns, (turn) => turn, rowOf);
    };
    return this.#look(store, cast, part === 'log' ? null : at, look, signal);
  }

  /** Looks at the view while no fold is running. */
  async #look<T>(
    store: Reading,
    cast: string,
    at: number | null,
    look: (view: PageView, kept: Kept) => T,
    signal?: AbortSignal,
  ): Promise<T | null> {
    const kept = this.#keptFor(cast);
    const found = kept.busy.then(async () => {
      // Whoever scrubs asks for many moments and waits for the last.
      if (signal?.aborted) return null;
      const until = at ?? Number.POSITIVE_INFINITY;
      if (until >= kept.seq) await foldOn(store, cast, kept, until);
      return look(until >= kept.seq ? kept.view : (await momentAt(store, cast, kept, until)).view, kept);
    });
    kept.busy = found.catch(() => void this.#kept.delete(cast));
    return found;
  }

  #keptFor(cast: string): Kept {
    const known = this.#kept.get(cast);
    const kept: Kept = known ?? {
      ...{ view: emptyPageView(), seq: 0, count: 0, next: EVERY_ENTRIES, keyframes: [], past: null },
      ...{ left: new Map(), turns: [], lines: { all: [], turning: [], cast: [], turns: [] } },
      busy: Promise.resolve(),
    };
    this.#kept.delete(cast);
    this.#kept.set(cast, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > CASTS_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return kept;
  }
}

/** The first row, and the one behind the last. */
function rangeOf<T>(
  rows: readonly T[],
  keyOf: ((row: T) => number) | null,
  { after, limit, from, until }: RowQuery,
): readonly [number, number] {
  if (keyOf && until !== undefined) {
    const end = placeOf(rows, keyOf, until + 1);
    return [Math.max(0, end - limit), end];
  }
  const first = after + (keyOf && from !== undefined ? placeOf(rows, keyOf, from) : 0);
  return [first, first + limit];
}

/** The place of the first row from this number on. */
function placeOf<T>(rows: readonly T[], keyOf: (row: T) => number, number: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row !== undefined && keyOf(row) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A turn that has left, as it was when it left last before an entry. */
function recalled({ left }: Kept, turn: number, seq: number): TurnRow | undefined {
  return left.get(turn)?.findLast(({ lastSeq }) => lastSeq <= seq);
}

function foldInto(kept: Kept, moment: Moment, entry: Entry): void {
  const { page } = foldSent(moment.view, entry, (turn) => recalled(kept, turn, entry.seq - 1));
  moment.seq = entry.seq;
  moment.count += 1;
  const leaving = page.leaving;
  page.leaving = [];
  if (moment === kept) for (const row of leaving) kept.left.set(row.turn, [...(kept.left.get(row.turn) ?? []), row]);
}

async function foldOn(store: Reading, cast: string, kept: Kept, until: number): Promise<void> {
  await eachEntry(store, cast, kept.seq, until, (entry) => {
    foldInto(kept, kept, entry);
    const { fact } = entry;
    if (fact.kind === 'turn.started') kept.turns.push(fact.turn);
    const row = 'turn' in fact && typeof fact.turn === 'number' ? kept.view.page.rows.get(fact.turn) : undefined;
    const line = lineOf(entry, row ?? null);
    for (const list of listsOf(line)) kept.lines[list].push(line);
    if (kept.count >= kept.next) leaveKeyframe(kept);
  });
}

function leaveKeyframe(kept: Kept): void {
  const { seq, count, view } = kept;
  const written = serialize(view);
  kept.keyframes.push({ seq, count, written });
  kept.next = count + Math.max(EVERY_ENTRIES, Math.ceil(written.length / BYTES_AN_ENTRY));
  const bytes = kept.keyframes.reduce((sum, frame) => sum + frame.written.length, 0);
  if (bytes > KEYFRAME_BYTES_MAX) kept.keyframes = kept.keyframes.filter((_, n) => n % 2 === 1);
}

async function momentAt(store: Reading, cast: string, kept: Kept, until: number): Promise<Moment> {
  const past = startOf(kept, until);
  // A look that fails in between leaves nothing half folded behind.
  kept.past = null;
  await eachEntry(store, cast, past.seq, until, (entry) => foldInto(kept, past, entry));
  kept.past = past;
  return past;
}

/** Where to fold from: the moment that was looked at last, or a keyframe if one is nearer. */
function startOf({ past, keyframes }: Kept, until: number): Moment {
  const frame = keyframes.findLast(({ seq }) => seq <= until);
  if (past && past.seq <= until && past.seq >= (frame?.seq ?? 0)) return past;
  if (!frame) return { seq: 0, count: 0, view: emptyPageView() };
  return { seq: frame.seq, count: frame.count, view: deserialize(frame.written) as PageView };
}

async function eachEntry(
  store: Reading,
  cast: string,
  after: number,
  until: number,
  take: (entry: Entry) => void,
): Promise<void> {
  for (let seen = after; ; ) {
    const entries = await store.read({ after: seen, cast, limit: PAGE_ENTRIES, texts: 'digest' });
    for (const entry of entries) {
      if (entry.seq > until) return;
      take(entry);
    }
    const last = entries.at(-1);
    if (!last || entries.length < PAGE_ENTRIES) return;
    seen = last.seq;
    // Others are answered while a long cast is read.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
