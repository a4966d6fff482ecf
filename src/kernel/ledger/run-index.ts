// Answers about a run without a walk over its tasks: the index that `apply` keeps, the dependencies between tasks, and whether
// the rows, claims and locks of a run agree. All of it follows from the facts.
import type { Json, JsonObject } from '../json.ts';
import { type Denied, deny } from '../verdict.ts';
import type { Soundness } from './fact.ts';
import { locksOf, put, rivalOf, rivalsOf } from './lock-tree.ts';
import { spokenPath } from './path.ts';
import { place } from './rank.ts';
import { filesOf } from './scope.ts';
import {
  isTerminal,
  keyOf,
  type Ledger,
  locksToTake,
  nameKey,
  type Run,
  runOf,
  type Task,
  taskOf,
  tasksOf,
} from './state.ts';

/** Whether a task of the run has this path as its worklog or report. */
export function isTaskFile({ index }: Run, path: string): boolean {
  return index.files[nameKey(path)] !== undefined;
}

export function indexFiles({ index }: Run, task: Task, by: 1 | -1): void {
  for (const path of filesOf(task)) {
    const key = nameKey(path);
    const count = (index.files[key] ?? 0) + by;
    if (count > 0) put(index.files, key, count);
    else delete index.files[key];
  }
}

/** The index that the task belongs to by its status. */
export function indexTask(ledger: Ledger, { index }: Run, task: Task): void {
  const { order, id, status, priority } = task;
  const isReady = status === 'todo' && task.assigned;
  const isMet = isReady && task.dependencies.every((other) => taskOf(ledger, task.run, other)?.status === 'done');
  place(index.open, order, id, !isTerminal(status));
  place(index.atWork, order, id, status === 'in_progress');
  place(index.unassigned, order, id, status === 'todo' && !task.assigned);
  place(index.startable[priority], order, id, isMet);
  place(index.unmet[priority], order, id, isReady && !isMet);
}

/** The task may get another priority. */
export function unrank({ index }: Run, { order, id, priority }: Task): void {
  place(index.startable[priority], order, id, false);
  place(index.unmet[priority], order, id, false);
}

/** The task is there, and so is what it waits for. */
export function noteDependencies(ledger: Ledger, { index }: Run, { run, id, dependencies }: Task): void {
  delete index.missing[nameKey(id)];
  for (const other of dependencies) {
    const known = taskOf(ledger, run, other);
    if (known?.status === 'done') continue;
    const key = nameKey(other);
    index.dependents[key] ??= {};
    put(index.dependents[key], nameKey(id), id);
    if (!known) put(index.missing, key, other);
  }
}

/** The task is done: those that waited for nothing else can start. */
export function dependenciesMet(ledger: Ledger, run: Run, { id }: Task): void {
  const key = nameKey(id);
  for (const other of Object.values(run.index.dependents[key] ?? {})) {
    const task = taskOf(ledger, run.id, other);
    if (task) indexTask(ledger, run, task);
  }
  delete run.index.dependents[key];
}

/** Notes whether something is wrong with the task. */
export function watchTask(ledger: Ledger, { index }: Run, task: Task): void {
  const key = nameKey(task.id);
  if (wrongWith(ledger, task).length > 0) put(index.suspects, key, task.id);
  else delete index.suspects[key];
}

/** The same for a holder of locks and its rivals: a fault of one is a fault of the others. */
export function watchHolder(ledger: Ledger, key: string): void {
  const met = new Set([key]);
  for (const lock of locksOf(ledger.locks, key)) {
    for (const rival of rivalsOf(ledger.locks, { ...lock, task: key })) met.add(rival.task);
  }
  for (const one of met) {
    const task = ledger.tasks[one];
    const run = task && runOf(ledger, task.run);
    if (run) watchTask(ledger, run, task);
  }
}

/** The dependencies that are not done, with their status; null where there is no such task. */
export function unmetOf(dependencies: readonly string[], statusOf: (id: string) => string | undefined) {
  return dependencies
    .map((id) => ({ depends_on: id, status: statusOf(id) ?? null }))
    .filter(({ status }) => status !== 'done');
}

/** Whether everything the task depends on is done. A dependency that can never be done is named as such. */
export function refusalOfDependencies(ledger: Ledger, { run, id, dependencies }: Task): Denied | null {
  const unmet = unmetOf(dependencies, (other) => taskOf(ledger, run, other)?.status);
  if (unmet.length === 0) return null;
  const dead = unmet.filter(({ status }) => status === 'failed' || status === 'canceled');
  const list = (rows: typeof unmet) =>
    rows
      .slice(0, 5)
      .map(({ depends_on, status }) => `${depends_on} (${status ?? 'not in the ledger'})`)
      .join(', ');
  const reason =
    dead.length > 0
      ? `${id} depends on ${list(dead)}, which will never be done; plan it again without it.`
      : `${id} waits for ${list(unmet)}.`;
  const details: Record<string, Json> = { unmet: unmet.slice(0, 100) };
  if (dead.length > 0) details.dead = dead.slice(0, 100).map(({ depends_on }) => depends_on);
  return deny('DEPENDENCY_NOT_MET', reason, details);
}

/** Whether every task of a run that is still to be done waits only for tasks that there are. All that do not are named. */
export function refusalOfUnknownDependencies(ledger: Ledger, run: string): Denied | null {
  const unknown = unknownDependencies(ledger, run);
  const [first] = unknown;
  if (!first) return null;
  const more = unknown.length > 1 ? ` (and ${unknown.length - 1} more)` : '';
  const reason = `${first.task} depends on ${first.depends_on}, which is not in the ledger${more}; assign it too, or drop the dependency.`;
  return deny('LEDGER_INCONSISTENT', reason, { unknown: unknown.slice(0, 100) });
}

