// The rows of the ledger.
import { beats } from '../../engine/heartbeat.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { workRuns } from '../../kernel/ledger/state.ts';
import { ledgerRows } from '../../kernel/ledger/wire.ts';
import { allow } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { heardIn, type LedgerSession, ledgerSession, runWanted } from '../ledger-session.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'task.list'>> = async (workspace, { run, status }, context) => {
  const rows = workspace.hasLog() ? await rowsOf(ledgerSession(workspace, context), run) : [];
  const tasks = rows.filter((row) => status === undefined || row.status === status);
  return allow(`${tasks.length} tasks`, { tasks });
};

async function rowsOf(session: LedgerSession, word: string | undefined): Promise<readonly JsonObject[]> {
  const [run, heard] = [await runWanted(session, word), await beats(session.store.log)];
  return session.store.look((ledger) => {
    const runs = run === undefined ? workRuns(ledger) : Object.values(ledger.runs).filter(({ id }) => id === run);
    if (run !== undefined && runs.length === 0) throw new UsageError(`there is no run ${run}`);
    return runs.flatMap(({ id }) =>
      ledgerRows(ledger, id, heardIn(id, heard)).map((row): JsonObject => ({ run_id: id, ...row })),
    );
  }, run);
}
