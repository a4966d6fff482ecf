// What holds for a whole workspace: whether it is held, and which registry its agents are attested against. The newest
// snapshot knows it; only the facts since then are read, so that it is as quick in a long log as in a short one.
import type { Log } from '../engine/ports.ts';
import { restored } from '../engine/snapshot.ts';
import type { Ledger } from '../kernel/ledger/state.ts';
import type { Trust } from '../kernel/trust/state.ts';
import { trustIn } from './trust-in-log.ts';

export type Standing = { readonly hold: Ledger['hold']; readonly trust: Trust };

export async function standingIn(log: Log): Promise<Standing> {
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
