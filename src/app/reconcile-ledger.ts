// Whether the live ledger, its locks and its events tell the same story, run by run.
import { validateReconcile } from '../dialects/operator/reconcile.ts';
import { beats } from '../engine/heartbeat.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { fileKeyIn, siteOf } from '../kernel/ledger/lock-tree.ts';
import { conflictsAmong } from '../kernel/ledger/path.ts';
import { type Ledger, type TaskStatus, taskKey } from '../kernel/ledger/state.ts';
import { heldLocks, isNamedByContract, ledgerRows, lockRows } from '../kernel/ledger/wire.ts';
import { allow, deny, type Verdict } from '../kernel/verdict.ts';
import { heardIn, type LedgerSession, refusePayload } from './ledger-session.ts';

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
  const heard = await beats(store.log);
  const issues: JsonObject[] = [];
  const counts = { task_count: 0, active_lock_count: 0, event_count: 0 };
  for (const run of runs) {
    const payload = {
      ledger: ledgerRows(ledger, run, heardIn(run, heard)).filter(({ task_id }) => isNamedByContract(String(task_id))),
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
