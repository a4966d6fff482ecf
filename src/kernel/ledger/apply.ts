// What each fact changes in the ledger, in place. There are no rules here, and nothing can fail.
import { type ByKind, rowFor } from '../by-kind.ts';
import { canonicalJson, isObject, isString, type JsonObject } from '../json.ts';
import { fingerprint } from '../text.ts';
import type { LedgerFact } from './fact.ts';
import { addLock, compared, type LockTree, put, removeLocks, withLinks } from './lock-tree.ts';
import {
  dependenciesMet,
  indexFiles,
  indexTask,
  noteDependencies,
  unrank,
  watchHolder,
  watchTask,
} from './run-index.ts';
import {
  fenceKey,
  isTerminal,
  keyOf,
  type Ledger,
  NOT_WAITING,
  nameKey,
  newRun,
  newTask,
  type Run,
  runOf,
  type Task,
  type TaskSpec,
  taskKey,
  taskOf,
  UNASSIGNED,
} from './state.ts';

const ROWS: ByKind<LedgerFact, [ledger: Ledger], [at: number]> = {
  'task.created': created,
  'task.refused': refused,
  'task.claimed': (ledger, fact, at) => ofTask(ledger, fact, (run, task) => claimed(ledger, run, task, fact, at)),
  'task.moved': (ledger, fact, at) =>
    ofTask(ledger, fact, (run, task) => fact.replay || moved(ledger, run, task, fact, at)),
  'worklog.added': (ledger, fact) =>
    ofTask(ledger, fact, (_run, task) => {
      task.worklog = { entries: task.worklog.entries + 1, code: isString(fact.entry.code) ? fact.entry.code : null };
    }),
  'deltas.applied': (ledger, { run: name, deltas }) => {
    const run = runOf(ledger, name);
    for (const delta of deltas) {
      if (run && isString(delta.delta_id)) run.deltas[nameKey(delta.delta_id)] = canonicalJson(delta);
    }
    forgetTexts(run);
  },
  'ledger.configured': (ledger, { foldCase }) => compareAgain(ledger, { foldCase }),
  'ledger.linked': (ledger, { root, links }) =>
    compareAgain(ledger, { links: withLinks(ledger.locks.links, root, links) }),
  'ledger.held': (ledger, { by, reason }) => {
    ledger.hold = { by, reason };
  },
  'ledger.unheld': (ledger) => {
    ledger.hold = null;
  },
};

export function applyLedger(ledger: Ledger, fact: LedgerFact, at: number): Ledger {
  rowFor(ROWS, fact)?.(ledger, fact, at);
  return ledger;
}

/** A fact about a task that the ledger does not know changes nothing. */
function ofTask(
  ledger: Ledger,
  { run: name, task: id }: { readonly run: string; readonly task: string },
  change: (run: Run, task: Task) => unknown,
): void {
  const [task, run] = [taskOf(ledger, name, id), runOf(ledger, name)];
  if (task && run) change(run, task);
}

/** Locks that did not meet before may meet now. */
function compareAgain(ledger: Ledger, how: Partial<Pick<LockTree, 'foldCase' | 'links'>>): void {
  ledger.locks = compared(ledger.locks, how);
  for (const key of Object.keys(ledger.locks.held)) watchHolder(ledger, key);
}

/** A cast's run is there from its start, and knows that it is a cast's. */
export function openRun(ledger: Ledger, id: string, runId: string): void {
  if (!runOf(ledger, id)) ledger.runs[nameKey(id)] = newRun(id, { runId, cast: true });
}

/** The tasks of a list, made together: what a row does not say is as the common specification has it. */
export function planTasks(
  ledger: Ledger,
  run: string,
  tasks: readonly string[],
  spec: TaskSpec,
  rows: readonly Partial<TaskSpec>[],
): void {
  const row = { owner: UNASSIGNED, reason: 'planned', notBefore: null };
  for (const [index, task] of tasks.entries()) {
    created(ledger, { kind: 'task.created', run, task, ...row, spec: { ...spec, ...rows[index] } });
  }
}

type Of<K extends LedgerFact['kind']> = Extract<LedgerFact, { kind: K }>;

function created(ledger: Ledger, { run: name, task: id, spec, ...row }: Of<'task.created'>): void {
  let run = runOf(ledger, name);
  if (!run) {
    run = newRun(name, { runId: name, cast: false });
    ledger.runs[nameKey(name)] = run;
  }
  if (spec.assigned) run.counts.packets += 1;
  const existing = taskOf(ledger, name, id);
  if (existing) {
    indexFiles(run, existing, -1);
    unrank(run, existing);
    Object.assign(existing, spec);
  } else {
    ledger.created += 1;
    run.tasks.push(id);
    run.open += 1;
    ledger.tasks[taskKey(name, id)] = newTask(spec, {
      run: name,
      id,
      order: ledger.created,
      owner: row.owner,
      reason: row.reason,
      notBefore: row.notBefore,
    });
  }
  const task = taskOf(ledger, name, id);
  if (!task) return;
  indexFiles(run, task, 1);
  noteDependencies(ledger, run, task);
  index(ledger, run, task);
  watchTask(ledger, run, task);
}

