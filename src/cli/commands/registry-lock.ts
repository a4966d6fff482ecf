// `baton registry lock`: a person approves the prompts, the manifest and what the agents run with, as they are now.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST_PATH } from '../../dialects/governed/registry-json.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { loadFor } from '../../workspace/find-config.ts';
import { approvalsOf } from '../../workspace/registry-approvals.ts';
import { keeperOf } from '../../workspace/registry-attest.ts';
import { writeRegistryLock } from '../../workspace/registry-lock.ts';
import { again, type Call, EXIT, note, out, outJson, Refused, text } from '../command.ts';
import { counted } from '../counted.ts';
import { workspaceOf } from '../find-workspace.ts';
import { withLedger } from '../ledger-session.ts';
import { refuseAgents } from '../refuse-agents.ts';
import { person } from '../session.ts';

export async function run(call: Call): Promise<number> {
  refuseAgents(call, 'lock a registry');
  const workspace = workspaceOf(call);
  const home = join(workspace.dir, '.baton');
  if (!existsSync(join(home, MANIFEST_PATH))) throw new Refused(noManifest(call));
  const { config } = loadFor({ workspace, file: undefined, loadout: undefined, cwd: call.cwd });
  const at = new Date().toISOString();
  const pinned = writeRegistryLock(home, { approvals: approvalsOf(config), at });
  const { registry, loaded } = keeperOf(home)();
  for (const id of pinned.sameVersion)
    note(`warning: the prompt of ${id} changed and its version did not; raise it in the manifest`);
  const verdict: Verdict = loaded
    ? await withLedger(
        call,
        ({ door }) => door.submit({ kind: 'registry.load', registry: loaded, ...reasonOf(call) }, person()),
        { begins: true },
      )
    : deny('REGISTRY_UNUSABLE', registry.diagnostics[0]?.message ?? 'the registry cannot be used', {});
  if (!verdict.allow) throw new Refused(verdict);
  const { agents, changed, sameVersion } = pinned;
  const details = { registry: loaded?.digest ?? null, agents, changed, sameVersion };
  if (call.json) outJson(allow(`${counted(agents.length, 'prompt')} locked`, details));
  else
    out(
      `${counted(agents.length, 'prompt')} locked${changed.length > 0 ? `; pinned anew: ${changed.join(', ')}` : ''}`,
    );
  return EXIT.ok;
}

function reasonOf(call: Call): { reason?: string } {
  const reason = text(call.values, 'reason');
  return reason === undefined ? {} : { reason };
}

function noManifest(call: Call) {
  const reason = `there is no .baton/${MANIFEST_PATH}; \`${again(call)} init\` makes one, \`${again(call)} registry import DIR\` takes one over`;
  return deny('REGISTRY_MISSING', reason, {});
}
