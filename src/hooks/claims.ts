// Who holds what in the ledger, as a hook needs it: brought to the head of the log and asked a few questions, without the
// casts and without any of the rules that decide. A hook stands before every tool call, so only what it needs is read.
import type { Log } from '../engine/ports.ts';
import type { Entry } from '../kernel/fact.ts';
import { applyToLedger, LEDGER_KINDS } from '../kernel/ledger/history.ts';
import { emptyLedger, type Ledger, type Task } from '../kernel/ledger/state.ts';

export async function ledgerAtHead(log: Log): Promise<Ledger> {
  const known = await restoredFrom(log);
  const ledger = known?.found ?? emptyLedger();
  const after = known?.through ?? 0;
  const found: Entry[] = [];
  for (const kindPrefix of LEDGER_KINDS) found.push(...(await log.read({ after, kindPrefix })));
  for (const entry of found.sort((a, b) => a.seq - b.seq)) applyToLedger(ledger, entry);
  return ledger;
}

/** A log that is not long has no snapshot, and then there is nothing to load that could read one. */
async function restoredFrom(log: Log): Promise<{ readonly found: Ledger; readonly through: number } | null> {
  if ((await log.snapshot()) === null) return null;
  const { restored } = await import('../engine/snapshot.ts');
  return restored(log, (state) => state.ledger, { whole: true });
}

type Claimant = {
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
