// What `apply` keeps beside the tasks of a run, so that no rule has to walk over all of them: a question costs the same with
// twenty tasks as with twenty thousand. All of it follows from the facts and can be told from them again.
import { wrongWith } from './inconsistency.ts';
import { put } from './large-record.ts';
import { locksOf, rivalsOf } from './lock-tree.ts';
import { place } from './order-tree.ts';
import { type Ledger, nameKey, type RankTree, type Run, type RunIndex, runOf, type Task, taskOf } from './state.ts';
import { filesOf } from './task-file.ts';
import { isTerminal } from './transition.ts';

export function newRunIndex(): RunIndex {
  return {
    open: {},
    atWork: {},
    startable: newRankTree(),
    unmet: newRankTree(),
    unassigned: {},
    dependents: {},
    missing: {},
    suspects: {},
    files: {},
  };
}

export function fenceKey(fence: number): string {
  return nameKey(String(fence));
}

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

/** Where the task stands by its status. */
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

/** The same for a holder of locks and all that are in its way: what is wrong with the one is wrong with the others. */
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

function newRankTree(): RankTree {
  return { low: {}, normal: {}, high: {}, critical: {} };
}
