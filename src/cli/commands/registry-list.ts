// `baton registry list`: every agent, how it is pinned, and what it may do.
import { join } from 'node:path';
import { hasLog } from '../../app/state-folder.ts';
import { trustIn } from '../../app/trust-in-log.ts';
import type { Registry } from '../../dialects/governed/registry.ts';
import { noTrust, quarantineOf } from '../../kernel/trust/state.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { keeperOf } from '../../workspace/registry-kept.ts';
import { hasRegistry } from '../../workspace/registry-lock.ts';
import { rowsOf } from '../../workspace/registry-review.ts';
import { type Call, EXIT, out, outJson, Refused } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { withLedger } from '../ledger-session.ts';
import { table } from '../table.ts';

export async function run(call: Call): Promise<number> {
  const workspace = workspaceOf(call);
  const home = join(workspace.dir, '.baton');
  const trust = hasLog(workspace) ? await withLedger(call, ({ log }) => trustIn(log)) : noTrust();
  const { registry } = keeperOf(home)();
  // What cannot be listed must not look like a registry without agents, nor a registry that was taken away like none.
  if (!registry.usable && (hasRegistry(home) || trust.registry !== null)) throw new Refused(unusable(registry));
  const rows = rowsOf(registry, (id) => quarantineOf(trust, id, null) !== null);
  if (call.json) outJson(rows);
  else if (rows.length === 0) out('trust: off (there is no registry here)');
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
  return EXIT.ok;
}

function unusable({ diagnostics }: Registry): Denied {
  const problems = diagnostics.map(({ level, code, agent, message }) => ({ level, code, agent, message }));
  const why = problems.find(({ level }) => level === 'fatal')?.message ?? 'it is not there';
  return deny('REGISTRY_UNUSABLE', `the registry cannot be used: ${why}; restore .baton/versions, or mend it`, {
    problems,
  });
}
