// Claims a task with all its locks in one step: the named task, or the best one that is ready.
import { claiming, wishesFor, wishFor } from '../claims.ts';
import { ledgerSession, runWanted, workerNamed } from '../ledger-session.ts';
import { configureLocks } from '../main-locks.ts';
import type { Operation } from './table.ts';

/** A task and all its locks go to one owner, who gets a fence. What the folder looks like is kept, so that it can be told
 * later what was changed. */
export const taskClaim: Operation<'task.claim'> = async (workspace, input, context) => {
  const { task, owner, expectedVersion } = input;
  const worker = workerNamed(input.pid);
  const session = ledgerSession(workspace, context);
  const { store, actor } = session;
  const isAgent = actor.kind === 'agent';
  await configureLocks(store, workspace, actor);
  const run = await runWanted(session, input.run);
  const which = { task, owner, ...(run === undefined ? {} : { run }) };
  const version = expectedVersion === undefined ? {} : { expectedVersion };
  const ask = () => store.submit({ kind: 'task.claim', ...which, ...version, isAgent }, actor);
  const wishes = await store.look((ledger) => wishFor(ledger, which, owner, expectedVersion), run);
  return claiming(session, wishes, ask, worker);
};

/** The best task that can start now is found and claimed in one step. */
export const taskNext: Operation<'task.next'> = async (workspace, { owner, ...input }, context) => {
  const worker = workerNamed(input.pid);
  const session = ledgerSession(workspace, context);
  const { store, actor } = session;
  await configureLocks(store, workspace, actor);
  const run = await runWanted(session, input.run);
  const which = { owner, ...(run === undefined ? {} : { run }) };
  const ask = () => store.submit({ kind: 'task.next', ...which, isAgent: actor.kind === 'agent' }, actor);
  const wishes = await store.look((ledger) => wishesFor(ledger, run, owner), run);
  return claiming(session, wishes, ask, worker);
};
