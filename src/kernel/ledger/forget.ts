// Leaving out of the state what is over: a run with nothing open is read back from its facts when somebody asks for it.
import { type Ledger, nameKey, runOf, taskKey } from './state.ts';

/** Runs in which nothing is open, by hand and not of a cast, in the order in which they were opened. */
export function closedRuns(ledger: Ledger): readonly string[] {
  return Object.values(ledger.runs)
    .filter(({ open, cast }) => open === 0 && !cast)
    .map(({ id }) => id);
}

/** Only for a run in which nothing is in progress: its locks were given back. */
export function forgetRun(ledger: Ledger, id: string): void {
  for (const task of runOf(ledger, id)?.tasks ?? []) {
    const key = taskKey(id, task);
    delete ledger.tasks[key];
    delete ledger.ready[key];
    delete ledger.waiting[key];
  }
  delete ledger.runs[nameKey(id)];
}

/** The keys of all tasks of these runs. */
export function keysOfRuns(ledger: Ledger, ids: readonly string[]): ReadonlySet<string> {
  return new Set(ids.flatMap((id) => (runOf(ledger, id)?.tasks ?? []).map((task) => taskKey(id, task))));
}
