// Writing the worklog of a task to its file. The log is held meanwhile: nobody adds an entry, and no other process writes
// the same file, so that lines stand in the order of their facts and are never torn.
import type { Log } from '../engine/ports.ts';
import type { Store } from '../engine/store.ts';
import type { Entry } from '../kernel/fact.ts';
import { runOf, type Task, tasksOf } from '../kernel/ledger/state.ts';
import { logFileIn, SqliteLog } from '../log/sqlite/log.ts';
import type { Workspace } from '../workspace/locate.ts';
import { syncWorklog, type Written, worklogLines } from '../workspace/worklog-file.ts';
import { folderOf } from './ledger-session.ts';

type Place = {
  readonly log: Log;
  readonly workspace: Workspace;
  readonly note: (line: string) => void;
};

/** Null where there is nothing to write yet. */
export async function writeWorklog(
  { log, workspace, note }: Place,
  task: Task,
  runId: string = task.run,
): Promise<Written | null> {
  const { run, id, worklogPath: path } = task;
  const before = (await log.head()).seq;
  const entries = await factsOf(log, task);
  const after = Math.max(before, entries.at(-1)?.seq ?? 0);
  let written: Written | null = null;
  const decide = (tail: readonly Entry[]) => {
    const lines = worklogLines([...entries, ...tail.filter((entry) => isAbout(entry, task))], runId);
    const place = { root: folderOf(task, workspace), path, stateDir: workspace.stateDir, run, task: id };
    if (lines.length > 0) written = syncWorklog(place, lines);
    return [];
  };
  await log.commit(after, { decide });
  const result = written as Written | null;
  if (result?.found)
    note(`${result.file} was changed by somebody else; it was written anew. What it held: ${result.found}`);
  return result;
}

/** The worklogs of the tasks that a cast was assigned, as far as there is anything in them. */
export async function writeWorklogsOf(
  cast: string,
  store: Store,
  workspace: Workspace,
  note: Place['note'],
): Promise<void> {
  const ledger = await store.view('ledger', cast);
  const runId = runOf(ledger, cast)?.runId ?? cast;
  const tasks = tasksOf(ledger, cast).filter(({ worklogPath }) => worklogPath !== '');
  if (tasks.length === 0) return;
  const log = new SqliteLog(logFileIn(workspace.stateDir));
  try {
    for (const task of tasks) await writeWorklog({ log, workspace, note }, task, runId);
  } finally {
    await log.close();
  }
}

/** The facts about one task, oldest first. */
export async function factsOf(log: Pick<Log, 'read'>, task: Pick<Task, 'run' | 'id'>): Promise<readonly Entry[]> {
  return (await log.read({ after: 0, task: task.id })).filter((entry) => isAbout(entry, task));
}

function isAbout({ fact }: Entry, { run, id }: Pick<Task, 'run' | 'id'>): boolean {
  return 'run' in fact && 'task' in fact && fact.run === run && fact.task === id;
}
