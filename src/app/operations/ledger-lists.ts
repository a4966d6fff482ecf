// What the ledger holds: tasks, locks, all of one run, and whether ledger, locks and events agree.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { validateReconcile } from '../../dialects/operator/reconcile.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { Budget } from '../../kernel/graph/config.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { fileKeyIn, siteOf } from '../../kernel/ledger/lock-tree.ts';
import { conflictsAmong } from '../../kernel/ledger/path.ts';
import { type Ledger, type TaskStatus, taskKey, tasksOf, workRuns } from '../../kernel/ledger/state.ts';
import { bundleOf, heldLocks, isNamedByContract, ledgerRows, lockRows } from '../../kernel/ledger/wire.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import {
  heardIn,
  type LedgerSession,
  ledgerFor,
  ledgerSession,
  onlyRun,
  refusePayload,
  runWanted,
} from '../ledger-session.ts';
import type { WorkspaceStore } from '../store.ts';
import { socketNames, withSocketNames } from '../views/in-words.ts';
import type { Operation } from './table.ts';

/** The rows of the ledger. */
export const taskList: Operation<'task.list'> = async (workspace, { run, status }, context) => {
  const rows = workspace.hasLog() ? await rowsOf(ledgerSession(workspace, context), run) : [];
  const tasks = rows.filter((row) => status === undefined || row.status === status);
  const named = tasks.length === 0 ? [] : await withNames(ledgerSession(workspace, context).store, tasks);
  return allow(`${tasks.length} tasks`, { tasks: named });
};

/** A reason that names sockets by their ids is repeated as `why`, with their names. */
async function withNames(store: WorkspaceStore, rows: readonly JsonObject[]): Promise<readonly JsonObject[]> {
  return Promise.all(
    rows.map(async (row) => {
      const reason = String(row.reason);
      if (!reason.includes('Socket-')) return row;
      const cast = await store.view('cast', String(row.run_id));
      return cast ? { ...row, why: withSocketNames(reason, socketNames(cast.rules)) } : row;
    }),
  );
}

async function rowsOf(session: LedgerSession, word: string | undefined): Promise<readonly JsonObject[]> {
  const [run, beats] = [await runWanted(session, word), await session.store.view('beats')];
  return session.store.look((ledger) => {
    const runs = run === undefined ? workRuns(ledger) : Object.values(ledger.runs).filter(({ id }) => id === run);
    if (run !== undefined && runs.length === 0) throw new UsageError(`there is no run ${run}`);
    return runs.flatMap(({ id }) =>
      ledgerRows(ledger, id, heardIn(id, beats)).map((row): JsonObject => ({ run_id: id, ...row })),
    );
  }, run);
}

/** Who holds which paths, and who held them. */
export const lockList: Operation<'lock.list'> = async (workspace, { run, history = false }, context) => {
  const locks = workspace.hasLog() ? await lockRowsOf(ledgerSession(workspace, context), run, history) : [];
  return allow(`${locks.length} locks`, { locks });
};

async function lockRowsOf(
  session: LedgerSession,
  word: string | undefined,
  withHistory: boolean,
): Promise<readonly JsonObject[]> {
  const run = await runWanted(session, word);
  const held = (await session.store.look((ledger) => heldLocks(ledger, run), run)).map((lock) => ({
    ...lock,
    since: lock.since === null ? null : new Date(lock.since).toISOString(),
    active: true,
  }));
  if (!withHistory) return held;
  const about = run === undefined ? {} : { cast: run };
  return [...releasedIn(await session.store.read({ after: 0, kindPrefix: 'task.', ...about })), ...held];
}

/** The locks that were given back, in the order in which they were. */
function releasedIn(facts: readonly Entry[]): readonly JsonObject[] {
  const open = new Map<
    number,
    { readonly at: string; readonly fact: Extract<Entry['fact'], { kind: 'task.claimed' }> }
  >();
  const released: JsonObject[] = [];
  const release = (fence: number | undefined, until: string) => {
    const claim = fence === undefined ? undefined : open.get(fence);
    if (!claim || fence === undefined) return;
    open.delete(fence);
    const { run, task, owner, locks } = claim.fact;
    for (const lock of locks)
      released.push({ run, task, owner, fence, ...lock, since: claim.at, until, active: false });
  };
  for (const { at, fact } of facts) {
    if (fact.kind === 'task.moved') release(fact.fence, at);
    if (fact.kind !== 'task.claimed') continue;
    release(fact.replaces, at);
    open.set(fact.fence, { at, fact });
  }
  return released;
}

/** All that a new session needs to go on with a run, without the conversation that came before. */
export const freshBundle: Operation<'bundle'> = async (workspace, input, context) => {
  const session = ledgerSession(workspace, context);
  const { store } = session;
  const { ledger, run: named } = await ledgerFor(session, input.run);
  const run = onlyRun(workspace, ledger, named);
  const heartbeats = heardIn(run, await store.view('beats'));
  const cast = await store.view('cast', run);
  const held = ledger.hold === null ? {} : { held: `${ledger.hold.by}: ${ledger.hold.reason}` };
  const constraints = { ...(cast ? limitsOf(cast.rules.budget) : {}), ...held };
  const isStated = tasksOf(ledger, run).some((task) => task.objective !== '');
  const objective = input.objective ?? (isStated ? '' : (cast?.request ?? ''));
  const bundle = bundleOf(ledger, run, objective, { constraints, heartbeats, at: Date.now() });
  if (input.output === undefined) return allow(`the bundle of ${run}`, { bundle });
  const file = resolve(workspace.cwd, input.output);
  writeFileSync(file, `${JSON.stringify(bundle, null, 2)}\n`);
  return allow(`the bundle of ${run} is in ${file}`, { run, file });
};

