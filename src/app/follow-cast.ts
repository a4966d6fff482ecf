// Follows a cast that another process drives, until it stands: its entries from the first one on, and what its agents do
// meanwhile. Only the log is read; nothing is decided here.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Heard, liveWatch } from '../agents/live-watch.ts';
import { apply } from '../kernel/apply.ts';
import type { Entry } from '../kernel/fact.ts';
import type { JsonObject } from '../kernel/json.ts';
import { emptyState } from '../kernel/state.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import { loadView } from './load-view.ts';
import { nameCast } from './name-cast.ts';
import { castVerdict } from './operations/cast-show.ts';
import type { WorkspaceStore } from './store.ts';
import type { Workspace } from './workspace.ts';

/** Something an agent does right now. Some of these are missed, and none is in the log. */
export type LiveNews = { readonly kind: 'live' } & Heard;

/** What is told meanwhile. Entries that were read together come together. */
export type CastNews =
  | { readonly kind: 'entries'; readonly cast: string; readonly entries: readonly Entry[] }
  | LiveNews;

type How = {
  readonly turns?: boolean | undefined;
  readonly signal: AbortSignal;
  readonly tell: (news: CastNews) => void;
};

/** The verdict holds the cast as it is at the end; `details.stands` is false where the signal came first. */
export async function followToEnd(workspace: Workspace, word: string | undefined, how: How): Promise<Verdict> {
  const { turns = false, signal, tell } = how;
  const { dir, stateDir, program } = workspace;
  const store = workspace.castStore();
  const { cast } = await nameCast(store, word, program);
  const isUndriven = (await follow(store, stateDir, cast, signal, tell)) === 'undriven';
  const view = await loadView(store, cast, turns, dir, program);
  if (!isUndriven || view.status !== 'running') return castVerdict(view);
  const reason = `nobody drives cast ${cast} any more; a person carries it on with \`${program} resume\``;
  return deny('NOT_ALLOWED_NOW', reason, { ...(view as unknown as JsonObject), stands: false });
}

const LOOK_EVERY_MS = 1_000;

/** `undriven`: the cast should run and its process is gone. */
async function follow(
  store: WorkspaceStore,
  stateDir: string,
  cast: string,
  signal: AbortSignal,
  tell: (news: CastNews) => void,
): Promise<'stands' | 'undriven' | 'left'> {
  const state = emptyState();
  const live = liveWatch(stateDir, (heard) => tell({ kind: 'live', ...heard }));
  const take = (entries: readonly Entry[]) => {
    for (const entry of entries) apply(state, entry);
    if (entries.length > 0) tell({ kind: 'entries', cast, entries });
  };
  const stop = new AbortController();
  try {
    const past = await store.read({ after: 0, cast });
    take(past);
    const ends = AbortSignal.any([signal, stop.signal]);
    const stream = store.follow({ cast, after: past.at(-1)?.seq ?? 0, signal: ends });
    let next = stream.next();
    for (let alone = 0; ; ) {
      const now = state.casts[cast];
      // A run that is made again begins without a fact, so this is done in every round.
      if (now) live.look(now);
      if (now?.status !== 'running') return 'stands';
      if (signal.aborted) return 'left';
      if (alone >= 2) return 'undriven';
      const page = await within(LOOK_EVERY_MS, next);
      if (page === null) alone = (await store.view('driver', cast)) === null ? alone + 1 : 0;
      else if (page.done) return 'left';
      else {
        take(page.value);
        next = stream.next();
      }
    }
  } finally {
    stop.abort();
    await live.stop();
  }
}

/** What comes within that time, or null. */
async function within<T>(ms: number, coming: Promise<T>): Promise<T | null> {
  const stop = new AbortController();
  const time = sleep(ms, null, { signal: stop.signal }).catch(() => null);
  try {
    return await Promise.race([coming, time]);
  } finally {
    stop.abort();
  }
}
