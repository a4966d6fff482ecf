// Some commands are for people only: what governs agents is not theirs to change, however they got at the command line.
import { isAgent } from '../access/is-agent.ts';
import { isForTimers, onlyPeopleMay, proofFor, refusalToAgent, STARTED_BY_AGENT } from '../access/people-only.ts';
import { howPeopleDecide, isFromPerson } from '../access/person-proof.ts';
import { serverAbove } from '../access/served-by.ts';
import { userFolder } from '../access/user-folder.ts';
import { NOBODY, whoActs } from '../access/who-acts.ts';
import { isInsideAttempt } from '../agents/inside-attempt.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { again, type Call, formOf, Refused } from './command.ts';
import { workspaceOf } from './find-workspace.ts';
import { noteRefusal } from './note-refusal.ts';

/** An agent tried what only a person may do, and nothing of it is in the log yet. */
export class RefusedAgent extends Refused {}

/** Refuses an agent what only a person `may` do. */
export function refuseAgents(call: Call, may: string): void {
  const form = formOf(call);
  const isAboutCast = proofFor(form)?.isAboutCast === true;
  const why = isForTimers(form)
    ? isInsideAttempt(call.env) && STARTED_BY_AGENT
    : isAboutCast
      ? isSuspect(call) && STARTED_BY_AGENT
      : whyNotPerson(call);
  if (why) throw refused(call, may, why);
}

/** Refuses a decision about a cast that is not shown to be a person's. */
export function requirePerson(call: Call, cast: string): void {
  const why = whyNotPerson(call, cast);
  if (why !== null) throw refused(call, onlyPeopleMay(formOf(call)) ?? 'decide', why);
}

/** Whether an agent is behind a call, or nothing shows that a person is where that has to be shown. */
export function isByAgent(call: Call): boolean {
  return whyNotPerson(call) !== null;
}

/** Why the call does not count as a person's, for people; null where it does. `cast` is the one it decides about. */
export function whyNotPerson(call: Call, cast: string | null = null): string | null {
  if (isSuspect(call)) return STARTED_BY_AGENT;
  const proof = proofFor(formOf(call));
  if (proof === null || isHolder()) return null;
  const { stateDir } = workspaceOf(call);
  const user = formOf(call) === 'token' ? userFolder(call.env) : null;
  // The client of a server of ours has no terminal there. It counts as a person where the server is older than the agents.
  const server = serverAbove();
  const decision = { stateDir, cast, user, needsTerminal: proof.needsTerminal && server === null };
  if (isFromPerson(decision, server ?? process.pid)) return null;
  return `nothing shows that a person does it here; ${howPeopleDecide(again(call))}`;
}

/** Whether an agent is behind a call; the holder of a token is the person that the token was made for. */
function isSuspect(call: Call): boolean {
  if (whoActs().by.startsWith('agent:')) return true;
  return !isHolder() && isAgent(call.env, workspaceOf(call).stateDir);
}

function isHolder(): boolean {
  const { by } = whoActs();
  return by.startsWith('token:') && by !== NOBODY;
}

function refused(call: Call, may: string, why: string): RefusedAgent {
  return new RefusedAgent(refusalToAgent(may, { command: call.command.name }, why));
}

/** What an agent tried in vain is what a reviewer looks for first. Other verdicts are none of it. */
export async function noteAgents<T extends Verdict>(call: Call, verdict: T): Promise<T> {
  if (verdict.allow || verdict.code !== 'APPROVER_IS_AGENT') return verdict;
  const { by } = whoActs();
  const who = by.startsWith('agent:') ? by : 'agent:unknown';
  await noteRefusal(call, verdict, { who, what: formOf(call) });
  return verdict;
}
