// The page of a cast as of any of its entries. The newest view of a cast is kept and folded on; of the past, a copy is kept
// every thousand entries, so that a look at any moment folds no more than that.
import type { Store } from '../engine/store.ts';
import type { Entry } from '../kernel/fact.ts';
import type { JsonObject } from '../kernel/json.ts';
import { type CastPage, castPageOf } from './views/cast-page.ts';
import { emptyView, foldSent, type View } from './views/cast-view.ts';
import { tasksIn } from './views/result.ts';

const EVERY_ENTRIES = 1_000;
/** Of a longer cast every second copy goes, and the others lie twice as far apart. */
const KEYFRAMES_MAX = 32;
/** More than are open at once in most workspaces. */
const CASTS_MAX = 32;
const PAGE_ENTRIES = 1_000;

/** What is asked for page by page, because it can be long. */
export type CastPart = 'state' | 'ledger';
export type CastRows = { readonly seq: number; readonly rows: readonly JsonObject[] };

type Keyframe = { readonly seq: number; readonly count: number; readonly view: View };

type Kept = {
  view: View;
  /** The last entry of the cast that is in the view, and how many are. */
  seq: number;
  count: number;
  every: number;
  keyframes: Keyframe[];
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

  /** Null for a moment before the cast began. Without `at`, as it is now. */
  pageOf(store: Reading, cast: string, at: number | null): Promise<CastPage | null> {
    // Of the past, times are told as of then.
    return this.#look(store, cast, at, (view) =>
      at === null ? castPageOf(view, new Date().toISOString()) : castPageOf(view),
    );
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

  /** Looks at the view while nobody folds it on. */
  async #look<T>(store: Reading, cast: string, at: number | null, look: (view: View) => T): Promise<T> {
    const kept = this.#keptFor(cast);
    const found = kept.busy.then(async () => {
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
      ...{ view: emptyView(), seq: 0, count: 0, every: EVERY_ENTRIES, keyframes: [] },
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
    if (kept.count % kept.every !== 0) continue;
    kept.keyframes.push({ seq: kept.seq, count: kept.count, view: structuredClone(kept.view) });
    if (kept.keyframes.length <= KEYFRAMES_MAX) continue;
    kept.every *= 2;
    kept.keyframes = kept.keyframes.filter(({ count }) => count % kept.every === 0);
  }
}

async function viewAt(store: Reading, cast: string, { keyframes }: Kept, until: number): Promise<View> {
  const frame = keyframes.findLast(({ seq }) => seq <= until);
  const view = frame ? structuredClone(frame.view) : emptyView();
  for await (const entry of entriesOf(store, cast, frame?.seq ?? 0, until)) foldSent(view, entry);
  return view;
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
