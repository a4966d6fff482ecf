// What the log knows about trust, for commands that look.
import type { Log } from '../engine/ports.ts';
import { timeOf } from '../kernel/fact.ts';
import { applyTrust } from '../kernel/trust/apply.ts';
import { isTrustFact } from '../kernel/trust/fact.ts';
import { noTrust, type Trust } from '../kernel/trust/state.ts';

/** Registry and quarantine as the log tells them, from the beginning or on from what was known after a fact. */
export async function trustIn(log: Pick<Log, 'read'>, trust: Trust = noTrust(), after = 0): Promise<Trust> {
  const facts = [
    ...(await log.read({ after, kindPrefix: 'registry.' })),
    ...(await log.read({ after, kindPrefix: 'quarantine.' })),
  ].toSorted((a, b) => a.seq - b.seq);
  for (const entry of facts) if (isTrustFact(entry.fact)) applyTrust(trust, entry.fact, timeOf(entry));
  return trust;
}
