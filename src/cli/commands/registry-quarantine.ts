// `baton registry quarantine`: what is blocked, since when and why.

import { hasLog } from '../../app/state-folder.ts';
import { trustIn } from '../../app/trust-in-log.ts';
import { keptBlocks } from '../../audit/kept-quarantine.ts';
import { type Call, EXIT, out, outJson } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { withLedger } from '../ledger-session.ts';
import { table } from '../table.ts';

export async function run(call: Call): Promise<number> {
  const workspace = workspaceOf(call);
  const blocked = hasLog(workspace) ? await withLedger(call, ({ log }) => trustIn(log)) : null;
  const known = Object.values(blocked?.quarantine ?? {});
  // What was blocked under another state folder is blocked here with the next cast; before that no log has it.
  const kept = blocked === null ? keptBlocks(workspace.dir, call.env).map((one) => ({ ...one, times: 1 })) : [];
  const rows = [...known, ...kept].map((one) => ({ ...one, since: new Date(one.since).toISOString() }));
  if (call.json) outJson(rows);
  else if (rows.length === 0) out('Nothing is blocked.');
  else {
    const cells = rows.map(({ key, code, since, times, reason }) => [key, code, since, String(times), reason]);
    for (const line of table(cells, ['id', 'code', 'since', 'times', 'reason'], ['id'])) out(line);
  }
  return EXIT.ok;
}
