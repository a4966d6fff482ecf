// Who holds what in the ledger, as a hook needs it: brought to the head of the log and asked a few questions, without any of
// the rules that decide.

import type { Log } from '../engine/ports.ts';
import { restore } from '../engine/snapshot.ts';
import { apply } from '../kernel/apply.ts';
import type { Ledger, Task } from '../kernel/ledger/state.ts';
import { emptyState } from '../kernel/state.ts';

const PAGE = 5_000;

export async function ledgerAtHead(log: Log): Promise<Ledger> {
  const restored = await restore(log);
  const state = restored?.state ?? emptyState();
  for (let after = restored?.through ?? 0; ; ) {
    const page = await log.read({ after, limit: PAGE });
    for (const entry of page) apply(state, entry);
    after = page.at(-1)?.seq ?? after;
    if (page.length < PAGE) return state.ledger;
  }
}

export type Claimant = {
  /** The token that was handed over in the environment; null where none was. */
  readonly fence: number | null;
  readonly names: readonly string[];
};

/** The tasks in progress that belong to the one who acts. */
export function claimsOf(ledger: Ledger, { fence, names }: Claimant): readonly Task[] {
  const open = Object.values(ledger.tasks).filter((task) => task.fence !== null);
  return open
    .filter((task) => (fence === null ? names.includes(task.owner) : task.fence === fence))
    .sort((a, b) => a.order - b.order);
}
