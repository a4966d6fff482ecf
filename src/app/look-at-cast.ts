// Reads one cast from its facts: its view now, or everything that happens until it stops. Nothing is decided here.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AttemptEvent, listenLive } from '../agents/live-watch.ts';
import type { Store } from '../engine/store.ts';
import { apply } from '../kernel/apply.ts';
import { reasonNow } from '../kernel/cast/asked.ts';
import { elapsedOf } from '../kernel/cast/budget.ts';
import type { Cast } from '../kernel/cast/state.ts';
import type { Entry } from '../kernel/fact.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { BoundaryRefusal } from '../kernel/report/consolidation.ts';
import { emptyState } from '../kernel/state.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import { UsageError } from '../workspace/locate.ts';
import { branchOf } from '../workspace/worktree/record.ts';
import { castNamed } from './name-cast.ts';
import type { WorkspaceStore } from './store.ts';
import { foldAll } from './views/cast-view.ts';
import { tasksIn } from './views/result.ts';
import { type CastView, castVerdict, shownCast } from './views/shown-cast.ts';
import type { Workspace } from './workspace.ts';

/** The cast as it is now. What its agents propose is compared with the boundaries of the registry. */
export async function loadView(
  { dir, program }: Pick<Workspace, 'dir' | 'program'>,
  store: Store,
  cast: string,
  withTurns: boolean,
): Promise<CastView> {
  const view = foldAll(await store.read({ after: 0, cast, ...(withTurns ? {} : { briefs: 'digest' }) }));
  const state = view.cast;
  if (!state) throw new UsageError(`there is no cast ${cast}; \`${program} casts\` lists them`, 'UNKNOWN_CAST');
  const shown = shownCast(view, await store.view('head'), withTurns, await boundariesFor(state, dir));
  const worktree = state.root === undefined ? {} : { branch: branchOf(cast), root: state.root };
  const tasks = tasksIn(view);
  const owned = tasks.length === 0 ? {} : { tasks };
  const suggested = await suggestionsLeft(store, view.suggested);
  const memory = suggested === 0 ? {} : { memorySuggestions: suggested };
  const now = Date.now();
  // What runs goes on getting older while nothing is written down.
  return {
    ...shown,
    ...reasonNow(cast, state, now),
    elapsedMs: elapsedOf(state, now),
    ...worktree,
    ...owned,
    ...memory,
  };
}

/** The registry is read only where an agent has proposed another one. */
async function boundariesFor({ reports }: Cast, dir: string): Promise<BoundaryRefusal | undefined> {
  if (reports.every(({ nextBestAgent }) => nextBestAgent === null)) return undefined;
  const { boundariesIn } = await import('../workspace/registry-boundaries.ts');
  return boundariesIn(join(dir, '.baton'))?.refusal;
}

/** How many of the notes that the cast's agents suggested to remember wait for a person still. */
async function suggestionsLeft(store: Store, suggested: ReadonlySet<string>): Promise<number> {
  const ids = new Set(suggested);
  if (ids.size === 0) return 0;
  for (const { fact } of await store.read({ after: 0, kindPrefix: 'memory.' })) {
    if (fact.kind === 'memory.accepted' || fact.kind === 'memory.dropped') ids.delete(fact.id);
  }
  return ids.size;
}

/** Something an agent does right now. Some of these are missed, and none is in the log. */
export type LiveNews = { readonly kind: 'live' } & AttemptEvent;

/** News while a cast is followed. Entries that were read together come together. */
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
  const { stateDir, program } = workspace;
  const { store, cast } = await castNamed(workspace, word);
  const isUndriven = (await follow(store, stateDir, cast, signal, tell)) === 'undriven';
  const view = await loadView(workspace, store, cast, turns);
  if (!isUndriven || view.status !== 'running') return castVerdict(view);
  const reason = `no process drives cast ${cast} any more; a person carries it on with \`${program} resume\``;
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
  const live = listenLive(stateDir, (heard) => tell({ kind: 'live', ...heard }));
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
