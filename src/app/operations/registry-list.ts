// Every agent, how it is pinned, and what it may do.
import { join } from 'node:path';
import { noTrust, quarantineOf } from '../../kernel/trust/state.ts';
import { allow, type Denied, deny } from '../../kernel/verdict.ts';
import type { Registry } from '../../trust/agent.ts';
import { hasRegistry, keeperOf } from '../../workspace/registry-lock.ts';
import { problemsIn, rowsOf } from '../../workspace/registry-review.ts';
import type { Run } from '../operation.ts';
import { trustIn } from '../workspace-status.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'registry.list'>> = async (workspace) => {
  const home = join(workspace.dir, '.baton');
  const trust = workspace.hasLog() ? await trustIn(workspace.ledgerStore()) : noTrust();
  const { registry } = keeperOf(home)();
  // What cannot be listed must not look like a registry without agents, nor a registry that was taken away like none.
  if (!registry.usable && (hasRegistry(home) || trust.registry !== null)) return unusable(registry);
  const agents = rowsOf(registry, (id) => quarantineOf(trust, id, null) !== null);
  return allow(`${agents.length} agents`, { agents });
};

function unusable({ diagnostics }: Registry): Denied {
  const why = diagnostics.find(({ level }) => level === 'fatal')?.message ?? 'it is not there';
  const reason = `the registry cannot be used: ${why}; restore .baton/versions, or mend it`;
  return deny('REGISTRY_UNUSABLE', reason, { problems: problemsIn(diagnostics) });
}
