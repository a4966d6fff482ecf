// Some commands are for people only: what governs agents is not theirs to change, however they got at the command line.
import { isAgent } from '../access/is-agent.ts';
import { NOBODY, whoActs } from '../access/who-acts.ts';
import { deny } from '../kernel/verdict.ts';
import { type Call, Refused } from './command.ts';
import { workspaceOf } from './find-workspace.ts';

export function refuseAgents(call: Call, what: string): void {
  if (!isByAgent(call)) return;
  const reason = `only a person may ${what}; this process was started by an agent of a cast`;
  throw new Refused(deny('APPROVER_IS_AGENT', reason, { command: call.command.name }));
}

/** Whether an agent is behind a call; one who showed a token to a server of ours is whom that token was made for. */
export function isByAgent(call: Call): boolean {
  const { by } = whoActs();
  if (by.startsWith('agent:')) return true;
  const isHolder = by.startsWith('token:') && by !== NOBODY;
  return !isHolder && isAgent(call.env, workspaceOf(call).stateDir);
}
