// One cast as it is now, from its own facts.
import { join } from 'node:path';
import type { Store } from '../engine/store.ts';
import { saidNow } from '../kernel/cast/asked.ts';
import { elapsedOf } from '../kernel/cast/budget.ts';
import type { BoundaryRefusal } from '../kernel/report/consolidation.ts';
import type { Cast } from '../kernel/state.ts';
import { UsageError } from '../workspace/usage-error.ts';
import { branchOf } from '../workspace/worktree/branch.ts';
import { foldAll } from './views/cast-view.ts';
import { type CastView, shownCast } from './views/shown-cast.ts';
import { tasksIn } from './views/tasks.ts';

/** With `dir`, the project directory, what agents propose is held against the boundaries of its registry too. */
export async function loadView(
  store: Store,
  cast: string,
  withTurns: boolean,
  dir?: string,
  program = 'baton',
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
  return { ...shown, ...saidNow(cast, state, now), elapsedMs: elapsedOf(state, now), ...worktree, ...owned, ...memory };
}

/** The registry is read only where an agent has proposed another one. */
async function boundariesFor({ reports }: Cast, dir: string | undefined): Promise<BoundaryRefusal | undefined> {
  if (dir === undefined || reports.every(({ nextBestAgent }) => nextBestAgent === null)) return undefined;
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
