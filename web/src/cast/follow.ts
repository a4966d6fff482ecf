// One cast, followed: it begins with the view of the server, its entries are folded on here by the same code, and it is drawn at most
// once a frame. The past is asked from the server, which folds it from the nearest moment that it keeps.
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { type CastPage, castPageOf } from '../../../src/app/views/cast-page.ts';
import { type LogLine, lineOf } from '../../../src/app/views/cast-timeline.ts';
import { foldSent, type PageView, readView } from '../../../src/app/views/cast-view.ts';
import type { TurnRow } from '../../../src/app/views/turn-rows.ts';
import type { Entry as KernelEntry } from '../../../src/kernel/fact.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { type Entry, type Live, look, type Refusal } from '../api.ts';
import { useEntries } from '../workspace.ts';
import { CastLog, placeAt } from './cast-log.ts';

export type Followed = {
  readonly page: CastPage | null;
  readonly refusal: Refusal | null;
  /** The latest lines of its log. */
  readonly lines: readonly LogLine[];
};

const PAGE_ENTRIES = 1_000;
const RECENT_MAX = 4_000;
/** Of a frame so much is left to everything else. */
const REST = 3;

/** A stream of what agents do, by turn: the end of what each says now. */
type Speech = { readonly text: string; readonly chars: number; readonly tool: string | null };
const SPEECH_CHARS_MAX = 60_000;

export class Follower {
  readonly cast: string;
  readonly log: CastLog;
  #view: PageView | null = null;
  readonly #recent = new Map<number, Entry>();
  readonly #early: Entry[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #speech = new Map<number, Speech>();
  readonly #speechListeners = new Set<() => void>();
  #seq = 0;
  #isReading = false;
  #isOver = false;
  #isPlanned = false;
  #isDirty = false;
  #cost = 0;
  #state: Followed = { page: null, refusal: null, lines: [] };

