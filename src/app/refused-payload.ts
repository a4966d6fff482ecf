// A payload that does not keep its contract never reaches the ledger's rules; that it came, and why it was refused, is
// written down all the same, with the task it is about where it says so.
import type { Intake } from '../dialects/operator/read.ts';
import type { Asked } from '../kernel/ledger/fact.ts';
import type { Verdict } from '../kernel/verdict.ts';
import type { LedgerSession } from './ledger-session.ts';

export async function refusePayload(
  { store, actor }: Pick<LedgerSession, 'store' | 'actor'>,
  asked: Asked,
  { refusal, subject }: Extract<Intake<unknown>, { ok: false }>,
): Promise<Verdict> {
  const { run, task } = subject;
  return store.submit({ kind: 'task.refuse', ...(run === '' ? {} : { run }), task, asked, refusal }, actor);
}