/** What a cast may use, as far as anybody has set a limit. */
function limitsOf({ maxTokens, maxCost, maxDurationMs }: Budget): JsonObject {
  const limits = Object.entries({ maxTokens, maxCost, maxDurationMs }).filter(([, limit]) => limit !== null);
  return limits.length === 0 ? {} : { budget: Object.fromEntries(limits) };
}

/** Whether ledger, locks and events agree; everything that does not fit is listed. */
export const reconcileRun: Operation<'reconcile'> = async (workspace, input, context) => {
  const nothing = { task_count: 0, active_lock_count: 0, event_count: 0, runs: [] };
  if (!workspace.hasLog()) return allow('there is no ledger yet', nothing);
  const session = ledgerSession(workspace, context);
  const { ledger, run } = await ledgerFor(session, input.run);
  const all = Object.values(ledger.runs).map(({ id }) => id);
  return reconcile(session, ledger, run === undefined ? all : [onlyRun(workspace, ledger, run)]);
};

/** All issues of all these runs, each with its run. That there are any is written down. */
export async function reconcile(
  session: Pick<LedgerSession, 'store' | 'actor'>,
  ledger: Ledger,
  runs: readonly string[],
): Promise<Verdict> {
  const verdict = await disagreements(session, ledger, runs);
  if (verdict.allow) return verdict;
  const { code, reason, details } = verdict;
  const issues = Array.isArray(details.issues) ? details.issues : [];
  const kept = deny(code, reason, { ...details, runs: runs.slice(0, NOTED_MAX), issues: issues.slice(0, NOTED_MAX) });
  const [only = '', another] = runs;
  await refusePayload(session, 'reconcile', {
    ok: false,
    refusal: kept,
    subject: { run: another === undefined ? only : '', task: '' },
  });
  return verdict;
}

/** So many issues are kept with the refusal; the answer has all of them. */
const NOTED_MAX = 20;

async function disagreements(
  { store }: Pick<LedgerSession, 'store'>,
  ledger: Ledger,
  runs: readonly string[],
): Promise<Verdict> {
  const beats = await store.view('beats');
  const issues: JsonObject[] = [];
  const counts = { task_count: 0, active_lock_count: 0, event_count: 0 };
  for (const run of runs) {
    const payload = {
      ledger: ledgerRows(ledger, run, heardIn(run, beats)).filter(({ task_id }) => isNamedByContract(String(task_id))),
      active_locks: lockRows(ledger, { run }),
      events: await eventsOf(store, run),
    };
    counts.task_count += payload.ledger.length;
    counts.active_lock_count += payload.active_locks.length;
    counts.event_count += payload.events.length;
    const verdict = validateReconcile(payload);
    const found = Array.isArray(verdict.details.issues) ? verdict.details.issues.filter(isObject) : [];
    for (const issue of found) issues.push({ run, ...issue });
  }
  issues.push(...overlapsBetweenRuns(ledger));
  const [first] = issues;
  if (!first) return allow('ledger, locks and events agree', { ...counts, runs });
  const more = issues.length === 1 ? '' : ` (and ${issues.length - 1} more)`;
  return deny('LEDGER_INCONSISTENT', `${String(first.message)}${more}.`, { ...counts, runs, issues });
}

/**
 * The moves of a run, as the contract writes them. A claim moves its task, too, unless the task was in progress already. What
 * only changes the other fields of a row is no move.
 */
async function eventsOf(store: LedgerSession['store'], run: string): Promise<readonly JsonObject[]> {
  const status = new Map<string, TaskStatus>();
  return (await store.read({ after: 0, cast: run })).flatMap(({ at, by, fact }): JsonObject[] => {
    if (fact.kind !== 'task.moved' && fact.kind !== 'task.claimed') return [];
    const { task } = fact;
    if (!isNamedByContract(task)) return [];
    const from = fact.kind === 'task.moved' ? fact.from : (status.get(task) ?? 'todo');
    const to = fact.kind === 'task.moved' ? fact.to : 'in_progress';
    const reason = fact.kind === 'task.moved' ? fact.reason : `claimed by ${fact.owner}`;
    status.set(task, to);
    if (from === to && !(fact.kind === 'task.moved' && fact.replay)) return [];
    return [{ task_id: task, from_state: from, to_state: to, actor: by, reason, created_at: at }];
  });
}

/** Runs share the paths of a tree: two tasks of different runs must not write to the same place either. */
function overlapsBetweenRuns(ledger: Ledger): readonly JsonObject[] {
  const locks = heldLocks(ledger).filter(({ mode }) => mode === 'write');
  const trees = Map.groupBy(locks, ({ root }) => siteOf(root).tree);
  return [...trees.values()].flatMap((own) => {
    const claims = own.map(({ run, task, root, path }) => ({
      holder: taskKey(run, task),
      path: fileKeyIn(ledger.locks, root)(path),
    }));
    return conflictsAmong(claims).pairs.flatMap(([first, second]) => {
      const [a, b] = [own[first], own[second]];
      if (!a || !b || a.run === b.run) return [];
      const message = `${a.task} and ${b.task} of another run hold overlapping paths`;
      const conflict = { conflict_run: b.run, conflict_task_id: b.task, conflict_resource: b.path };
      return [{ run: a.run, code: 'LOCK_CONFLICT', message, task_id: a.task, resource: a.path, ...conflict }];
    });
  });
}
