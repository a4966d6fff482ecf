// Calls an operation for the command line and shows its answer: as one verdict, or in a form of its own.

import { type Actor, lookerWith } from '../access/actor.ts';
import { attemptIn } from '../access/attempt.ts';
import type { Entry, OperationEvent } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import { type Given, perform, verdictOf } from '../app/perform.ts';
import { Refused } from '../app/refused.ts';
import type { Workspace } from '../app/workspace.ts';
import { isObject, isText, type Json, type JsonObject } from '../kernel/json.ts';
import { isTaskStatus, isTerminal } from '../kernel/ledger/transition.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { again, type Call, EXIT, exitOf, note, out, outJson, outJsonLine } from './command.ts';
import { withWorkspace } from './open-workspace.ts';
import { table } from './table.ts';

/** How the answer of an operation is shown where it is not shown as a verdict. */
type Form = {
  /** The member of `details` that is the answer for scripts. */
  readonly value: string;
  /** The answer for people; without it they get the value, too. */
  readonly lines?: (value: Json, call: Call, given: Given) => readonly string[];
};

const FORMS: Partial<Record<OperationName, Form>> = {
  'task.list': { value: 'tasks', lines: taskLines },
  'lock.list': { value: 'locks', lines: lockLines },
  'worklog.show': { value: 'entries', lines: (value) => rowsIn(value).map(worklogLine) },
  bundle: { value: 'bundle' },
};

export async function showOperation(call: Call, name: OperationName, given: Given): Promise<number> {
  const form = FORMS[name];
  const verdict = await ended(call, name, given);
  // What goes on tells its finds one by one; its end is no find.
  if (verdict.allow && given.follow === true) return EXIT.ok;
  const value = verdict.allow && form ? verdict.details[form.value] : undefined;
  if (value === undefined || !form) {
    outJson(verdict);
    return exitOf(verdict);
  }
  if (call.json || !form.lines) outJson(value);
  else for (const line of form.lines(value, call, given)) out(line);
  return EXIT.ok;
}

/** The details of an operation that a command shows in its own way. Throws a refusal. */
export async function allowed(call: Call, name: OperationName, given: Given): Promise<JsonObject> {
  const verdict = await ended(call, name, given);
  if (!verdict.allow) throw new Refused(verdict);
  return verdict.details as JsonObject;
}

/** The verdict of the operation. A refusal that ended it early is one, too. */
async function ended(call: Call, name: OperationName, given: Given): Promise<Verdict> {
  const stop = new AbortController();
  const entry: Entry = OPERATIONS[name];
  // What an operation has started ends with this process, if that ends in an orderly way.
  const onSignal = () => (entry.endsBySignal ? stop.abort() : process.exit(EXIT.fault));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal);
  try {
    return await withWorkspace(call, async (workspace) => {
      const actor = await actorFor(entry, workspace);
      return perform(workspace, name, given, { actor, signal: stop.signal, onEvent: show });
    });
  } catch (error) {
    if (error instanceof Refused) return verdictOf(error);
    throw error;
  }
}

async function actorFor({ act, peopleOnly }: Entry, workspace: Workspace): Promise<Actor> {
  if (act === 'look' && peopleOnly === undefined) return lookerWith(attemptIn(workspace.env, workspace.stateDir));
  return (await import('../access/actor-here.ts')).actorHere(workspace);
}

function show(event: OperationEvent): void {
  if (event.kind === 'note') note(event.text);
  else outJsonLine(event.value);
}

function rowsIn(value: Json): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function taskLines(value: Json, call: Call, { status }: Given): readonly string[] {
  const rows = rowsIn(value);
  if (rows.length === 0)
    return [`No task${status ? ` is ${String(status)}` : ' yet'}. Create one with: ${again(call)} task create FILE`];
  const titles = ['task', 'status', 'owner', 'priority', 'title', 'why'];
  // Tasks of several runs may have the same id; then the run is shown, too.
  if (new Set(rows.map(({ run_id }) => run_id)).size < 2) return table(rows.map(taskCells), titles);
  return table(
    rows.map((row) => [String(row.run_id), ...taskCells(row)]),
    ['run', ...titles],
  );
}

/** How a task ended, or why it stands; that a person ended it without evidence is to be seen here. */
function taskCells({ task_id, status, owner, priority, title, code, reason }: JsonObject): readonly string[] {
  const isToldOf = isTaskStatus(status) && (isTerminal(status) || code !== null);
  const why = [code, isToldOf ? reason : null].filter((part) => isText(part)).join(': ');
  return [task_id, status, owner, priority, title, why].map(String);
}

function lockLines(value: Json): readonly string[] {
  const rows = rowsIn(value);
  if (rows.length === 0) return ['No path is locked.'];
  const cells = rows.map(({ path, mode, task, owner, fence, since, until }) =>
    [path, mode, task, owner, fence, since, until ?? ''].map(String),
  );
  return table(cells, ['path', 'mode', 'task', 'owner', 'fence', 'since', 'until']);
}

function worklogLine({ timestamp, actor, action, result, code, next_step: next }: JsonObject): string {
  const why = code === undefined ? '' : ` (${String(code)})`;
  return `${String(timestamp)}  ${String(actor)}  ${String(action)}: ${String(result)}${why}. Next: ${String(next)}`;
}
