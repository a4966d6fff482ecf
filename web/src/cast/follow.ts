// One cast, followed: its entries are folded here by the same code as everywhere else, and drawn at most once a frame. The
// past is asked from the server, which folds it from the nearest moment that it keeps.
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { type CastPage, castPageOf } from '../../../src/app/views/cast-page.ts';
import { emptyView, foldSent } from '../../../src/app/views/cast-view.ts';
import type { Entry as KernelEntry } from '../../../src/kernel/fact.ts';
import { type Entry, type Live, look, type Refusal } from '../api.ts';
import { useEntries } from '../workspace.ts';

/** What the lists and the keys need of every entry. */
export type LogLine = {
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly kind: string;
  readonly turn: number | null;
  /** It is a refusal, a failure, or work that was sent back. */
  readonly isTurning: boolean;
  readonly code: string | null;
};

export type Followed = {
  readonly page: CastPage | null;
  /** Every entry so far was folded; before that the page comes from the server. */
  readonly isWhole: boolean;
  readonly refusal: Refusal | null;
  readonly log: readonly LogLine[];
};

const PAGE_ENTRIES = 1_000;
const RECENT_MAX = 4_000;
/** Of a frame so much is left to everything else. */
const REST = 3;

const TURNING: ReadonlySet<string> = new Set([
  ...[
    'attempt.refused',
    'attempt.failed',
    'attempt.lost',
    'turn.unknown',
    'turn.blocked',
    'cast.failed',
    'item.parked',
  ],
]);

/** A stream of what agents do, by turn: the end of what each says now. */
type Speech = { readonly text: string; readonly chars: number; readonly tool: string | null };
const SPEECH_CHARS_MAX = 60_000;

export class Follower {
  readonly cast: string;
  readonly #view = emptyView();
  readonly #log: LogLine[] = [];
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
  #state: Followed = { page: null, isWhole: false, refusal: null, log: [] };

  constructor(cast: string) {
    this.cast = cast;
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

  /** Reads what was appended since. The first time, what the server knows is shown meanwhile. */
  async read(): Promise<void> {
    if (this.#isReading || this.#isOver) return;
    this.#isReading = true;
    if (this.#seq === 0) void this.#showFirst();
    for (;;) {
      const answer = (await look(`casts/${encodeURIComponent(this.cast)}/entries`, {
        after: this.#seq,
        limit: PAGE_ENTRIES,
      })) as unknown as { readonly entries: readonly Entry[] } | Refusal;
      if (this.#isOver) {
        this.#isReading = false;
        return;
      }
      if (!('entries' in answer)) {
        this.#isReading = false;
        // Where the line is lost, the banner says it; it is read again when the line is back.
        if (answer.code !== 'UNREACHABLE') this.#put({ refusal: answer });
        return;
      }
      for (const entry of answer.entries) this.#fold(entry);
      if (answer.entries.length < PAGE_ENTRIES) break;
      // The page can be used while a long cast is read.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    this.#isReading = false;
    for (const entry of this.#early.splice(0)) this.#fold(entry);
    this.#draw();
  }

  async #showFirst(): Promise<void> {
    const answer = await look<CastPage>(`casts/${encodeURIComponent(this.cast)}/view`);
    if (this.#isOver || this.#state.isWhole) return;
    if (answer.allow && this.#state.page === null) this.#put({ page: answer.details });
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
    if (entry.seq <= this.#seq) return;
    this.#seq = entry.seq;
    const { fact } = entry;
    foldSent(this.#view, entry as unknown as KernelEntry);
    const turn = typeof fact.turn === 'number' ? fact.turn : null;
    const isBack = fact.kind === 'edge.taken' && fact.when === 'not_satisfied';
    const { seq, at, by } = entry;
    const code = codeOf(fact);
    this.#log.push({ seq, at, by, kind: fact.kind, turn, isTurning: isBack || TURNING.has(fact.kind), code });
    this.#recent.set(seq, entry);
    if (this.#recent.size > RECENT_MAX) this.#recent.delete(this.#recent.keys().next().value ?? 0);
    // What an agent said while it worked is in the log when it is over.
    if (turn !== null && (fact.kind === 'attempt.started' || 'output' in fact)) this.#speech.delete(turn);
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
    const begin = performance.now();
    const page = castPageOf(this.#view, new Date().toISOString());
    this.#cost = performance.now() - begin;
    this.#put({ page, isWhole: true, refusal: null, log: this.#log.slice() });
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
      const answer = (await look(`casts/${encodeURIComponent(this.cast)}/entries`, {
        ...{ after, limit: Math.min(PAGE_ENTRIES, to - after) },
      })) as unknown as { readonly entries: readonly Entry[] } | Refusal;
      if (!('entries' in answer)) return answer;
      found.push(...answer.entries.filter(({ seq }) => seq <= to));
      const last = answer.entries.at(-1);
      if (!last || last.seq >= to) break;
      after = last.seq;
    }
    return found;
  }

  #known(from: number, to: number): readonly Entry[] | null {
    const first = this.#recent.keys().next().value;
    if (first === undefined || first > from || this.#seq < to) return null;
    const lines = this.#log;
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

function codeOf({ code, verdict }: Entry['fact']): string | null {
  if (typeof code === 'string') return code;
  const named = (verdict as { readonly code?: unknown } | undefined)?.code;
  return typeof named === 'string' ? named : null;
}

/** The place of the first line from this entry on. */
export function placeAt(log: readonly LogLine[], seq: number): number {
  let [low, high] = [0, log.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((log[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
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
