// The end of the log, for every stream of this server at once: an entry is read and written once, however many listen. A stream that is further back than what is kept here reads its own pages from the log.
import type { Workspace } from '../app/workspace.ts';
import type { Entry } from '../kernel/fact.ts';
import { filedUnder } from '../log/filed-under.ts';

/** An entry as it is sent. */
export type Frame = {
  readonly seq: number;
  readonly kind: string;
  readonly cast: string | null;
  /** As each stream sends it. */
  readonly sent: Uint8Array;
};

export type Filter = {
  readonly cast?: string | undefined;
  /** How the kinds begin; all kinds where there is none. */
  readonly kinds: readonly string[];
};

/** What a reader gets next, and where it is then. */
export type Page = { readonly frames: readonly Frame[]; readonly cursor: number };

const KEPT_MAX = 4_000;
const PAGE_ENTRIES = 250;
/** A workspace in which nothing happened yet has no log to watch. */
const LOOK_FOR_LOG_MS = 500;

export class EventHub {
  readonly #workspace: Workspace;
  readonly #kept: Frame[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #takers = new Set<(frames: readonly Frame[]) => void>();
  #seq = 0;
  #isOpen = false;
  #unwatch: (() => void) | null = null;
  #timer: NodeJS.Timeout | null = null;
  #reading: Promise<void> | null = null;
  #isStale = false;
  #failure: Error | null = null;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** The last entry that was read. */
  get seq(): number {
    return this.#seq;
  }

  /** Follows the log from now on. Until there is a log, it looks for one now and then. */
  async open(): Promise<void> {
    if (this.#isOpen && !this.#failure) return;
    this.#isOpen = true;
    this.#failure = null;
    if (this.#workspace.hasLog()) await this.#begin();
    else this.#timer = setInterval(() => void this.#lookForLog(), LOOK_FOR_LOG_MS);
    this.#timer?.unref();
  }

  close(): void {
    this.#isOpen = false;
    if (this.#timer) clearInterval(this.#timer);
    this.#unwatch?.();
    this.#unwatch = null;
    this.#wake();
  }

  /** Calls back after every change, and when it ends. Answers the function that stops that. */
  listen(changed: () => void): () => void {
    this.#listeners.add(changed);
    return () => void this.#listeners.delete(changed);
  }

  /** Gives the new entries themselves, once each. */
  take(taker: (frames: readonly Frame[]) => void): () => void {
    this.#takers.add(taker);
    return () => void this.#takers.delete(taker);
  }

  /** Why no more comes; null while it goes on. */
  get ended(): Error | null {
    return this.#isOpen ? this.#failure : new Error('the server ends');
  }

  /** The entries after a cursor that fit. An empty page at the cursor means that nothing more is there yet. */
  async page(after: number, filter: Filter): Promise<Page> {
    const end = this.#seq;
    if (after >= end) return { frames: [], cursor: after };
    const first = this.#kept[0]?.seq ?? Number.POSITIVE_INFINITY;
    if (after >= first - 1) {
      const from = this.#kept.slice(after - first + 1, after - first + 1 + PAGE_ENTRIES);
      return { frames: from.filter((frame) => fitsIn(frame, filter)), cursor: from.at(-1)?.seq ?? end };
    }
    const { cast } = filter;
    const entries = await this.read(after, PAGE_ENTRIES, cast);
    const last = entries.length < PAGE_ENTRIES ? end : (entries.at(-1)?.seq ?? end);
    const frames = entries.filter(({ seq }) => seq <= last).map(frameOf);
    return { frames: frames.filter((frame) => fitsIn(frame, filter)), cursor: last };
  }

  /** Entries with their long texts by digest. */
  async read(after: number, limit: number, cast?: string): Promise<readonly Entry[]> {
    if (!this.#workspace.hasLog()) return [];
    const ofCast = cast === undefined ? {} : { cast };
    return this.#workspace.castStore().read({ after, limit, texts: 'digest', ...ofCast });
  }

  async #lookForLog(): Promise<void> {
    if (!this.#workspace.hasLog() || this.#unwatch) return;
    if (this.#timer) clearInterval(this.#timer);
    await this.#begin().catch((error: unknown) => this.#fail(error));
    await this.#refresh();
  }

  async #begin(): Promise<void> {
    const store = this.#workspace.castStore();
    // What was there before is not kept: who wants it reads it from the log.
    if (this.#timer === null) this.#seq = (await store.view('head')).seq;
    this.#unwatch = store.watch(() => void this.#refresh());
    await this.#refresh();
  }

  /** One read at a time; what is appended meanwhile is read after it. */
  async #refresh(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#readOn()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  async #readOn(): Promise<void> {
    while (this.#isStale && this.#isOpen) {
      this.#isStale = false;
      for (let isMore = true; isMore; ) {
        const entries = await this.read(this.#seq, PAGE_ENTRIES);
        isMore = entries.length === PAGE_ENTRIES;
        if (entries.length > 0) this.#keep(entries.map(frameOf));
      }
    }
  }

  #keep(frames: readonly Frame[]): void {
    this.#kept.push(...frames);
    if (this.#kept.length > KEPT_MAX) this.#kept.splice(0, this.#kept.length - KEPT_MAX);
    this.#seq = frames.at(-1)?.seq ?? this.#seq;
    for (const taker of this.#takers) taker(frames);
    this.#wake();
  }

  /** The streams end, and their readers come back: then the log is opened again. */
  #fail(error: unknown): void {
    this.#failure = error instanceof Error ? error : new Error(String(error));
    this.#unwatch?.();
    this.#unwatch = null;
    this.#wake();
  }

  #wake(): void {
    for (const changed of [...this.#listeners]) changed();
  }
}

const encoder = new TextEncoder();

export function frameOf(entry: Entry): Frame {
  const { kind, cast } = filedUnder(entry.fact);
  const sent = encoder.encode(`id: ${entry.seq}\nevent: entry\ndata: ${JSON.stringify(entry)}\n\n`);
  return { seq: entry.seq, kind, cast, sent };
}

function fitsIn({ kind, cast }: Frame, filter: Filter): boolean {
  if (filter.cast !== undefined && cast !== filter.cast) return false;
  return filter.kinds.length === 0 || filter.kinds.some((prefix) => kind.startsWith(prefix));
}
