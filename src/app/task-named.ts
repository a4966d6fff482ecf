// A task by its id, and the name by which payloads call its run.
import { findTask, runOf, type Task } from '../kernel/ledger/state.ts';
import { type LedgerSession, ledgerFor } from './ledger-session.ts';
import { Refused } from './refused.ts';

export async function taskNamed(
  session: LedgerSession,
  id: string,
  word: string | undefined,
): Promise<{ readonly task: Task; readonly runId: string }> {
  const { ledger, run } = await ledgerFor(session, word);
  const found = findTask(ledger, { task: id, ...(run === undefined ? {} : { run }) });
  if (!found.ok) throw new Refused(found.refusal);
  return { task: found.task, runId: runOf(ledger, found.task.run)?.runId ?? found.task.run };
}
