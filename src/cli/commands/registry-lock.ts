// `baton registry lock`: a person approves the prompts, the manifest and what the agents run with, as they are now.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../../dialects/governed/diagnostic.ts';
import { MANIFEST_PATH } from '../../dialects/governed/registry-json.ts';
import { counted } from '../../kernel/counted.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { loadFor } from '../../workspace/find-config.ts';
import { approvalsOf } from '../../workspace/registry-approvals.ts';
import { keeperOf } from '../../workspace/registry-kept.ts';
import { registryOnceLocked, writeRegistryLock } from '../../workspace/registry-lock.ts';
import { reviewRegistry } from '../../workspace/registry-review.ts';
import { again, type Call, EXIT, note, out, outJson, Refused, text } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { withLedger } from '../ledger-session.ts';
import { person } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const workspace = workspaceOf(call);
  const home = join(workspace.dir, '.baton');
  if (!existsSync(join(home, MANIFEST_PATH))) throw new Refused(noManifest(call));
  const { config } = loadFor({ workspace, file: undefined, loadout: undefined, cwd: call.cwd });
  const at = new Date().toISOString();
  const relock = { approvals: approvalsOf(config), at };
  const found = reviewRegistry(registryOnceLocked(home, relock), config, null);
  const faults = found.filter(({ level }) => level !== 'warning');
  // What `verify` would refuse at once is not approved in the first place.
  if (faults[0]) throw new Refused(notLocked(faults));
  const pinned = writeRegistryLock(home, relock);
  const { registry, loaded, texts } = keeperOf(home)();
  const problems = found.map(({ level, code, agent, message }) => ({ level, code, agent, message }));
  for (const { code, agent, message } of problems) note(`warning ${code} ${agent ?? 'registry'}: ${message}`);
  const verdict: Verdict =
    loaded && texts
      ? await withLedger(
          call,
          ({ door }) => door.submit({ kind: 'registry.load', registry: loaded, texts, ...reasonOf(call) }, person()),
          { begins: true },
        )
      : deny('REGISTRY_UNUSABLE', registry.diagnostics[0]?.message ?? 'the registry cannot be used', {});
  if (!verdict.allow) throw new Refused(verdict);
  const { agents, changed, sameVersion } = pinned;
  const details = { registry: loaded?.digest ?? null, agents, changed, sameVersion, problems };
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

function notLocked(faults: readonly Diagnostic[]) {
  const [first] = faults;
  const code = first?.level === 'fatal' ? 'REGISTRY_UNUSABLE' : (first?.code ?? 'REGISTRY_UNUSABLE');
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  const who = first?.agent ? `${first.agent}: ` : '';
  const problems = faults.map(({ level, code, agent, message }) => ({ level, code, agent, message }));
  return deny(code, `nothing was locked: ${who}${first?.message ?? ''}${more}; mend it, then lock again`, { problems });
}

function noManifest(call: Call) {
  const reason = `there is no .baton/${MANIFEST_PATH}; \`${again(call)} init\` makes one, \`${again(call)} registry import DIR\` takes one over`;
  return deny('REGISTRY_MISSING', reason, {});
}
