// Nothing new is handed out in this workspace until it is released; what runs goes on.
import { ledgerSession } from '../ledger-session.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'hold'>> = async (workspace, { reason }, context) => {
  const { store, actor } = ledgerSession(workspace, context, { begins: true });
  return store.submit({ kind: 'ledger.hold', reason }, actor);
};
