// Who may act: tokens of people and programs, folders that are trusted, and the registry with what is blocked.

import { join } from 'node:path';
import { createToken, listTokens, revokeToken, tokenRow } from '../../access/tokens.ts';
import { keptBlocks } from '../../audit/kept-quarantine.ts';
import { trustFolder } from '../../git/folder-trust.ts';
import { counted } from '../../kernel/text.ts';
import { noTrust, type Pin, quarantineOf } from '../../kernel/trust/state.ts';
import { allow, type Denied, deny } from '../../kernel/verdict.ts';
import type { Registry } from '../../trust/agent.ts';
import { hashBytes } from '../../trust/registry-folder.ts';
import { UsageError } from '../../workspace/locate.ts';
import { hasRegistry, keeperOf } from '../../workspace/registry-lock.ts';
import { problemsIn, reviewRegistry, rowsOf } from '../../workspace/registry-review.ts';
import { promptsOf, teamOf } from '../../workspace/registry-team.ts';
import { trustIn } from '../at-head.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

const MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A token is made. Its secret is answered this once. */
export const tokenCreate: Operation<'token.create'> = async ({ env }, { role, name = null, expires }) => {
  const now = Date.now();
  const made = createToken(env, { role, name, expires: expires === undefined ? null : expiry(expires, now) }, now);
  if (!made.ok) return made.verdict;
  const { token, secret } = made.value;
  return allow(`the token ${token.name} was made`, { ...tokenRow(token, now), token: secret });
};

function expiry(given: string, now: number): string {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(given) ?? [];
  const at = unit === '' ? Date.parse(given) : now + Number(count) * (MS[unit] ?? 0);
  if (Number.isFinite(at) && at > now) return new Date(at).toISOString();
  throw new UsageError(
    `--expires takes a time to come, such as 2030-01-31, or a number with m, h, d or w, such as 30d, not ${given}`,
  );
}

/** Every token with its role, and whether it can still be used. */
export const tokenList: Operation<'token.list'> = async ({ env }) => {
  const found = listTokens(env);
  if (!found.ok) return found.verdict;
  const now = Date.now();
  return allow(`${found.value.length} tokens`, { tokens: found.value.map((token) => tokenRow(token, now)) });
};

/** Revokes a token for good. */
export const tokenRevoke: Operation<'token.revoke'> = async ({ env }, { name }) => {
  const now = Date.now();
  const found = revokeToken(env, name, now);
  if (!found.ok) return found.verdict;
  return allow(`the token ${name} is revoked and no longer works`, tokenRow(found.value, now));
};

export const trustThisFolder: Operation<'trust'> = async ({ dir, env }) => {
  trustFolder(dir, env, new Date().toISOString());
  const reason = `${dir} is trusted: its set-up steps and the filters of its git configuration, as it is now, may run`;
  return allow(reason, { folder: dir });
};

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
  const reason = `the registry cannot be used: ${why}; restore .baton/versions, or correct it`;
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

/** The blocked agents, since when and why, each with its pin and with its prompt as it is now. */
export const registryQuarantine: Operation<'registry.quarantine'> = async (workspace) => {
  const hasLog = workspace.hasLog();
  const known = hasLog ? Object.values((await trustIn(workspace.ledgerStore())).quarantine) : [];
  // What was blocked under another state folder is blocked here with the next cast; before that no log has it.
  const kept = hasLog ? [] : keptBlocks(workspace.dir, workspace.env).map((one) => ({ ...one, times: 1 }));
  const all = [...known, ...kept];
  const presentOf = all.length > 0 ? presentPrompts(workspace) : () => null;
  const blocked = all.map((one) => ({
    ...one,
    present: one.agent === null ? null : presentOf(one.agent),
    since: new Date(one.since).toISOString(),
  }));
  return allow(`${blocked.length} blocked`, { blocked });
};

/** The version of an agent in the manifest and the hash of its prompt, both as they are now; null where its prompt is not there. */
function presentPrompts(workspace: Workspace): (agent: string) => Pin | null {
  const home = join(workspace.dir, '.baton');
  const { agents } = keeperOf(home)().registry;
  const read = promptsOf(home, teamOf(workspace));
  return (id) => {
    const agent = agents.get(id);
    const bytes = typeof agent?.file === 'string' ? read(agent.file) : null;
    return agent && bytes ? { version: agent.version, hash: hashBytes(bytes) } : null;
  };
}
