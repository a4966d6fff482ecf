// The tasks of a cast, told from its facts: those in progress side by side, those that wait, and why.
import type { TaskView } from '../engine/view.ts';
import { apply } from '../kernel/apply.ts';
import { itemFates } from '../kernel/cast/item-count.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Rules } from '../kernel/graph/config.ts';
import { hasOwnPaths } from '../kernel/graph/write-scope.ts';
import { isLedgerFact } from '../kernel/ledger/fact.ts';
import { tasksOf } from '../kernel/ledger/state.ts';
import { type Cast, emptyState } from '../kernel/state.ts';

export function taskViews(cast: Cast, entries: readonly Entry[]): readonly TaskView[] {
  const fates = itemFates(cast, entries);
  const state = emptyState();
  for (const entry of entries) {
    const { fact } = entry;
    if (isLedgerFact(fact) || fact.kind === 'cast.started' || fact.kind === 'items.planned') apply(state, entry);
  }
  const changed = changesByTask(entries);
  return tasksOf(state.ledger, cast.id).map(({ id, title, status, owner, code, reason, fence }) => {
    const { isItem, files } = changed.get(id) ?? { isItem: fates.has(id), files: null };
    const work = { ...(isItem ? { isItem: true as const } : {}), ...(files === null ? {} : { files: files.size }) };
    const skipped = fates.get(id) === 'skipped' ? ({ skipped: true } as const) : {};
    return { task: id, title, status, owner, code, reason, fence, ...work, ...skipped };
  });
}

/** `files` is null until a turn that may write was accepted. */
type Changed = { isItem: boolean; files: Set<string> | null };

function changesByTask(entries: readonly Entry[]): ReadonlyMap<string, Changed> {
  const byTask = new Map<string, Changed>();
  const turns = new Map<number, { readonly socket: string; readonly work: Changed }>();
  let rules: Rules | null = null;
  for (const { fact } of entries) {
    if (fact.kind === 'cast.started') rules = fact.rules;
    if (fact.kind === 'turn.started' && fact.task !== undefined) {
      const work = byTask.get(fact.task) ?? { isItem: fact.item !== null, files: null };
      byTask.set(fact.task, work);
      turns.set(fact.turn, { socket: fact.socket, work });
    }
    const turn = fact.kind === 'turn.accepted' ? turns.get(fact.turn) : undefined;
    if (fact.kind !== 'turn.accepted' || !turn || !rules || !hasOwnPaths(rules, turn.socket)) continue;
    turn.work.files ??= new Set();
    for (const path of Object.keys(fact.touched ?? {})) turn.work.files.add(path);
  }
  return byTask;
}
