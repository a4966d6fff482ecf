// The log of a cast in lines. The latest are here and come with the stream; the others are asked from the server, page by page, when
// somebody looks at them. A line keeps its place for ever, because nothing is taken out of a log.
import { useEffect, useState, useSyncExternalStore } from 'react';
import { type LogLine, type LogList, listsOf } from '../../../src/app/views/cast-timeline.ts';
import { look } from '../api.ts';

const LATEST_MAX = 4_000;
const PAGE_LINES = 200;
const PAGES_MAX = 100;
/** A pointer that passes over asks for nothing. */
const HOVER_MS = 60;

type Counts = Readonly<Record<LogList, number>>;

export class CastLog {
  readonly #cast: string;
  readonly #counts: () => Counts | null;
  readonly #pages = new Map<string, readonly LogLine[] | 'asked'>();
  readonly #listeners = new Set<() => void>();
  readonly #latest: Record<LogList, LogLine[]> = { all: [], turning: [], cast: [], turns: [] };
  #version = 0;

  constructor(cast: string, counts: () => Counts | null) {
    this.#cast = cast;
    this.#counts = counts;
  }

  /** Without a gap up to the last one. */
  get latest(): readonly LogLine[] {
    return this.#latest.all;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  get version(): number {
    return this.#version;
  }

  begin(lines: readonly LogLine[]): void {
    for (const own of Object.values(this.#latest)) own.length = 0;
    for (const line of lines) this.add(line);
  }

  add(line: LogLine): void {
    for (const list of listsOf(line)) {
      const own = this.#latest[list];
      own.push(line);
      if (own.length > LATEST_MAX) own.splice(0, LATEST_MAX / 2);
    }
  }

  /** The line at a place of a list, the oldest being 0. Null while it is asked for. */
  at(list: LogList, place: number): LogLine | null {
    const total = this.#counts()?.[list] ?? 0;
    const latest = this.#latest[list];
    if (place >= total - latest.length) return latest[place - total + latest.length] ?? null;
    const page = Math.floor(place / PAGE_LINES);
    const known = this.#pages.get(`${list} ${page}`);
    if (known === undefined) void this.#ask(list, page);
    return known === undefined || known === 'asked' ? null : (known[place % PAGE_LINES] ?? null);
  }

  async #ask(list: LogList, page: number): Promise<void> {
    const name = `${list} ${page}`;
    this.#pages.set(name, 'asked');
    const rows = await this.#rows({ list, after: page * PAGE_LINES, limit: PAGE_LINES });
    if (rows === null) this.#pages.delete(name);
    else this.#pages.set(name, rows);
    if (this.#pages.size > PAGES_MAX) this.#pages.delete(this.#pages.keys().next().value ?? '');
    this.#version += 1;
    for (const each of this.#listeners) each();
  }

  /** The line next to an entry, in a list; null at its end. */
  async next(list: LogList, seq: number, by: -1 | 1): Promise<LogLine | null> {
    const latest = this.#latest[list];
    const begins = this.latest[0]?.seq ?? Number.POSITIVE_INFINITY;
    const here = by === 1 ? latest.find((line) => line.seq > seq) : latest.findLast((line) => line.seq < seq);
    // Before the first that is here there may be others.
    if (seq >= begins && (here || by === 1)) return here ?? null;
    const query = by === 1 ? { from: seq + 1 } : { until: seq - 1 };
    return (await this.#rows({ list, ...query, limit: 1 }))?.[0] ?? null;
  }

  /** The last line up to an entry, where it is known. */
  known(seq: number): LogLine | null {
    const { latest } = this;
    const [first] = latest;
    return first && seq >= first.seq ? (latest[placeAt(latest, seq + 1) - 1] ?? null) : null;
  }

  async upTo(seq: number): Promise<LogLine | null> {
    return this.known(seq) ?? (await this.#rows({ until: seq, limit: 1 }))?.[0] ?? null;
  }

  async #rows(query: Readonly<Record<string, string | number>>): Promise<readonly LogLine[] | null> {
    const answer = await look<{ readonly rows: readonly LogLine[] }>(
      `casts/${encodeURIComponent(this.#cast)}/log`,
      query,
    );
    return answer.allow ? answer.details.rows : null;
  }
}

/** Draws again when lines that were asked for are here. */
export function useLines(log: CastLog): number {
  return useSyncExternalStore(log.subscribe, () => log.version);
}

/** The line of the entry under the pointer. */
export function useLineAt(log: CastLog, seq: number | null): LogLine | null {
  const [read, setRead] = useState<{ readonly seq: number; readonly line: LogLine | null } | null>(null);
  const known = seq === null ? null : log.known(seq);
  const asked = known ? null : seq;
  useEffect(() => {
    if (asked === null) return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      void log.upTo(asked).then((line) => isCurrent && setRead({ seq: asked, line }));
    }, HOVER_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [log, asked]);
  return known ?? (read?.seq === seq ? read.line : null);
}

/** The place of the first line from this entry on. */
export function placeAt(lines: readonly LogLine[], seq: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
