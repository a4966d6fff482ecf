// Some commands are for people only: what governs agents is not theirs to change, however they got at the command line.
import { type Actor, whyNotPerson as whyNot } from '../access/actor.ts';
import { actorHere } from '../access/actor-here.ts';
import { onlyPeopleMay, refusalToAgent } from '../access/people-only.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { again, type Call, formOf, Refused } from './command.ts';
import { workspaceOf } from './find-workspace.ts';
import { noteRefusal } from './note-refusal.ts';

/** An agent tried what only a person may do, and nothing of it is in the log yet. */
export class RefusedAgent extends Refused {}

/** Refuses an agent what only a person `may` do. */
export function refuseAgents(call: Call, may: string): void {
  const why = whyNot(actorOf(call), formOf(call), null, again(call));
  if (why !== null) throw refused(call, may, why);
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
  const { proof } = actorOf(call);
  return proof?.(formOf(call), cast, again(call)) ?? null;
}

function actorOf(call: Call): Actor {
  return actorHere({ env: call.env, stateDir: workspaceOf(call).stateDir });
}

function refused(call: Call, may: string, why: string): RefusedAgent {
  return new RefusedAgent(refusalToAgent(may, { command: call.command.name }, why));
}

/** What an agent tried in vain is what a reviewer looks for first. Other verdicts are none of it. */
export async function noteAgents<T extends Verdict>(call: Call, verdict: T): Promise<T> {
  if (verdict.allow || verdict.code !== 'APPROVER_IS_AGENT') return verdict;
  const { name } = actorOf(call);
  const who = name.startsWith('agent:') ? name : 'agent:unknown';
  await noteRefusal(call, verdict, { who, what: formOf(call) });
  return verdict;
}
