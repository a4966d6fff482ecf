// `baton reconcile`: whether ledger, locks and events agree; all that does not fit is listed.
import { allow } from '../../kernel/verdict.ts';
import type { Call } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { answering, ledgerFor, onlyRun, withLedger } from '../ledger-session.ts';
import { reconcile } from '../reconcile-ledger.ts';
import { hasLog } from '../state-folder.ts';

export async function run(call: Call): Promise<number> {
  return answering(async () => {
    const nothing = { task_count: 0, active_lock_count: 0, event_count: 0, runs: [] };
    if (!hasLog(workspaceOf(call))) return allow('there is no ledger yet', nothing);
    return withLedger(call, async (session) => {
      const { ledger, run } = await ledgerFor(session);
      const all = Object.values(ledger.runs).map(({ id }) => id);
      return reconcile(session, ledger, run === undefined ? all : [onlyRun(call, ledger, run)]);
    });
  });
}
