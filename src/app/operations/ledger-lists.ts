// What the ledger holds: tasks, locks, all of one run, and whether it is consistent.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beats } from '../../engine/heartbeat.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { Budget } from '../../kernel/graph/config.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { tasksOf, workRuns } from '../../kernel/ledger/state.ts';
import { bundleOf, heldLocks, ledgerRows } from '../../kernel/ledger/wire.ts';
import { allow } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { heardIn, type LedgerSession, ledgerFor, ledgerSession, onlyRun, runWanted } from '../ledger-session.ts';
import { reconcile } from '../reconcile-ledger.ts';
import type { Operation } from './table.ts';

/** The rows of the ledger. */
export const taskList: Operation<'task.list'> = async (workspace, { run, status }, context) => {
  const rows = workspace.hasLog() ? await rowsOf(ledgerSession(workspace, context), run) : [];
  const tasks = rows.filter((row) => status === undefined || row.status === status);
  return allow(`${tasks.length} tasks`, { tasks });
};

async function rowsOf(session: LedgerSession, word: string | undefined): Promise<readonly JsonObject[]> {
  const [run, heard] = [await runWanted(session, word), await beats(session.store.log)];
  return session.store.look((ledger) => {
    const runs = run === undefined ? workRuns(ledger) : Object.values(ledger.runs).filter(({ id }) => id === run);
    if (run !== undefined && runs.length === 0) throw new UsageError(`there is no run ${run}`);
    return runs.flatMap(({ id }) =>
      ledgerRows(ledger, id, heardIn(id, heard)).map((row): JsonObject => ({ run_id: id, ...row })),
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
  const heartbeats = heardIn(run, await beats(store.log));
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
