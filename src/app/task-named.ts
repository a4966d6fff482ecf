// Tasks by id, the name of a run in payloads, and the process that works on a task.
import { driverWith } from '../engine/driver.ts';
import type { BeatProcess } from '../kernel/ledger/move.ts';
import { findTask, runOf, type Task } from '../kernel/ledger/state.ts';
import { UsageError } from '../workspace/usage-error.ts';
import { type LedgerSession, runWanted } from './ledger-session.ts';
import { Refused } from './refused.ts';

export async function taskNamed(
  session: LedgerSession,
  id: string,
  word: string | undefined,
): Promise<{ readonly task: Task; readonly runId: string }> {
  const run = await runWanted(session, word);
  return session.store.look((ledger) => {
    const found = findTask(ledger, { task: id, ...(run === undefined ? {} : { run }) });
    if (!found.ok) throw new Refused(found.refusal);
    return { task: { ...found.task }, runId: runOf(ledger, found.task.run)?.runId ?? found.task.run };
  }, run);
}

export function workerNamed(pid: number | undefined): BeatProcess | undefined {
  if (pid === undefined) return undefined;
  const worker = driverWith(pid);
  if (worker === null) throw new UsageError(`there is no process ${pid}; --pid names the one that works on the task`);
  return worker;
}
