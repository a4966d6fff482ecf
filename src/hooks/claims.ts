// What a hook asks the ledger: who has claimed which task, and whether the workspace is paused. It runs before every tool call,
// so it reads only the facts of the ledger.
import type { Log } from '../engine/ports.ts';
import type { Entry } from '../kernel/fact.ts';
import { applyToLedger, LEDGER_KINDS } from '../kernel/ledger/history.ts';
import { emptyLedger, type Ledger, type Task } from '../kernel/ledger/state.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

export async function ledgerAtHead(log: Log): Promise<Ledger> {
  const known = await restoredFrom(log);
  const ledger = known?.found ?? emptyLedger();
  const after = known?.through ?? 0;
  const found: Entry[] = [];
  for (const kindPrefix of LEDGER_KINDS) found.push(...(await log.read({ after, kindPrefix })));
  for (const entry of found.sort((a, b) => a.seq - b.seq)) applyToLedger(ledger, entry);
  return ledger;
}

/** A short log has no snapshot. Then the code that reads one is not loaded. */
async function restoredFrom(log: Log): Promise<{ readonly found: Ledger; readonly through: number } | null> {
  if ((await log.snapshot()) === null) return null;
  const { restored } = await import('../engine/snapshot.ts');
  return restored(log, (state) => state.ledger, { whole: true });
}

type Claimant = {
  /** The token from the environment, or null if there is none. */
  readonly fence: number | null;
  readonly names: readonly string[];
};

/** The claimant's tasks in progress. */
export function claimsOf(ledger: Ledger, { fence, names }: Claimant): readonly Task[] {
  const open = Object.values(ledger.tasks).filter((task) => task.fence !== null);
  return open
    .filter((task) => (fence === null ? names.includes(task.owner) : task.fence === fence))
    .sort((a, b) => a.order - b.order);
}

/** A paused workspace starts no new agent. */
export function refusalOfHold({ hold }: Pick<Ledger, 'hold'>): Denied | null {
  if (!hold) return null;
  const reason = `${hold.by} paused the workspace, so no new agent starts: ${hold.reason}. Finish your current work, then wait.`;
  return deny('NOT_ALLOWED_NOW', reason, { hold: { ...hold } });
}
