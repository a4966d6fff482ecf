// A person approves the prompts, the manifest and what the agents run with, as they are now. Agents that the registry does not
// know yet get an id and a record, so that this one step is all that pinning takes.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import type { Diagnostic } from '../../kernel/trust/problem.ts';
import { allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { LOCK_PATH, MANIFEST_PATH } from '../../trust/registry.ts';
import { readJsonFile } from '../../workspace/load-config.ts';
import { keeperOf, registryOnceLocked, writeRegistryLock, writeWhole } from '../../workspace/registry-lock.ts';
import { approvalsOf, problemsIn, reviewRegistry } from '../../workspace/registry-review.ts';
import { type Named, NO_MANIFEST, named, promptsOf, teamOf } from '../../workspace/registry-team.ts';
import type { Context, Run } from '../operation.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'registry.lock'>> = async (workspace, { reason }, context) => {
  const home = join(workspace.dir, '.baton');
  const team = teamOf(workspace);
  const manifest = manifestOf(home);
  const next = named(team, manifest ?? NO_MANIFEST);
  if (!manifest && next.added.length === 0) return noAgents(workspace);
  const [issue] = team.issues;
  if (issue)
    return deny(issue.code, `nothing was locked: ${issue.path}: ${issue.message}`, { issues: [...team.issues] });
  return lockAs(workspace, next, { reason }, context);
};

/** The manifest of a project; null where it has none. */
export function manifestOf(home: string): JsonObject | null {
  const file = join(home, MANIFEST_PATH);
  if (!existsSync(file)) return null;
  const json = readJsonFile(file);
  return isObject(json) ? json : {};
}

type Locking = { readonly reason?: string | undefined; readonly only?: ReadonlySet<string> };

/** Writes the manifest and the lock, and brings them into force. With `only`, the other agents keep the pins that they have. */
export async function lockAs(
  workspace: Workspace,
  { manifest, added, widened, team }: Named,
  { reason, only }: Locking,
  { actor, onEvent }: Context,
): Promise<Verdict> {
  const home = join(workspace.dir, '.baton');
  const relock = {
    ...{ approvals: approvalsOf(team.config), at: new Date().toISOString(), read: promptsOf(home, team) },
    ...(only ? { only } : {}),
  };
  const found = reviewRegistry(registryOnceLocked(home, manifest, relock), team.config, null);
  const isMeant = ({ level, agent }: Diagnostic) => level !== 'warning' && (!only || agent === null || only.has(agent));
  const faults = found.filter(isMeant);
  // What `verify` would refuse at once is not approved in the first place.
  if (faults[0]) return notLocked(faults);
  const isNew = JSON.stringify(manifestOf(home)) !== JSON.stringify(manifest);
  mkdirSync(dirname(join(home, MANIFEST_PATH)), { recursive: true });
  if (isNew) writeWhole(join(home, MANIFEST_PATH), manifest);
  const { agents, changed, sameVersion } = writeRegistryLock(home, relock);
  const written = [...(isNew ? [MANIFEST_PATH] : []), LOCK_PATH, ...keepBytes(home)].map((path) => `.baton/${path}`);
  const { registry, loaded, texts } = keeperOf(home)();
  const problems = problemsIn(found.filter(({ level }) => level === 'warning'));
  for (const { code, agent, message } of problems)
    onEvent({ kind: 'note', text: `warning ${code} ${agent ?? 'registry'}: ${message}` });
  if (!loaded || !texts)
    return deny('REGISTRY_UNUSABLE', registry.diagnostics[0]?.message ?? 'the registry cannot be used', {});
  const why = reason === undefined ? {} : { reason };
  const request = { kind: 'registry.load', registry: loaded, texts, ...why } as const;
  const verdict = await workspace.ledgerStore({ begins: true }).submit(request, actor);
  if (!verdict.allow) return verdict;
  const news = { added: added.map((one) => ({ ...one })), widened: [...widened], written };
  const details = { registry: loaded.digest, agents, changed, sameVersion, problems, ...news };
  return allow(`${counted(agents.length, 'prompt')} locked`, details);
}

/** Pinned prompts are pinned by their bytes: git must not change their line ends. */
function keepBytes(home: string): readonly string[] {
  const file = join(home, '.gitattributes');
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const missing = ['prompts/** -text', 'versions/pinned/** -text'].filter((line) => !before.split('\n').includes(line));
  if (missing.length === 0) return [];
  appendFileSync(file, `${before === '' || before.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`);
  return ['.gitattributes'];
}

function notLocked(faults: readonly Diagnostic[]): Denied {
  const [first] = faults;
  const code = first?.level === 'fatal' ? 'REGISTRY_UNUSABLE' : (first?.code ?? 'REGISTRY_UNUSABLE');
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  const who = first?.agent ? `${first.agent}: ` : '';
  const reason = `nothing was locked: ${who}${first?.message ?? ''}${more}; repair it, then lock again`;
  return deny(code, reason, { problems: problemsIn(faults) });
}

function noAgents({ program }: Workspace): Denied {
  const reason = `there is no agent to lock here; \`${program} init\` makes a team, \`${program} registry import DIR\` takes a registry over`;
  return deny('REGISTRY_MISSING', reason, {});
}
