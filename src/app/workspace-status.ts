// The status of a whole workspace: whether it is paused, and its registry and quarantine. It starts from the newest snapshot
// and reads only later facts, so its cost does not grow with the log.
import type { Log } from '../engine/ports.ts';
import { restored } from '../engine/snapshot.ts';
import { timeOf } from '../kernel/fact.ts';
import type { Ledger } from '../kernel/ledger/state.ts';
import { applyTrust, isTrustFact, noTrust, type Trust } from '../kernel/trust/state.ts';

type WorkspaceStatus = { readonly hold: Ledger['hold']; readonly trust: Trust };

export async function workspaceStatus(log: Log): Promise<WorkspaceStatus> {
  const known = await restored(log, ({ trust, ledger }) => ({ trust, hold: ledger.hold }));
  const after = known?.through ?? 0;
  const trust = await trustIn(log, known?.found.trust, after);
  let hold = known?.found.hold ?? null;
  for (const { fact } of await log.read({ after, kindPrefix: 'ledger.' })) {
    if (fact.kind === 'ledger.held') hold = { by: fact.by, reason: fact.reason };
    else if (fact.kind === 'ledger.unheld') hold = null;
  }
  return { hold, trust };
}

/** Registry and quarantine as the log tells them, from the beginning or on from what was known after a fact. */
export async function trustIn(log: Pick<Log, 'read'>, trust: Trust = noTrust(), after = 0): Promise<Trust> {
  const facts = [
    ...(await log.read({ after, kindPrefix: 'registry.' })),
    ...(await log.read({ after, kindPrefix: 'quarantine.' })),
  ].toSorted((a, b) => a.seq - b.seq);
  for (const entry of facts) if (isTrustFact(entry.fact)) applyTrust(trust, entry.fact, timeOf(entry));
  return trust;
}
