// One call of one operation: who may, what was given, and the function. A skin calls this and shows the answer.
import { whyNotPerson } from '../access/actor.ts';
import { mayDo, refusalToAgent } from '../access/rights.ts';
import { messageOf } from '../kernel/field-schema.ts';
import { type Mismatch, mismatches } from '../kernel/fields.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import { UsageError } from '../workspace/locate.ts';
import type { Context, OperationEntry, OperationFields } from './operation.ts';
import { LOAD } from './operations/load.ts';
import { OPERATIONS, type OperationName } from './operations/table.ts';
import { formOf, noteRefusal } from './refusals.ts';
import { verdictOf } from './refused.ts';
import { asDamage, type Workspace } from './workspace.ts';

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
  const entry: OperationEntry = OPERATIONS[name];
  const refusal = await refusedBefore(workspace, name, context);
  if (refusal) return refusal;
  const reading = readInput(entry.fields, given, context.actor.attempt !== null);
  if (!reading.ok) {
    const [first] = reading.issues;
    const issues = reading.issues.map((issue) => ({ ...issue }));
    const missing = reading.missing.length === 0 ? {} : { missing: [...reading.missing] };
    throw new UsageError(`${first?.path} ${first?.message}`, 'BAD_USAGE', { issues, ...missing });
  }
  const run = await LOAD[name]();
  try {
    const verdict = await (run as unknown as AnyRun)(workspace, reading.input, context);
    const isAgent = !verdict.allow && verdict.code === 'APPROVER_IS_AGENT';
    return isAgent ? await turnAway(workspace, entry, verdict, context) : verdict;
  } catch (error) {
    throw asDamage(error, workspace);
  }
}

/** The refusal that needs no input: the caller may not do it at all. It is noted in the log. */
export async function refusedBefore(
  workspace: Workspace,
  name: OperationName,
  context: Context,
): Promise<Denied | null> {
  const entry: OperationEntry = OPERATIONS[name];
  const kept = keptFrom(workspace, entry, context);
  return kept && turnAway(workspace, entry, kept, context);
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

type Issue = { readonly path: string; readonly message: string };
type Reading =
  | { readonly ok: true; readonly input: JsonObject }
  /** `missing` are the fields that must be given and are not. */
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly missing: readonly string[] };

const TEXT_CHARS_MAX = 1_048_576;
const LIST_ITEMS_MAX = 10_000;

/** Checks an input against its fields. `isAttempt` says that the caller is an agent within its attempt. */
function readInput(fields: OperationFields, given: Given, isAttempt: boolean): Reading {
  const input = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
  const conditional = Object.entries(fields).flatMap(([name, field]): Mismatch[] => {
    const isMissing = field.required === 'unless-attempt' && !isAttempt && !Object.hasOwn(input, name);
    return isMissing ? [{ rule: 'missing', path: [name], field, value: undefined }] : [];
  });
  const found = [...mismatches(input, { type: 'object', fields }), ...conditional];
  const issues = found.map((mismatch) => ({ path: mismatch.path.join('.'), message: messageOf(mismatch) }));
  if (found.length === 0) issues.push(...outOfBounds(fields, input));
  const missing = found.flatMap(({ rule, path }) => (rule === 'missing' ? [path.join('.')] : []));
  return issues.length === 0 ? { ok: true, input } : { ok: false, issues, missing };
}

/** Bounds for every field of every operation: texts become words of commands and names of files. */
function outOfBounds(fields: OperationFields, input: JsonObject): Issue[] {
  return Object.entries(input).flatMap(([path, value]) => {
    if (fields[path]?.type === 'json') return [];
    const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string');
    if (texts.length > LIST_ITEMS_MAX) return [{ path, message: `has more than ${LIST_ITEMS_MAX} entries` }];
    if (texts.some((text) => text.includes('\0'))) return [{ path, message: 'must not hold a NUL character' }];
    const long = texts.find((text) => text.length > TEXT_CHARS_MAX);
    return long === undefined
      ? []
      : [{ path, message: `has ${long.length} characters; at most ${TEXT_CHARS_MAX} are allowed` }];
  });
}

/** Why the actor may not do it, or null. */
function keptFrom({ program }: Workspace, entry: OperationEntry, { actor }: Context): Denied | null {
  const { name, act, peopleOnly } = entry;
  const why = peopleOnly === undefined ? null : whyNotPerson(actor, formOf(entry), null, program);
  if (why !== null) return refusalToAgent(peopleOnly ?? '', { operation: name }, why);
  if (actor.role === null) return null;
  const may = mayDo(actor.role, act, name);
  return may.allow ? null : may;
}

/** Notes the refusal in the log before the agent learns it: a reviewer looks for refused tries first. */
async function turnAway(workspace: Workspace, entry: OperationEntry, verdict: Denied, { actor, onEvent }: Context) {
  const isAgent = verdict.code === 'APPROVER_IS_AGENT';
  const who = isAgent && actor.kind !== 'agent' ? 'agent:unknown' : actor.name;
  const what = isAgent ? { what: formOf(entry) } : {};
  await noteRefusal(workspace, verdict, { who, ...what }, (text) => onEvent({ kind: 'note', text }));
  return verdict;
}
