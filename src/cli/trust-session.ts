// What the commands of trust share: what the log knows about it, and that only people steer it.

import { isInsideAttempt } from '../agents/inside-attempt.ts';
import type { Log } from '../engine/ports.ts';
import { applyTrust } from '../kernel/trust/apply.ts';
import { isTrustFact } from '../kernel/trust/fact.ts';
import { noTrust, type Trust } from '../kernel/trust/state.ts';
import { deny } from '../kernel/verdict.ts';
import { type Call, Refused } from './command.ts';

/** Registry and quarantine as the log tells them. */
export async function trustIn(log: Pick<Log, 'read'>): Promise<Trust> {
  const trust = noTrust();
  const facts = [
    ...(await log.read({ after: 0, kindPrefix: 'registry.' })),
    ...(await log.read({ after: 0, kindPrefix: 'quarantine.' })),
  ].toSorted((a, b) => a.seq - b.seq);
  for (const { fact, at } of facts) if (isTrustFact(fact)) applyTrust(trust, fact, Date.parse(at));
  return trust;
}

/** What governs agents is not theirs to change, however they got at the command line. */
export function refuseAgents({ env, command }: Call, what: string): void {
  if (!isInsideAttempt(env)) return;
  const reason = `only a person may ${what}; this process was started by an agent of a cast`;
  throw new Refused(deny('APPROVER_IS_AGENT', reason, { command: command.name }));
}
