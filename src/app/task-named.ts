// A task by its id, and the name by which payloads call its run.
import { findTask, runOf, type Task } from '../kernel/ledger/state.ts';
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
