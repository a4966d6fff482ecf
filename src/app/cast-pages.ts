// The page of a cast as of any of its entries. The newest view of a cast is kept and folded on. A look at the past folds from the
// nearest keyframe and leaves keyframes on its way, one every thousand entries; so a caller that never looks back pays for none. A keyframe
// is written out: as an object it would be many times as large, and slower to make.
import { deserialize, serialize } from 'node:v8';
import type { Store } from '../engine/store.ts';
import type { Entry } from '../kernel/fact.ts';
import type { JsonObject } from '../kernel/json.ts';
import { type CastPage, castPageOf } from './views/cast-page.ts';
import { emptyView, foldSent, type View } from './views/cast-view.ts';
import { tasksIn } from './views/result.ts';

const EVERY_ENTRIES = 1_000;
/** In a longer cast they lie twice as far apart, or four times, and so on. */
const KEYFRAMES_MAX = 32;
/** More than are open at once in most workspaces. */
const CASTS_MAX = 32;
const PAGE_ENTRIES = 1_000;

/** What is asked for page by page, because it can be long. */
type CastPart = 'state' | 'ledger';
type CastRows = { readonly seq: number; readonly rows: readonly JsonObject[] };

type Place = {
  /** The last entry of the cast that is in the view, and how many are. */
  seq: number;
  count: number;
};

type Kept = Place & {
  view: View;
  every: number;
  /** In the order of their entries. */
  keyframes: (Readonly<Place> & { readonly written: Uint8Array })[];
  /** The moment that was looked at last: the next one is mostly a step further. */
  past: (Place & { readonly view: View }) | null;
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

export class CastPages {
  /** In the order of their last use. */
  readonly #kept = new Map<string, Kept>();

  /** Null for a moment before the cast began, and where the caller has left by its turn. Without `at`, as it is now. */
  pageOf(store: Reading, cast: string, at: number | null, signal?: AbortSignal): Promise<CastPage | null> {
    // Ages in the past are counted from that time.
    const page = (view: View) => (at === null ? castPageOf(view, new Date().toISOString()) : castPageOf(view));
    return this.#look(store, cast, at, page, signal);
  }

  /** The rows of its state or its ledger, whole, as of the same moments. */
  partOf(store: Reading, cast: string, at: number | null, part: CastPart): Promise<CastRows | null> {
    return this.#look(store, cast, at, (view) => {
      const { cast: folded, page } = view;
      if (!folded) return null;
      const rows =
        part === 'ledger' ? tasksIn(view) : Object.entries(folded.data).map(([name, value]) => ({ name, value }));
      return { seq: page.seq, rows: structuredClone(rows) as unknown as readonly JsonObject[] };
    });
  }

  /** Looks at the view while no fold is running. */
  async #look<T>(
    store: Reading,
    cast: string,
    at: number | null,
    look: (view: View) => T,
    signal?: AbortSignal,
  ): Promise<T | null> {
    const kept = this.#keptFor(cast);
    const found = kept.busy.then(async () => {
      // Whoever scrubs asks for many moments and waits for the last.
      if (signal?.aborted) return null;
      const until = at ?? Number.POSITIVE_INFINITY;
      if (until >= kept.seq) await foldOn(store, cast, kept, until);
      return look(until >= kept.seq ? kept.view : await viewAt(store, cast, kept, until));
    });
    kept.busy = found.catch(() => void this.#kept.delete(cast));
    return found;
  }

  #keptFor(cast: string): Kept {
    const known = this.#kept.get(cast);
    const kept = known ?? {
      ...{ view: emptyView(), seq: 0, count: 0, every: EVERY_ENTRIES, keyframes: [], past: null },
      busy: Promise.resolve(),
    };
    this.#kept.delete(cast);
    this.#kept.set(cast, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > CASTS_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return kept;
  }
}

async function foldOn(store: Reading, cast: string, kept: Kept, until: number): Promise<void> {
  for await (const entry of entriesOf(store, cast, kept.seq, until)) {
    foldSent(kept.view, entry);
    kept.seq = entry.seq;
    kept.count += 1;
  }
}

async function viewAt(store: Reading, cast: string, kept: Kept, until: number): Promise<View> {
  while (kept.count > kept.every * KEYFRAMES_MAX) kept.every *= 2;
  kept.keyframes = kept.keyframes.filter(({ count }) => count % kept.every === 0);
  const past = startOf(kept, until);
  // A look that fails in between leaves nothing half folded behind.
  kept.past = null;
  for await (const entry of entriesOf(store, cast, past.seq, until)) {
    foldSent(past.view, entry);
    past.seq = entry.seq;
    past.count += 1;
    if (past.count % kept.every !== 0 || kept.keyframes.some(({ count }) => count === past.count)) continue;
    const at = kept.keyframes.findLastIndex(({ count }) => count < past.count) + 1;
    kept.keyframes.splice(at, 0, { seq: past.seq, count: past.count, written: serialize(past.view) });
  }
  kept.past = past;
  return past.view;
}

/** Where to fold from: the moment that was looked at last, or a keyframe if one is nearer. */
function startOf({ past, keyframes }: Kept, until: number): Place & { readonly view: View } {
  const frame = keyframes.findLast(({ seq }) => seq <= until);
  if (past && past.seq <= until && past.seq >= (frame?.seq ?? 0)) return past;
  if (!frame) return { seq: 0, count: 0, view: emptyView() };
  return { seq: frame.seq, count: frame.count, view: deserialize(frame.written) as View };
}

async function* entriesOf(store: Reading, cast: string, after: number, until: number): AsyncGenerator<Entry> {
  for (let seen = after; ; ) {
    const entries = await store.read({ after: seen, cast, limit: PAGE_ENTRIES, texts: 'digest' });
    for (const entry of entries) {
      if (entry.seq > until) return;
      yield entry;
    }
    const last = entries.at(-1);
    if (!last || entries.length < PAGE_ENTRIES) return;
    seen = last.seq;
  }
}
