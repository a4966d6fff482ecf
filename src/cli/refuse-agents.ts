// Some commands are for people only: what governs agents is not theirs to change, however they got at the command line.
import { isAgent } from '../access/is-agent.ts';
import { isForTimers, refusalToAgent } from '../access/people-only.ts';
import { NOBODY, whoActs } from '../access/who-acts.ts';
import { isInsideAttempt } from '../agents/inside-attempt.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { type Call, formOf, Refused } from './command.ts';
import { workspaceOf } from './find-workspace.ts';
import { noteRefusal } from './note-refusal.ts';

/** An agent tried what only a person may do, and nothing of it is in the log yet. */
export class RefusedAgent extends Refused {}

/** Refuses an agent what only a person `may` do. */
export function refuseAgents(call: Call, may: string): void {
  const isAgents = isForTimers(formOf(call)) ? isInsideAttempt(call.env) : isByAgent(call);
  if (isAgents) throw new RefusedAgent(refusalToAgent(may, { command: call.command.name }));
}

/** Whether an agent is behind a call; one who showed a token to a server of ours is whom that token was made for. */
export function isByAgent(call: Call): boolean {
  const { by } = whoActs();
  if (by.startsWith('agent:')) return true;
  const isHolder = by.startsWith('token:') && by !== NOBODY;
  return !isHolder && isAgent(call.env, workspaceOf(call).stateDir);
}

/** What an agent tried in vain is what a reviewer looks for first. Other verdicts are none of it. */
export async function noteAgents<T extends Verdict>(call: Call, verdict: T): Promise<T> {
  if (verdict.allow || verdict.code !== 'APPROVER_IS_AGENT') return verdict;
  const { by } = whoActs();
  const who = by.startsWith('agent:') ? by : 'agent:unknown';
  await noteRefusal(call, verdict, { who, what: formOf(call) });
  return verdict;
}
