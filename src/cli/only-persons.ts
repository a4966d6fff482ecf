// What is for a person to decide is refused to agents: nobody approves their own work.
import { isInsideAttempt } from '../agents/inside-attempt.ts';
import { deny } from '../kernel/verdict.ts';
import { type Call, Refused } from './command.ts';

export function refuseAgents(call: Call): void {
  if (!isInsideAttempt(call.env)) return;
  const reason = `${call.command.name} is for a person; this process was started by an attempt that runs`;
  throw new Refused(deny('APPROVER_IS_AGENT', reason, { attempt: call.env.BATON_ATTEMPT ?? null }));
}
