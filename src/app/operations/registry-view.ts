// Reads the registry: its agents, whether everything still agrees, and what is blocked.
import { join } from 'node:path';
import { keptBlocks } from '../../audit/kept-quarantine.ts';
import { counted } from '../../kernel/text.ts';
import { noTrust, quarantineOf } from '../../kernel/trust/state.ts';
import { allow, type Denied, deny } from '../../kernel/verdict.ts';
import type { Registry } from '../../trust/agent.ts';
import { hasRegistry, keeperOf } from '../../workspace/registry-lock.ts';
import { problemsIn, reviewRegistry, rowsOf } from '../../workspace/registry-review.ts';
import { teamOf } from '../../workspace/registry-team.ts';
import { trustIn } from '../workspace-status.ts';
import type { Operation } from './table.ts';

/** Every agent, how it is pinned, and what it may do. */
export const registryList: Operation<'registry.list'> = async (workspace) => {
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

/** Whether manifest, lock and prompts agree, and where what runs differs from what was approved. */
export const registryVerify: Operation<'registry.verify'> = async (workspace, { strict = false }) => {
  const { registry } = keeperOf(join(workspace.dir, '.baton'))();
  const { config } = teamOf(workspace);
  const before = workspace.hasLog() ? (await trustIn(workspace.ledgerStore())).registry : null;
  const found = reviewRegistry(registry, config, before);
  const [first] = strict ? found : found.filter(({ level }) => level !== 'warning');
  const details = { registry: registry.digest, agents: registry.agents.size, problems: problemsIn(found) };
  const code = first?.level === 'fatal' ? 'REGISTRY_UNUSABLE' : first?.code;
  if (first && code) return deny(code, `${first.agent === null ? '' : `${first.agent}: `}${first.message}`, details);
  return allow(`${counted(registry.agents.size, 'agent')}, ${counted(found.length, 'remark')}`, details);
};

/** What is blocked, since when and why. */
export const registryQuarantine: Operation<'registry.quarantine'> = async (workspace) => {
  const hasLog = workspace.hasLog();
  const known = hasLog ? Object.values((await trustIn(workspace.ledgerStore())).quarantine) : [];
  // What was blocked under another state folder is blocked here with the next cast; before that no log has it.
  const kept = hasLog ? [] : keptBlocks(workspace.dir, workspace.env).map((one) => ({ ...one, times: 1 }));
  const blocked = [...known, ...kept].map((one) => ({ ...one, since: new Date(one.since).toISOString() }));
  return allow(`${blocked.length} blocked`, { blocked });
};
