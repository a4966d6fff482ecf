// The checks before a task and after it, for scripts.
import { lstatSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseJsonText } from '../../dialects/json-text.ts';
import { gateLockUpdate, gatePostExecution, gatePreComplete, gatePreDispatch } from '../../dialects/operator/gates.ts';
import { takeResult } from '../../dialects/operator/read.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { normalPath } from '../../kernel/ledger/path.ts';
import { runOf, type Task, tasksOf } from '../../kernel/ledger/state.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { readText } from '../../workspace/load-config.ts';
import { folderOf, jsonText, ledgerSession, runCalled } from '../ledger-session.ts';
import type { Context } from '../operation.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Workspace } from '../workspace.ts';
import type { GATE_NAMES } from './ledger.ts';
import type { Operation } from './table.ts';

/** A report that is older tells of something else than the work that ends now. */
const FRESH_MS = 60_000;

type Gate = (workspace: Workspace, payload: Json, context: Context) => Verdict | Promise<Verdict>;

const GATES: Readonly<Record<(typeof GATE_NAMES)[number], Gate>> = {
  'pre-dispatch': (_, payload) => gatePreDispatch(payload),
  'pre-complete': (_, payload) => gatePreComplete(payload),
  'post-execution': ({ dir }, payload) => gatePostExecution(payload, { isFile: (path) => isFileIn(dir, path) }),
  'lock-update': (_, payload) => gateLockUpdate(payload),
  stop,
};

export const runGate: Operation<'gate'> = async (workspace, { name, payload }, context) => {
  const parsed = parseJsonText(jsonText(payload));
  if (parsed.ok) return GATES[name](workspace, parsed.value, context);
  const place = { path: '$', line: parsed.line, column: parsed.column };
  return deny('SCHEMA_INVALID', `The payload is not JSON: ${parsed.message}.`, place);
};

function isFileIn(dir: string, path: string): boolean {
  const normal = normalPath(path);
  if (!normal.ok) return false;
  const file = resolve(dir, normal.path);
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * Whether an agent may stop: not while a task of its is in progress, unless a fresh report of that very task lies where
 * the task says. `{task_id?, run_id?, owner?, report_path?}` says whose tasks are meant; without it, all of them are.
 */
async function stop(workspace: Workspace, payload: Json, context: Context): Promise<Verdict> {
  if (!isObject(payload))
    return deny('SCHEMA_INVALID', 'The payload is not usable: expected a JSON object.', { path: '$' });
  for (const name of ['task_id', 'run_id', 'owner', 'report_path']) {
    const given = payload[name];
    if (given === undefined || isText(given)) continue;
    return deny('SCHEMA_INVALID', `${name} must be a string that is not blank, or be left out.`, { path: name });
  }
  if (!workspace.hasLog()) return refusalOfAbsent(payload, []) ?? allow('no task is in progress');
  const { store, actor } = ledgerSession(workspace, context);
  const named = isString(payload.run_id) ? payload.run_id : undefined;
  const run =
    named === undefined
      ? undefined
      : ((await store.look((ledger) => runCalled(ledger, named, actor.attempt?.cast))) ?? named);
  const ledger = await store.view('ledger', run);
  // A cast looks after its own tasks, and its agents may stop. A task that is named is checked all the same.
  const isByName = payload.task_id !== undefined;
  const runs = Object.values(ledger.runs).filter(({ id, cast }) =>
    run === undefined ? isByName || !cast : id === run,
  );
  const all = runs.flatMap(({ id }) => tasksOf(ledger, id));
  const unknown = await refusalOfUnknown(store, payload, all);
  if (unknown) return unknown;
  const tasks = all.filter((task) => isMeant(task, payload));
  for (const task of tasks) {
    const runId = runOf(ledger, task.run)?.runId ?? task.run;
    const refusal = refusalOfReport(task, runId, folderOf(task, workspace), payload);
    if (refusal) return refusal;
  }
  return allow(tasks.length === 0 ? 'no task is in progress' : 'every task has its report', {
    tasks: tasks.map(({ id }) => id),
  });
}

/** Refuses an unknown task or run: a typing mistake must not let an agent stop. */
async function refusalOfUnknown(
  store: Pick<WorkspaceStore, 'read'>,
  payload: JsonObject,
  all: readonly Task[],
): Promise<Verdict | null> {
  const { task_id: task, run_id: run } = payload;
  const absent = refusalOfAbsent(payload, all);
  if (!absent || run !== undefined) return absent;
  // A task whose run is over is not in the present ledger, and keeps no agent from stopping.
  const past = await store.read({ after: 0, task: String(task), kindPrefix: 'task.claimed' });
  return past.length > 0 ? null : absent;
}

function refusalOfAbsent({ task_id: task, run_id: run }: JsonObject, all: readonly Task[]): Verdict | null {
  const no = (what: string) => deny('LEDGER_INCONSISTENT', `There is no ${what} in the ledger; correct the id.`);
  if (run !== undefined && all.length === 0) return no(`run ${JSON.stringify(run)}`);
  if (task === undefined || all.some(({ id }) => id === task)) return null;
  return no(`task ${JSON.stringify(task)}`);
}

function isMeant({ status, id, owner }: Task, { task_id, owner: asking }: JsonObject): boolean {
  return (
    status === 'in_progress' && (task_id === undefined || task_id === id) && (asking === undefined || asking === owner)
  );
}

function refusalOfReport(task: Task, runId: string, root: string, { report_path: given }: JsonObject): Verdict | null {
  const { run, id, owner } = task;
  const path = task.reportPath ?? (isString(given) ? given : null);
  const details = { run, task: id, owner, report_path: path };
  const no = (why: string) => deny('NON_COMPLIANT', `${id} is in progress: ${why}.`, details);
  if (path === null) return no('finish it, or move it to blocked, before you stop');
  const normal = normalPath(path);
  const file = normal.ok ? join(root, normal.path) : '';
  const stat = normal.ok ? statSync(file, { throwIfNoEntry: false }) : undefined;
  if (!stat?.isFile()) return no(`its report ${path} is not there; write it before you stop`);
  if (Date.now() - stat.mtimeMs > FRESH_MS)
    return no(`its report ${path} is older than ${FRESH_MS / 1000} s; write it again`);
  const taken = takeResult(readText(file));
  if (!taken.ok) return { ...taken.refusal, details: { ...taken.refusal.details, ...details } };
  const isIts = taken.payload.task_id === id && taken.payload.run_id === runId;
  return isIts ? null : no(`the report ${path} is that of another task`);
}
