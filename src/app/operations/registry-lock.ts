// A person approves the prompts, the manifest and what the agents run with, as they are now.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from '../../kernel/counted.ts';
import type { Diagnostic } from '../../kernel/trust/problem.ts';
import { allow, type Denied, deny } from '../../kernel/verdict.ts';
import { MANIFEST_PATH } from '../../trust/registry.ts';
import { loadFor } from '../../workspace/find-config.ts';
import { keeperOf, registryOnceLocked, writeRegistryLock } from '../../workspace/registry-lock.ts';
import { approvalsOf, problemsIn, reviewRegistry } from '../../workspace/registry-review.ts';
import type { Run } from '../operation.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'registry.lock'>> = async (workspace, { reason }, { actor, onEvent }) => {
  const home = join(workspace.dir, '.baton');
  if (!existsSync(join(home, MANIFEST_PATH))) return noManifest(workspace);
  const { config } = loadFor({ workspace, file: undefined, loadout: undefined, cwd: workspace.cwd });
  const relock = { approvals: approvalsOf(config), at: new Date().toISOString() };
  const found = reviewRegistry(registryOnceLocked(home, relock), config, null);
  const faults = found.filter(({ level }) => level !== 'warning');
  // What `verify` would refuse at once is not approved in the first place.
  if (faults[0]) return notLocked(faults);
  const { agents, changed, sameVersion } = writeRegistryLock(home, relock);
  const { registry, loaded, texts } = keeperOf(home)();
  const problems = problemsIn(found);
  for (const { code, agent, message } of problems)
    onEvent({ kind: 'note', text: `warning ${code} ${agent ?? 'registry'}: ${message}` });
  if (!loaded || !texts)
    return deny('REGISTRY_UNUSABLE', registry.diagnostics[0]?.message ?? 'the registry cannot be used', {});
  const why = reason === undefined ? {} : { reason };
  const request = { kind: 'registry.load', registry: loaded, texts, ...why } as const;
  const verdict = await workspace.ledgerStore({ begins: true }).submit(request, actor);
  if (!verdict.allow) return verdict;
  const details = { registry: loaded.digest, agents, changed, sameVersion, problems };
  return allow(`${counted(agents.length, 'prompt')} locked`, details);
};

function notLocked(faults: readonly Diagnostic[]): Denied {
  const [first] = faults;
  const code = first?.level === 'fatal' ? 'REGISTRY_UNUSABLE' : (first?.code ?? 'REGISTRY_UNUSABLE');
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  const who = first?.agent ? `${first.agent}: ` : '';
  const reason = `nothing was locked: ${who}${first?.message ?? ''}${more}; mend it, then lock again`;
  return deny(code, reason, { problems: problemsIn(faults) });
}

function noManifest({ program }: Workspace): Denied {
  const reason = `there is no .baton/${MANIFEST_PATH}; write one that lists your agents, or take one over with \`${program} registry import DIR\``;
  return deny('REGISTRY_MISSING', reason, {});
}