function refused(ledger: Ledger, { run: name, task: id, asked, code }: Of<'task.refused'>, at: number): void {
  const run = runOf(ledger, name);
  if (!run) return;
  run.counts.denies[code] = (run.counts.denies[code] ?? 0) + 1;
  if (asked === 'create') run.counts.packetsRefused += 1;
  if (code !== 'LOCK_CONFLICT') return;
  run.counts.conflicts += 1;
  const task = taskOf(ledger, name, id);
  if (!task || task.status === 'in_progress') return;
  Object.assign(task, {
    passedOver: task.passedOver + 1,
    waitingSince: task.waitingSince ?? at,
    refusedAt: at,
  });
  index(ledger, run, task);
}

function claimed(ledger: Ledger, run: Run, task: Task, fact: Of<'task.claimed'>, at: number): void {
  const key = keyOf(task);
  removeLocks(ledger.locks, key);
  for (const lock of fact.locks) addLock(ledger.locks, { ...lock, task: key });
  ledger.fence = Math.max(ledger.fence, fact.fence);
  forgetFence(ledger, task);
  put(ledger.fences, fenceKey(fact.fence), key);
  if (task.status !== 'in_progress') run.running += 1;
  if (task.type === 'serial') run.serial = task.id;
  run.counts.dispatches += 1;
  if (task.retries > 0) run.counts.retries += 1;
  Object.assign(task, {
    status: 'in_progress',
    owner: fact.owner,
    version: task.version + 1,
    fence: fact.fence,
    lastFence: fact.fence,
    code: null,
    reason: '',
    notBefore: null,
    claimedAt: at,
    worklog: { entries: task.worklog.entries, code: null },
    ...NOT_WAITING,
  } satisfies Partial<Task>);
  index(ledger, run, task);
  watchHolder(ledger, key);
}

function moved(ledger: Ledger, run: Run, task: Task, fact: Of<'task.moved'>, at: number): void {
  const { to, owner, code, reason, retries, notBefore } = fact;
  const isMove = to !== task.status;
  if (fact.releases) removeLocks(ledger.locks, keyOf(task));
  if (isMove && task.status === 'in_progress') left(run, task, fact, at);
  Object.assign(task, { owner, code, reason, retries, notBefore, version: task.version + 1 } satisfies Partial<Task>);
  if (isMove) forgetFence(ledger, task);
  if (isMove) Object.assign(task, { status: to, fence: null, claimedAt: null, ...NOT_WAITING } satisfies Partial<Task>);
  index(ledger, run, task);
  watchTask(ledger, run, task);
  if (isMove && to === 'done') dependenciesMet(ledger, run, task);
  if (isMove && isTerminal(to)) {
    const { result } = fact.evidence ?? {};
    if (isObject(result)) task.result = fingerprintOf(result);
    run.open -= 1;
    forgetTexts(run);
  }
}

/** Of what a result says: when it was written is no part of that. */
export function fingerprintOf({ generated_at: _, ...result }: JsonObject): string {
  return fingerprint(canonicalJson(result));
}

function forgetFence(ledger: Ledger, { fence }: Task): void {
  if (fence !== null) delete ledger.fences[fenceKey(fence)];
}

/** The task is no longer in progress. */
function left(run: Run, task: Task, { to }: Of<'task.moved'>, at: number): void {
  const { counts } = run;
  run.running -= 1;
  if (run.serial === task.id) run.serial = null;
  if (to === 'canceled') return;
  if (task.retries === 0) counts.firstAttempts += 1;
  if (to !== 'done') return;
  if (task.retries === 0) counts.firstPasses += 1;
  else counts.retriesDone += 1;
  if (task.type !== 'parallelizable' || task.claimedAt === null) return;
  counts.timed += 1;
  counts.timedMs += Math.max(0, at - task.claimedAt);
}

/** Of a run in which nothing is open it is enough to know which deltas there were. */
function forgetTexts(run: Run | undefined): void {
  if (!run || run.open > 0) return;
  for (const key of Object.keys(run.deltas)) run.pastDeltas[key] = true;
  run.deltas = {};
}

function index(ledger: Ledger, run: Run, task: Task): void {
  const key = keyOf(task);
  if (task.status === 'todo' && task.assigned) put(ledger.ready, key, true);
  else delete ledger.ready[key];
  if (task.passedOver > 0) put(ledger.waiting, key, true);
  else delete ledger.waiting[key];
  indexTask(ledger, run, task);
}
