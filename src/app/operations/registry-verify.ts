// Whether manifest, lock and prompts agree, and where what runs differs from what was approved.
import { join } from 'node:path';
import { counted } from '../../kernel/text.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { keeperOf } from '../../workspace/registry-lock.ts';
import { problemsIn, reviewRegistry } from '../../workspace/registry-review.ts';
import { teamOf } from '../../workspace/registry-team.ts';
import type { Run } from '../operation.ts';
import { trustIn } from '../workspace-status.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'registry.verify'>> = async (workspace, { strict = false }) => {
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
