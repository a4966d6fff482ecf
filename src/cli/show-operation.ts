// Calls an operation for the command line and shows its answer: as one verdict, or in a form of its own.

import { type Actor, lookerWith } from '../access/actor.ts';
import { attemptIn } from '../access/attempt.ts';
import { Asks } from '../app/asks.ts';
import type { Context, Entry, OperationEvent } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import { type Given, perform, verdictOf } from '../app/perform.ts';
import { Refused } from '../app/refused.ts';
import type { Workspace } from '../app/workspace.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { type Call, EXIT, exitOf, note, out, outJson, outJsonLine } from './command.ts';
import { withWorkspace } from './open-workspace.ts';
import type { Form, Forms } from './show/form.ts';

/** The forms of each group; a group without any answers with verdicts. */
const FORMS: Partial<Record<Entry['group'], () => Promise<{ readonly forms: Forms }>>> = {
  casts: () => import('./show/casts.ts'),
  contracts: () => import('./show/contracts.ts'),
  history: () => import('./show/history.ts'),
  ledger: () => import('./show/ledger.ts'),
  approvals: () => import('./show/approvals.ts'),
  work: () => import('./show/work.ts'),
  registry: () => import('./show/registry.ts'),
  knowledge: () => import('./show/knowledge.ts'),
  access: () => import('./show/access.ts'),
};

export async function showOperation(call: Call, name: OperationName, given: Given): Promise<number> {
  const verdict = await ended(call, name, given);
  // What goes on tells its finds one by one; its end is no find.
  if (verdict.allow && given.follow === true) return EXIT.ok;
  const { forms } = (await FORMS[OPERATIONS[name].group]?.()) ?? { forms: {} };
  const form = Object.hasOwn(forms, name) ? forms[name] : undefined;
  const details = verdict.details as JsonObject;
  if (!call.json) for (const line of form?.notes?.(details, call, given, verdict) ?? []) note(line);
  if (!verdict.allow && form?.refusal === 'fault') throw new Refused(verdict);
  if (!verdict.allow && form?.refusal === 'lines' && !call.json)
    for (const line of (await import('./verdict-answer.ts')).refusalLines(verdict)) note(line);
  else if ((verdict.allow || form?.refusal === 'same') && form?.lines && !call.json)
    for (const line of form.lines(details, call, given, verdict)) out(line);
  else outJson((verdict.allow ? scriptValue(form, details, call) : undefined) ?? verdict);
  return verdict.allow && form?.isBad?.(details) ? EXIT.denied : exitOf(verdict);
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
export type Listening = Pick<Context, 'signal' | 'onEvent'>;

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
    const agreed = error instanceof Asks ? await agreedTo(call, error) : null;
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
): Promise<T> {
  return withWorkspace(call, async (workspace) => {
    const actor = await actorFor(OPERATIONS[name], workspace);
    return work((given) => perform(workspace, name, given, { actor, ...listening }));
  });
}

/** What an operation has started ends with this process, if that ends in an orderly way. */
function listeningFor({ endsBySignal }: Entry): Listening {
  const stop = new AbortController();
  const onSignal = () => (endsBySignal ? stop.abort() : process.exit(EXIT.fault));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal);
  return { signal: stop.signal, onEvent: show };
}

/** What the person at the terminal says, as input for the next call; null where that ends it. Without one nobody agrees. */
export async function agreedTo({ env }: Call, { question, agreed }: Asks): Promise<Given | null> {
  const isAgreed = await (await import('./ask.ts')).ask(question);
  if ('flag' in agreed) {
    if (isAgreed) return { [agreed.flag]: true };
    return agreed.otherwise === undefined ? null : { [agreed.flag]: agreed.otherwise };
  }
  if (!isAgreed) return null;
  const { trustFolder } = await import('../git/folder-trust.ts');
  trustFolder(agreed.trust, env, new Date().toISOString());
  return {};
}

async function actorFor({ act, peopleOnly }: Entry, workspace: Workspace): Promise<Actor> {
  if (act === 'look' && peopleOnly === undefined) return lookerWith(attemptIn(workspace.env, workspace.stateDir));
  return (await import('../access/actor-here.ts')).actorHere(workspace);
}

function show(event: OperationEvent): void {
  if (event.kind === 'note') note(event.text);
  else if (event.kind === 'value') outJsonLine(event.value);
}
