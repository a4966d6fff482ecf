// The best task that can start now is found and claimed in one step.
import { claiming, wishesFor } from '../claims.ts';
import { ledgerSession, runWanted, workerNamed } from '../ledger-session.ts';
import { configureLocks } from '../main-locks.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'task.next'>> = async (workspace, { owner, ...input }, context) => {
  const worker = workerNamed(input.pid);
  const session = ledgerSession(workspace, context);
  const { store, actor } = session;
  await configureLocks(store, workspace, actor.name);
  const run = await runWanted(session, input.run);
  const which = { owner, ...(run === undefined ? {} : { run }) };
  const ask = () => store.submit({ kind: 'task.next', ...which, isAgent: actor.kind === 'agent' }, actor);
  const wishes = await store.look((ledger) => wishesFor(ledger, run, owner), run);
  return claiming(session, wishes, ask, worker);
};
