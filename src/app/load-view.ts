// One cast as it is now, from its own facts.
import { join } from 'node:path';
import type { Door } from '../engine/door.ts';
import { type CastView, viewOf } from '../engine/view.ts';
import { elapsedOf } from '../kernel/cast/budget.ts';
import { saidNow } from '../kernel/cast/expired.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Cast } from '../kernel/state.ts';
import type { BoundaryRefusal } from '../kernel/turn/consolidation.ts';
import { UsageError } from '../workspace/usage-error.ts';
import { branchOf } from '../workspace/worktree/branch.ts';
import { taskViews } from './task-view.ts';

/** With `dir`, the project directory, what agents propose is held against the boundaries of its registry too. */
export async function loadView(
  door: Door,
  cast: string,
  withTurns: boolean,
  dir?: string,
  program = 'baton',
): Promise<CastView> {
  const state = await door.cast(cast);
  if (!state) throw new UsageError(`there is no cast ${cast}; \`${program} casts\` lists them`, 'UNKNOWN_CAST');
  const entries = await door.read({ after: 0, cast });
  const view = viewOf(state, entries, await door.head(), withTurns, await boundariesFor(state, dir));
  // What runs goes on getting older while nothing is written down.
  const worktree = state.root === undefined ? {} : { branch: branchOf(cast), root: state.root };
  const tasks = taskViews(state, entries);
  const owned = tasks.length === 0 ? {} : { tasks };
  const suggested = await suggestionsLeft(door, entries);
  const memory = suggested === 0 ? {} : { memorySuggestions: suggested };
  const now = Date.now();
  return { ...view, ...saidNow(cast, state, now), elapsedMs: elapsedOf(state, now), ...worktree, ...owned, ...memory };
}

/** The registry is read only where an agent has proposed another one. */
async function boundariesFor({ reports }: Cast, dir: string | undefined): Promise<BoundaryRefusal | undefined> {
  if (dir === undefined || reports.every(({ nextBestAgent }) => nextBestAgent === null)) return undefined;
  const { boundariesIn } = await import('../workspace/registry-boundaries.ts');
  return boundariesIn(join(dir, '.baton'))?.refusal;
}

/** How many of the notes that the cast's agents suggested to remember wait for a person still. */
async function suggestionsLeft(door: Door, entries: readonly Entry[]): Promise<number> {
  const ids = new Set(entries.flatMap(({ fact }) => (fact.kind === 'memory.suggested' ? [fact.id] : [])));
  if (ids.size === 0) return 0;
  for (const { fact } of await door.read({ after: 0, kindPrefix: 'memory.' })) {
    if (fact.kind === 'memory.accepted' || fact.kind === 'memory.dropped') ids.delete(fact.id);
  }
  return ids.size;
}
