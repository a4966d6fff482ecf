// Calls an operation for the command line and shows its answer: as one verdict, or in a form of its own.
import { type Actor, lookerWith } from '../access/actor.ts';
import { attemptIn } from '../access/attempt.ts';
import type { Context, OperationEntry, OperationEvent } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import { type Given, perform, refusedBefore } from '../app/perform.ts';
import { AsksPerson, Refused, verdictOf } from '../app/refused.ts';
import type { Workspace } from '../app/workspace.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Verdict } from '../kernel/verdict.ts';
import type { LocatedWorkspace as Located } from '../workspace/locate.ts';
import {
  type Call,
  EXIT_CODE,
  exitOf,
  note,
  out,
  outJson,
  outJsonLine,
  ring,
  withWorkspace,
  workspaceHere,
  workspaceOf,
} from './command.ts';
import type { Form, Forms } from './show/form.ts';

const castForms = () => import('./show/casts.ts').then((file) => file.CAST_FORMS);
const projectForms = () => import('./show/project.ts').then((file) => file.PROJECT_FORMS);
const registryForms = () => import('./show/registry.ts').then((file) => file.REGISTRY_FORMS);

/** The forms of each group; a group without any answers with verdicts. */
const FORMS: Partial<Record<OperationEntry['group'], () => Promise<Forms>>> = {
  ...{ casts: castForms, approvals: castForms, work: castForms },
  ...{ contracts: projectForms, project: projectForms },
  ...{ registry: registryForms, knowledge: registryForms, access: registryForms },
  history: () => import('./show/history.ts').then((file) => file.HISTORY_FORMS),
  ledger: () => import('./show/ledger.ts').then((file) => file.LEDGER_FORMS),
};

export async function showOperation(call: Call, name: OperationName, given: Given): Promise<number> {
  const forms = (await FORMS[OPERATIONS[name].group]?.()) ?? {};
  const form = Object.hasOwn(forms, name) ? forms[name] : undefined;
  const verdict = await ended(call, name, given, listeningFor(OPERATIONS[name], showingWith(call, form)));
  // An operation that follows has shown its finds one by one; its end is no find.
  if (verdict.allow && given.follow === true) return EXIT_CODE.ok;
  const details = verdict.details as JsonObject;
  if (!call.json) for (const line of form?.notes?.(details, call, given, verdict) ?? []) note(line);
  if (!verdict.allow && form?.refusal === 'fault') throw new Refused(verdict);
  if (!verdict.allow && form?.refusal === 'lines' && !call.json)
    for (const line of (await import('./show/form.ts')).refusalLines(verdict)) note(line);
  else if ((verdict.allow || form?.refusal === 'same') && form?.lines && !call.json)
    for (const line of form.lines(details, call, given, verdict)) out(line);
  else outJson((verdict.allow ? scriptValue(form, details, call) : undefined) ?? verdict);
  return verdict.allow && form?.isBad?.(details) ? EXIT_CODE.denied : exitOf(verdict);
}

/** Values that come before the end are shown at once. With --json the answer holds those that have a form. */
function showingWith(call: Call, form: Form | undefined) {
  return (event: OperationEvent): void => {
    const isFormed = event.kind === 'value' && form?.each !== undefined;
    if (!isFormed) show(event);
    else if (!call.json) for (const line of form.each?.(event.value as JsonObject, call) ?? []) out(line);
  };
}

function scriptValue({ value }: Form = {}, details: JsonObject, call: Call): unknown {
  return typeof value === 'function' ? value(details, call) : value === undefined ? undefined : details[value];
}

/** The details of an operation that a command shows in its own way. Throws a refusal. */
export async function allowed(call: Call, name: OperationName, given: Given): Promise<JsonObject> {
  const verdict = await ended(call, name, given);
  if (!verdict.allow) throw new Refused(verdict);
  return verdict.details as JsonObject;
}

/** How to stop an operation, and whom to tell meanwhile. */
type Listening = Omit<Context, 'actor'>;

/** The verdict of the operation. A refusal that ended it early is one, too. */
export async function ended(
  call: Call,
  name: OperationName,
  given: Given,
  listening: Listening = listeningFor(OPERATIONS[name]),
): Promise<Verdict> {
  try {
    return await performing(call, name, (each) => each(given), listening);
  } catch (error) {
    const agreed = error instanceof AsksPerson ? await agreedTo(call, error) : null;
    if (agreed) return ended(call, name, { ...given, ...agreed }, listening);
    if (error instanceof Refused) return verdictOf(error);
    throw error;
  }
}

/** Runs `work`, which may call the operation several times. What it tells meanwhile is shown at once. */
export async function performing<T>(
  call: Call,
  name: OperationName,
  work: (each: (given: Given) => Promise<Verdict>) => Promise<T>,
  listening: Listening = listeningFor(OPERATIONS[name]),
  located = locatedFor(call, OPERATIONS[name]),
): Promise<T> {
  const entry: OperationEntry = OPERATIONS[name];
  const act = async (workspace: Workspace) => {
    const actor = await actorFor(entry, workspace);
    return work((given) => perform(workspace, name, given, { actor, ...listening }));
  };
  return withWorkspace(call, act, located);
}

/** Throws the refusal of a caller who may not do it at all. */
export async function refuseBefore(call: Call, name: OperationName): Promise<void> {
  const work = async (workspace: Workspace) => {
    const context = { actor: await actorFor(OPERATIONS[name], workspace), ...listeningFor(OPERATIONS[name]) };
    return refusedBefore(workspace, name, context);
  };
  const refusal = await withWorkspace(call, work, locatedFor(call, OPERATIONS[name]));
  if (refusal) throw new Refused(refusal);
}

function locatedFor(call: Call, { makesWorkspace }: OperationEntry): Located {
  return makesWorkspace ? workspaceHere(call) : workspaceOf(call);
}

/** What an operation has started ends with this process, if that ends in an orderly way. */
function listeningFor({ endsBySignal }: OperationEntry, onEvent = show): Listening {
  const stop = new AbortController();
  const onSignal = () => (endsBySignal ? stop.abort() : process.exit(EXIT_CODE.fault));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal);
  return { signal: stop.signal, onEvent };
}

/** The answer of the person at the terminal, as input for the next call; null where it ends the command. */
async function agreedTo({ env }: Call, { question, agreed }: AsksPerson): Promise<Given | null> {
  const { confirm: ask, choose, hasPerson } = await import('./read-input.ts');
  if ('field' in agreed) {
    if (agreed.isForPerson && !hasPerson()) return null;
    return { [agreed.field]: await choose(question, agreed.of) };
  }
  const isAgreed = await ask(question);
  if ('flag' in agreed) {
    if (isAgreed) return { [agreed.flag]: true };
    return agreed.otherwise === undefined ? null : { [agreed.flag]: agreed.otherwise };
  }
  if (!isAgreed) return null;
  if ('set' in agreed) return agreed.set;
  const { trustFolder } = await import('../git/folder-trust.ts');
  trustFolder(agreed.trust, env, new Date().toISOString());
  return {};
}

async function actorFor({ act, peopleOnly }: OperationEntry, workspace: Workspace): Promise<Actor> {
  if (act === 'look' && peopleOnly === undefined) return lookerWith(attemptIn(workspace.env, workspace.stateDir));
  return (await import('../access/who-acts.ts')).actorHere(workspace);
}

function show(event: OperationEvent): void {
  if (event.kind === 'note') note(event.text);
  else if (event.kind === 'bell') ring();
  else if (event.kind === 'value') outJsonLine(event.value);
}
