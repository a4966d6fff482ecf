// One call of one operation: who may, what was given, and the function. A skin calls this and shows the answer.
import { whyNotPerson } from '../access/actor.ts';
import { refusalToAgent } from '../access/people-only.ts';
import { mayDo } from '../access/role.ts';
import { StorageError } from '../engine/storage-error.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import { UsageError } from '../workspace/usage-error.ts';
import { formOf } from './decision.ts';
import { readInput } from './fields.ts';
import { noteRefusal } from './note-refusal.ts';
import type { Context, Entry } from './operation.ts';
import { LOAD } from './operations/load.ts';
import { OPERATIONS, type OperationName } from './operations/table.ts';
import { Refused } from './refused.ts';
import { asDamage } from './state-folder.ts';
import type { Workspace } from './workspace.ts';

/** The input fits the fields, which the type of the function was made from. */
type AnyRun = (workspace: Workspace, input: JsonObject, context: Context) => Promise<Verdict>;

export type Given = Readonly<Record<string, Json | undefined>>;

/** Throws what was asked for wrongly (`UsageError`), a refusal that ended it early (`Refused`), and faults. */
export async function perform(
  workspace: Workspace,
  name: OperationName,
  given: Given,
  context: Context,
): Promise<Verdict> {
  const entry: Entry = OPERATIONS[name];
  const kept = keptFrom(workspace, entry, context);
  if (kept) return turnAway(workspace, entry, kept, context);
  const reading = readInput(entry.fields, given, context.actor.attempt !== null);
  if (!reading.ok) {
    const [first] = reading.issues;
    const issues = reading.issues.map((issue) => ({ ...issue }));
    const missing = reading.missing.length === 0 ? {} : { missing: [...reading.missing] };
    throw new UsageError(`${first?.path} ${first?.message}`, 'BAD_USAGE', { issues, ...missing });
  }
  const { run } = await LOAD[name]();
  try {
    const verdict = await (run as unknown as AnyRun)(workspace, reading.input, context);
    const isAgent = !verdict.allow && verdict.code === 'APPROVER_IS_AGENT';
    return isAgent ? await turnAway(workspace, entry, verdict, context) : verdict;
  } catch (error) {
    throw asDamage(error, workspace);
  }
}

/** The same for callers that read verdicts and nothing else: other programs and agents. */
export async function answer(
  workspace: Workspace,
  name: OperationName,
  given: Given,
  context: Context,
): Promise<Verdict> {
  try {
    return await perform(workspace, name, given, context);
  } catch (error) {
    return verdictOf(error);
  }
}

/** What went wrong, as a verdict. */
export function verdictOf(error: unknown): Denied {
  if (error instanceof Refused) return error.verdict;
  if (error instanceof UsageError) return deny(error.code, error.message, error.details);
  if (error instanceof StorageError) return deny(error.code, error.message);
  return deny('INTERNAL', error instanceof Error ? error.message : String(error));
}

/** Why the actor may not do it, or null. */
function keptFrom({ program }: Workspace, entry: Entry, { actor }: Context): Denied | null {
  const { name, act, peopleOnly } = entry;
  const why = peopleOnly === undefined ? null : whyNotPerson(actor, formOf(entry), null, program);
  if (why !== null) return refusalToAgent(peopleOnly ?? '', { operation: name }, why);
  if (actor.role === null) return null;
  const may = mayDo(actor.role, act, name);
  return may.allow ? null : may;
}

/** What an agent tried in vain is what a reviewer looks for first, so it is in the log before the agent learns it. */
async function turnAway(workspace: Workspace, entry: Entry, verdict: Denied, { actor, onEvent }: Context) {
  const isAgent = verdict.code === 'APPROVER_IS_AGENT';
  const who = isAgent && actor.kind !== 'agent' ? 'agent:unknown' : actor.name;
  const what = isAgent ? { what: formOf(entry) } : {};
  await noteRefusal(workspace, verdict, { who, ...what }, (text) => onEvent({ kind: 'note', text }));
  return verdict;
}