/** Dependencies of open tasks that do not exist. */
function unknownDependencies(
  ledger: Ledger,
  run: string,
): readonly { readonly task: string; readonly depends_on: string }[] {
  const { missing = {}, dependents = {} } = runOf(ledger, run)?.index ?? {};
  const waiting = Object.keys(missing).flatMap((key) => Object.values(dependents[key] ?? {}));
  return [...new Set(waiting)]
    .flatMap((id) => taskOf(ledger, run, id) ?? [])
    .filter(({ status }) => !isTerminal(status))
    .sort((a, b) => a.order - b.order)
    .flatMap(({ id, dependencies }) =>
      dependencies.filter((other) => !taskOf(ledger, run, other)).map((other) => ({ task: id, depends_on: other })),
    );
}

/** Whether a new task would come to wait for itself. Tasks that do not exist yet end the search. */
export function refusalOfCycle(
  ledger: Ledger,
  run: string,
  id: string,
  dependencies: readonly string[],
): Denied | null {
  // A round comes back through a task that waits for this one.
  const waiting = Object.values(runOf(ledger, run)?.index.dependents[nameKey(id)] ?? {});
  if (waiting.length === 0 && !dependencies.includes(id)) return null;
  const cameFrom = new Map<string, string>();
  const queue = [...dependencies];
  for (const other of dependencies) cameFrom.set(other, id);
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    if (at === id) return cycleRefused(cycleBack(cameFrom, id));
    for (const other of taskOf(ledger, run, at)?.dependencies ?? []) {
      if (cameFrom.has(other)) continue;
      cameFrom.set(other, at);
      queue.push(other);
    }
  }
  return null;
}

/** The round from the task back to itself, each waiting for the next. */
function cycleBack(cameFrom: ReadonlyMap<string, string>, id: string): string[] {
  const cycle = [id];
  for (let at = cameFrom.get(id); at !== undefined && at !== id; at = cameFrom.get(at)) cycle.push(at);
  return [id, ...cycle.slice(1).reverse()];
}

function cycleRefused(cycle: string[]): Denied {
  const shown = [...cycle.slice(0, 10), ...(cycle.length > 10 ? ['…'] : []), cycle[0] ?? ''].join(' → ');
  const reason = `These tasks would wait for each other: ${shown}; drop one of the dependencies.`;
  return deny('LEDGER_INCONSISTENT', reason, { cycle: cycle.slice(0, 1000) });
}

/** Whether the ledger of a run is consistent, asked before every round of assignments. All faults are listed. */
const LISTED_MAX = 100;

/** A run of which nothing is suspect is not walked through. */
export function refusalOfInconsistency(ledger: Ledger, run: string): Denied | null {
  const { suspects = {}, missing = {} } = runOf(ledger, run)?.index ?? {};
  if (isEmpty(suspects) && isEmpty(missing)) return null;
  const issues = inconsistencies(ledger, run);
  const [first] = issues;
  if (!first) return null;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const reason = `The ledger does not hold together: ${String(first.message)}${more}; nothing is assigned until it does.`;
  return deny('LEDGER_INCONSISTENT', reason, { issues: issues.slice(0, LISTED_MAX), count: issues.length });
}

/** Everything that is wrong with the rows and locks of a run. */
export function inconsistencies(ledger: Ledger, run: string): readonly JsonObject[] {
  const tasks = tasksOf(ledger, run);
  const running = tasks.filter(({ status }) => status === 'in_progress').length;
  const counted = runOf(ledger, run)?.running ?? 0;
  return [
    ...tasks.flatMap((task) => wrongWith(ledger, task).map((message) => ({ task: task.id, message }))),
    ...(running === counted
      ? []
      : [{ task: null, message: `${running} tasks are in progress, and ${counted} were counted` }]),
    ...unknownDependencies(ledger, run).map(({ task, depends_on }) => {
      const message = `${task} depends on ${depends_on}, which is not in the ledger; create it, or cancel ${task}`;
      return { task, depends_on, message };
    }),
  ];
}

/** What does not fit the status of a task, its claim and its locks. */
export function wrongWith(ledger: Ledger, task: Task): readonly string[] {
  const { id, run, status, fence, owner } = task;
  const held = locksOf(ledger.locks, keyOf(task));
  if (status !== 'in_progress') {
    const found = held.slice(0, 1).map(({ path }) => `${id} is ${status} and still holds ${spokenPath(path)}`);
    return fence === null ? found : [...found, `${id} is ${status} and still has a claim`];
  }
  const found: string[] = [];
  if (fence === null) found.push(`${id} is in progress without a claim`);
  if (owner === '') found.push(`${id} is in progress and has no owner`);
  if (held.length < locksToTake(task).length) found.push(`${id} is in progress and lacks locks of its scope`);
  for (const lock of held) {
    const rival = rivalOf(ledger.locks, { ...lock, task: keyOf(task) });
    const other = rival && ledger.tasks[rival.task];
    if (other && !(task.sequential && other.run === run))
      found.push(`${id} and ${other.id} both hold ${spokenPath(lock.path)}`);
  }
  for (const dependency of task.dependencies) {
    const other = taskOf(ledger, run, dependency)?.status ?? 'not in the ledger';
    if (other !== 'done') found.push(`${id} is in progress, and ${dependency}, which it depends on, is ${other}`);
  }
  return found;
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

/** Looks at each run once, so that it holds for as long as nothing is written. */
export function soundnessOf(ledger: Ledger): Soundness {
  const known = new Map<string, boolean>();
  return (run) => {
    const isSound = known.get(run) ?? refusalOfInconsistency(ledger, run) === null;
    known.set(run, isSound);
    return isSound;
  };
}
