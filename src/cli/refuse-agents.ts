// Some commands are for people only: what governs agents is not theirs to change, however they got at the command line.
import { isInsideAttempt } from '../agents/inside-attempt.ts';
import { deny } from '../kernel/verdict.ts';
import { type Call, Refused } from './command.ts';

export function refuseAgents({ env, command }: Call, what: string): void {
  if (!isInsideAttempt(env)) return;
  const reason = `only a person may ${what}; this process was started by an agent of a cast`;
  throw new Refused(deny('APPROVER_IS_AGENT', reason, { command: command.name }));
}
