// Whether ledger, locks and events agree; everything that does not fit is listed.
import { allow } from '../../kernel/verdict.ts';
import { ledgerFor, ledgerSession, onlyRun } from '../ledger-session.ts';
import type { Run } from '../operation.ts';
import { reconcile } from '../reconcile-ledger.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'reconcile'>> = async (workspace, input, context) => {
  const nothing = { task_count: 0, active_lock_count: 0, event_count: 0, runs: [] };
  if (!workspace.hasLog()) return allow('there is no ledger yet', nothing);
  const session = ledgerSession(workspace, context);
  const { ledger, run } = await ledgerFor(session, input.run);
  const all = Object.values(ledger.runs).map(({ id }) => id);
  return reconcile(session, ledger, run === undefined ? all : [onlyRun(workspace, ledger, run)]);
};
