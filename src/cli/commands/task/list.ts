// `baton task list`: the rows of the ledger, as a table for people and as an array for scripts.
import { beats } from '../../../engine/heartbeat.ts';
import { isText, type JsonObject } from '../../../kernel/json.ts';
import { workRuns } from '../../../kernel/ledger/state.ts';
import { isTaskStatus, isTerminal, TASK_STATUSES } from '../../../kernel/ledger/transition.ts';
import { ledgerRows } from '../../../kernel/ledger/wire.ts';
import { again, type Call, EXIT, out, outJson, text, UsageError } from '../../command.ts';
import { workspaceOf } from '../../find-workspace.ts';
import { heardIn, ledgerFor, withLedger } from '../../ledger-session.ts';
import { hasLog } from '../../state-folder.ts';
import { table } from '../../table.ts';

export async function run(call: Call): Promise<number> {
  const status = text(call.values, 'status');
  if (status !== undefined && !isTaskStatus(status)) {
    throw new UsageError(`${status} is no status; there are: ${TASK_STATUSES.join(', ')}`);
  }
  const rows = hasLog(workspaceOf(call)) ? await read(call) : [];
  const shown = rows.filter((row) => status === undefined || row.status === status);
  if (call.json) outJson(shown);
  else if (shown.length === 0)
    out(`No task${status ? ` is ${status}` : ' yet'}. Create one with: ${again(call)} task create FILE`);
  else for (const line of rowsFor(shown)) out(line);
  return EXIT.ok;
}

/** Tasks of several runs may have the same id; then the run is told too. */
function rowsFor(rows: readonly JsonObject[]): readonly string[] {
  const titles = ['task', 'status', 'owner', 'priority', 'title', 'why'];
  if (new Set(rows.map(({ run_id }) => run_id)).size < 2) return table(rows.map(cells), titles);
  return table(
    rows.map((row) => [String(row.run_id), ...cells(row)]),
    ['run', ...titles],
  );
}

function read(call: Call): Promise<readonly JsonObject[]> {
  return withLedger(call, async (session) => {
    const [{ ledger, run }, heard] = [await ledgerFor(session), await beats(session.log)];
    const runs = run === undefined ? workRuns(ledger) : Object.values(ledger.runs).filter(({ id }) => id === run);
    if (run !== undefined && runs.length === 0) throw new UsageError(`there is no run ${run}`);
    return runs.flatMap(({ id }) =>
      ledgerRows(ledger, id, heardIn(id, heard)).map((row): JsonObject => ({ run_id: id, ...row })),
    );
  });
}

/** How a task ended, or why it stands; that a person ended it without evidence is to be seen here. */
function cells({ task_id, status, owner, priority, title, code, reason }: JsonObject): readonly string[] {
  const isToldOf = isTaskStatus(status) && (isTerminal(status) || code !== null);
  const why = [code, isToldOf ? reason : null].filter((part) => isText(part)).join(': ');
  return [task_id, status, owner, priority, title, why].map(String);
}
