// The tasks of a cast, told from its facts: those in progress side by side, those that wait, and why.
import type { TaskView } from '../engine/view.ts';
import { apply } from '../kernel/apply.ts';
import type { Entry } from '../kernel/fact.ts';
import { isLedgerFact } from '../kernel/ledger/fact.ts';
import { tasksOf } from '../kernel/ledger/state.ts';
import { emptyState } from '../kernel/state.ts';

export function taskViews(cast: string, entries: readonly Entry[]): readonly TaskView[] {
  const state = emptyState();
  for (const entry of entries) {
    const { fact } = entry;
    if (isLedgerFact(fact) || fact.kind === 'cast.started' || fact.kind === 'items.planned') apply(state, entry);
  }
  return tasksOf(state.ledger, cast).map(({ id, title, status, owner, code, reason, fence }) => {
    return { task: id, title, status, owner, code, reason, fence };
  });
}
