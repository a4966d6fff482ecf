// What must hold for every cast at every moment: one that runs is owed something, or knows until when it waits. Random tests
// ask after every step.
import { ownerOf } from '../src/kernel/cast/rules.ts';
import type { Cast } from '../src/kernel/cast/state.ts';
import { isObject } from '../src/kernel/json.ts';
import { refusalOfClaim } from '../src/kernel/ledger/claim.ts';
import { runOf, taskOf, tasksOf } from '../src/kernel/ledger/state.ts';
import { pending } from '../src/kernel/pending.ts';
import type { State } from '../src/kernel/state.ts';

/** The casts that run and that nothing will ever carry on. */
export function hangingCasts(state: State, at: number): readonly string[] {
  // Whoever holds the workspace carries them all on.
  if (state.ledger.hold) return [];
  const idle = Object.values(state.casts).filter((cast) => cast.status === 'running' && pending(cast).length === 0);
  return idle.filter((cast) => !waitsForAnother(state, cast, at)).map(({ id }) => id);
}

/** Whether a task of the cast waits for paths that a run other than its own holds: when they are given back it goes on. */
function waitsForAnother({ ledger }: State, cast: Cast, at: number): boolean {
  const owner = ownerOf(cast, cast.rules.graph.entry);
  return tasksOf(ledger, cast.id).some((task) => {
    const holder = task.status === 'todo' ? refusalOfClaim(ledger, task, owner, at)?.details.holder : undefined;
    if (!isObject(holder) || holder.run === cast.id || !runOf(ledger, String(holder.run))) return false;
    return taskOf(ledger, String(holder.run), String(holder.task))?.status === 'in_progress';
  });
}
