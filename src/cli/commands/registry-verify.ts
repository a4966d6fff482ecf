// `baton registry verify`: whether manifest, lock and prompts agree, and where what runs differs from what was approved.
import { join } from 'node:path';
import { hasLog } from '../../app/state-folder.ts';
import { trustIn } from '../../app/trust-in-log.ts';
import { counted } from '../../kernel/counted.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { loadFor } from '../../workspace/find-config.ts';
import { keeperOf } from '../../workspace/registry-kept.ts';
import { reviewRegistry } from '../../workspace/registry-review.ts';
import { type Call, exitOf, flag, out, outJson } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { withLedger } from '../ledger-session.ts';

export async function run(call: Call): Promise<number> {
  const workspace = workspaceOf(call);
  const { registry } = keeperOf(join(workspace.dir, '.baton'))();
  const { config } = loadFor({ workspace, file: undefined, loadout: undefined, cwd: call.cwd });
  const before = hasLog(workspace) ? (await withLedger(call, ({ log }) => trustIn(log))).registry : null;
  const found = reviewRegistry(registry, config, before);
  const worst = flag(call.values, 'strict') ? found : found.filter(({ level }) => level !== 'warning');
  const [first] = worst;
  const problems = found.map(({ level, code, agent, message }) => ({ level, code, agent, message }));
  const details = { registry: registry.digest, agents: registry.agents.size, problems };
  const said = `${counted(registry.agents.size, 'agent')}, ${counted(found.length, 'remark')}`;
  const code = first?.level === 'fatal' ? 'REGISTRY_UNUSABLE' : first?.code;
  const verdict =
    first && code
      ? deny(code, `${first.agent === null ? '' : `${first.agent}: `}${first.message}`, details)
      : allow(said, details);
  if (call.json) outJson(verdict);
  else {
    for (const { level, code, agent, message } of problems)
      out(`${level.padEnd(7)} ${code}  ${agent ?? 'registry'}: ${message}`);
    out(verdict.allow ? `ok: ${said}` : `not in order (${verdict.code}): ${verdict.reason}`);
  }
  return exitOf(verdict);
}