  constructor(cast: string) {
    this.cast = cast;
    this.log = new CastLog(cast, () => this.#view?.page.timeline.counts ?? null);
  }

  get state(): Followed {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly subscribeSpeech = (listener: () => void): (() => void) => {
    this.#speechListeners.add(listener);
    return () => void this.#speechListeners.delete(listener);
  };

  speechOf(turn: number): Speech | null {
    return this.#speech.get(turn) ?? null;
  }

  start(): void {
    this.#isOver = false;
    void this.read();
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Reads what was appended since. What is far behind begins with the view of the server again. */
  async read(): Promise<void> {
    if (this.#isReading || this.#isOver) return;
    this.#isReading = true;
    const refusal = (this.#view && (await this.#readOn())) || (this.#view ? null : await this.#begin());
    this.#isReading = false;
    if (this.#isOver) return;
    // Where the line is lost, the banner says it; it is read again when the line is back.
    if (refusal) return refusal.code === 'UNREACHABLE' ? undefined : this.#put({ refusal });
    for (const entry of this.#early.splice(0)) this.#fold(entry);
    this.#draw();
  }

  async #readOn(): Promise<Refusal | null> {
    const answer = await look<{ readonly entries: readonly Entry[] }>(this.#path('entries'), {
      ...{ after: this.#seq, limit: PAGE_ENTRIES },
    });
    if (!answer.allow) return answer;
    if (answer.details.entries.length === PAGE_ENTRIES) this.#view = null;
    else for (const entry of answer.details.entries) this.#fold(entry);
    return null;
  }

  async #begin(): Promise<Refusal | null> {
    const answer = await look<{ seq: number; view: JsonObject; lines: readonly LogLine[] }>(this.#path('fold'));
    if (!answer.allow) return answer;
    const { seq, view, lines } = answer.details;
    this.#seq = seq;
    this.#view = readView(view);
    this.log.begin(lines);
    return null;
  }

  #path(part: string): string {
    return `casts/${encodeURIComponent(this.cast)}/${part}`;
  }

  take(entries: readonly Entry[]): void {
    let isOwn = false;
    for (const entry of entries) {
      const { cast, run } = entry.fact as { readonly cast?: string; readonly run?: string };
      if ((cast ?? run) !== this.cast) continue;
      if (this.#isReading) this.#early.push(entry);
      else this.#fold(entry);
      isOwn = true;
    }
    if (isOwn && !this.#isReading) this.#plan();
  }

  hear({ cast, turn, event }: Live): void {
    if (cast !== this.cast) return;
    const before = this.#speech.get(turn) ?? { text: '', chars: 0, tool: null };
    if (event.kind === 'text') {
      const text = `${before.text}${event.text}`.slice(-SPEECH_CHARS_MAX);
      this.#speech.set(turn, { text, chars: before.chars + event.text.length, tool: null });
    } else if ('name' in event) this.#speech.set(turn, { ...before, tool: event.name });
    for (const each of this.#speechListeners) each();
  }

  #fold(entry: Entry): void {
    const view = this.#view;
    if (!view || entry.seq <= this.#seq) return;
    this.#seq = entry.seq;
    const { fact } = entry;
    const { page } = foldSent(view, entry as unknown as KernelEntry);
    page.leaving = [];
    const turn = typeof fact.turn === 'number' ? fact.turn : null;
    this.log.add(lineOf(entry as unknown as KernelEntry, page.rows.get(turn ?? -1) ?? null));
    this.#recent.set(entry.seq, entry);
    if (this.#recent.size > RECENT_MAX) this.#recent.delete(this.#recent.keys().next().value ?? 0);
    // What an agent said while it worked is in the log when it is over.
    if (turn !== null && (fact.kind === 'attempt.started' || 'output' in fact)) this.#speech.delete(turn);
    // It changed a turn that only the server keeps.
    if (page.isTorn && this.#view) {
      this.#view = null;
      void this.read();
    }
  }

  #plan(): void {
    this.#isDirty = true;
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    const draw = () => {
      this.#isPlanned = false;
      if (this.#isDirty && !this.#isOver) this.#draw();
    };
    // A page in the background has no frames, and somebody may look at its title.
    if (document.visibilityState === 'hidden') setTimeout(draw, 1_000);
    else if (this.#cost > 8) setTimeout(() => requestAnimationFrame(draw), this.#cost * REST);
    else requestAnimationFrame(draw);
  }

  #draw(): void {
    this.#isDirty = false;
    if (!this.#view) return;
    const begin = performance.now();
    const page = castPageOf(this.#view, new Date().toISOString());
    this.#cost = performance.now() - begin;
    this.#put({ page, refusal: null, lines: this.log.latest.slice() });
  }

  #put(change: Partial<Followed>): void {
    this.#state = { ...this.#state, ...change };
    for (const each of this.#listeners) each();
  }

  /** The entries of a part of the log; what was read lately is there already. */
  async entries(from: number, to: number): Promise<readonly Entry[] | Refusal> {
    const known = this.#known(from, to);
    if (known) return known;
    const found: Entry[] = [];
    for (let after = from - 1; after < to; ) {
      const answer = await look<{ readonly entries: readonly Entry[] }>(this.#path('entries'), {
        ...{ after, limit: Math.min(PAGE_ENTRIES, to - after) },
      });
      if (!answer.allow) return answer;
      const { entries } = answer.details;
      found.push(...entries.filter(({ seq }) => seq <= to));
      const last = entries.at(-1);
      if (!last || last.seq >= to) break;
      after = last.seq;
    }
    return found;
  }

  #known(from: number, to: number): readonly Entry[] | null {
    const first = this.#recent.keys().next().value;
    if (first === undefined || first > from || this.#seq < to) return null;
    const lines = this.log.latest;
    const found: Entry[] = [];
    for (let at = placeAt(lines, from); at < lines.length; at++) {
      const line = lines[at];
      if (!line || line.seq > to) break;
      const entry = this.#recent.get(line.seq);
      if (!entry) return null;
      found.push(entry);
    }
    return found;
  }
}

export function useCast(cast: string): { readonly follower: Follower; readonly followed: Followed } {
  const follower = useMemo(() => new Follower(cast), [cast]);
  useEntries(
    useMemo(
      () => ({
        onEntries: (entries) => follower.take(entries),
        onLive: (live) => follower.hear(live),
        // Between the backlog and the line something may have come, and after every pause of the line.
        onState: ({ is }) => void (is === 'open' && follower.read()),
      }),
      [follower],
    ),
  );
  useEffect(() => {
    follower.start();
    return () => follower.stop();
  }, [follower]);
  const followed = useSyncExternalStore(follower.subscribe, () => follower.state);
  return { follower, followed };
}

/** What an agent says now; null where nothing was heard. */
export function useSpeech(follower: Follower, turn: number): Speech | null {
  return useSyncExternalStore(follower.subscribeSpeech, () => follower.speechOf(turn));
}

const PAST_MAX = 60;

/** The cast as of an entry. The picture before stays until the new one is here. */
export function usePast(
  cast: string,
  at: number | null,
): { readonly past: CastPage | null; readonly isReading: boolean; readonly refusal: Refusal | null } {
  const kept = useRef(new Map<number, CastPage>());
  const [shown, setShown] = useState<{ readonly at: number; readonly page: CastPage } | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const read = useCallback(
    async (seq: number, signal: AbortSignal): Promise<CastPage | Refusal> => {
      const known = kept.current.get(seq);
      if (known) return known;
      const answer = await look<CastPage>(`casts/${encodeURIComponent(cast)}/view`, { at: seq }, signal);
      if (!answer.allow) return answer;
      kept.current.set(seq, answer.details);
      if (kept.current.size > PAST_MAX) kept.current.delete(kept.current.keys().next().value ?? 0);
      return answer.details;
    },
    [cast],
  );
  useEffect(() => {
    if (at === null) return setShown(null);
    const stop = new AbortController();
    void read(at, stop.signal).then((answer) => {
      if (stop.signal.aborted) return;
      if ('allow' in answer) {
        if (answer.code !== 'STOPPED') setRefusal(answer);
      } else {
        setRefusal(null);
        setShown({ at, page: answer });
      }
    });
    return () => stop.abort();
  }, [at, read]);
  return { past: at === null ? null : (shown?.page ?? null), isReading: at !== null && shown?.at !== at, refusal };
}

/** A turn as of an entry: of the page, or from the server where it has left the page. Null while it is read, and where there is none. */
export function useTurn(
  cast: string,
  turn: number | null,
  at: number | null,
  pages: readonly CastPage[],
): TurnRow | null {
  const [read, setRead] = useState<{ readonly at: number | null; readonly row: TurnRow } | null>(null);
  const here = pages.flatMap(({ turns }) => turns.find((each) => each.turn === turn) ?? [])[0] ?? null;
  const isAway = turn !== null && here === null;
  useEffect(() => {
    if (!isAway || turn === null) return;
    const stop = new AbortController();
    void turnsOf(cast, { from: turn, limit: 1, at }, stop.signal).then(([row]) => {
      if (!stop.signal.aborted && row?.turn === turn) setRead({ at, row });
    });
    return () => stop.abort();
  }, [cast, turn, at, isAway]);
  return here ?? (read?.row.turn === turn ? read.row : null);
}

/** Turns that may have left the page, in the order of their numbers. */
export async function turnsOf(
  cast: string,
  query: { readonly from?: number; readonly until?: number; readonly limit: number; readonly at?: number | null },
  signal?: AbortSignal,
): Promise<readonly TurnRow[]> {
  const answer = await look<{ readonly rows: readonly TurnRow[] }>(
    `casts/${encodeURIComponent(cast)}/turns`,
    query,
    signal,
  );
  return answer.allow ? answer.details.rows : [];
}
