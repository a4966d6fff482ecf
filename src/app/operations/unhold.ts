// Work is handed out again.
import { ledgerSession } from '../ledger-session.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'unhold'>> = async (workspace, { reason = 'no longer held' }, context) => {
  const { store, actor } = ledgerSession(workspace, context);
  return store.submit({ kind: 'ledger.unhold', reason }, actor);
};
