// `baton registry list`: every agent, how it is pinned, and what it may do.
import { join } from 'node:path';
import { noTrust, quarantineOf } from '../../kernel/trust/state.ts';
import { keeperOf } from '../../workspace/registry-kept.ts';
import { hasRegistry } from '../../workspace/registry-lock.ts';
import { rowsOf } from '../../workspace/registry-review.ts';
import { type Call, EXIT, note, out, outJson } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { withLedger } from '../ledger-session.ts';
import { hasLog } from '../state-folder.ts';
import { table } from '../table.ts';
import { trustIn } from '../trust-in-log.ts';

export async function run(call: Call): Promise<number> {
  const workspace = workspaceOf(call);
  const home = join(workspace.dir, '.baton');
  const trust = hasLog(workspace) ? await withLedger(call, ({ log }) => trustIn(log)) : noTrust();
  const { registry } = keeperOf(home)();
  const rows = rowsOf(registry, (id) => quarantineOf(trust, id, null) !== null);
  if (call.json) outJson(rows);
  else if (rows.length === 0)
    out(hasRegistry(home) ? 'The registry cannot be used.' : 'trust: off (there is no registry here)');
  else {
    const cells = rows.map((row) =>
      [
        row.id,
        row.type,
        row.version,
        row.status,
        String(row.hash).slice(0, 12),
        row.model ?? '',
        String(row.pinned),
      ].map(String),
    );
    for (const line of table(cells, ['id', 'type', 'version', 'status', 'prompt', 'model', 'pinned'])) out(line);
  }
  const [fatal] = registry.diagnostics.filter(({ level }) => level === 'fatal');
  if (fatal && hasRegistry(home)) note(`${fatal.code}: ${fatal.message}`);
  return EXIT.ok;
}
