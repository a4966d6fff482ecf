// A person accepts edited prompts: the difference is shown, the version is raised, the prompt is pinned again, and what was
// blocked because of the edit is released.
import { join } from 'node:path';
import { changedLines } from '../../hooks/install/plan.ts';
import { isObject } from '../../kernel/json.ts';
import { nearestName } from '../../kernel/nearest-name.ts';
import { counted } from '../../kernel/text.ts';
import { isHigher } from '../../kernel/trust/version.ts';
import { allow, type Denied, deny } from '../../kernel/verdict.ts';
import { readInside, sha256 } from '../../trust/registry-folder.ts';
import { hasRegistry, lockIn, pinnedPath } from '../../workspace/registry-lock.ts';
import { namedBefore, promptsOf, raise, recordOf, type Team, teamOf } from '../../workspace/registry-team.ts';
import type { Run } from '../operation.ts';
import type { Workspace } from '../workspace.ts';
import { trustIn } from '../workspace-status.ts';
import { lockAs, manifestOf } from './registry-lock.ts';
import { run as release } from './registry-release.ts';
import type { FieldsOf } from './table.ts';

/** An agent whose prompt is another one than its pin. */
type Edited = {
  readonly id: string;
  readonly file: string;
  /** The version that is pinned. */
  readonly version: string;
  /** Null where no copy of the pinned text is left. */
  readonly before: string | null;
  readonly after: string;
};

export const run: Run<FieldsOf<'registry.accept'>> = async (workspace, { agent, reason }, context) => {
  const home = join(workspace.dir, '.baton');
  const manifest = manifestOf(home);
  if (!manifest || !hasRegistry(home)) return noRegistry(workspace);
  // An agent that is new is for `registry lock`: here a person sees every text that is pinned.
  const next = namedBefore(teamOf(workspace), manifest);
  const [issue] = next.team.issues;
  if (issue) return deny(issue.code, `nothing was accepted: ${issue.path}: ${issue.message}`, {});
  const ids = [...(lockIn(home)?.entries.keys() ?? [])];
  const id = agent === undefined ? null : idOf(agent, ids, next.team);
  if (agent !== undefined && id === null) return unknownAgent(agent, ids);
  const wanted = id === null ? ids : [id];
  const blocked = await blockedOf(workspace, wanted);
  const edited = editedIn(home, next.team, wanted, next.manifest);
  for (const { file, before, after } of edited)
    for (const text of changedLines(`.baton/${file}`, before ?? '', after)) context.onEvent({ kind: 'note', text });
  for (const { id: each, version } of edited) {
    const record = recordOf(next.manifest, each);
    if (record && !isHigher(String(record.version), version)) raise(record, 'minor');
  }
  const accepted = edited.map((each) => each.id);
  const why = reason ?? 'an edited prompt was accepted';
  if (accepted.length > 0) {
    const locked = await lockAs(workspace, next, { reason: why, only: new Set(accepted) }, context);
    if (!locked.allow) return locked;
  }
  const released: string[] = [];
  for (const each of blocked) {
    const verdict = await release(workspace, { id: each, reason: why }, context);
    if (!verdict.allow) return verdict;
    released.push(each);
  }
  const versions = Object.fromEntries(
    accepted.map((each) => [each, recordOf(next.manifest, each)?.version ?? null] as const),
  );
  return allow(reasonFor(accepted, released), { accepted, released, versions });
};

function reasonFor(accepted: readonly string[], released: readonly string[]): string {
  if (accepted.length + released.length === 0) return 'every prompt is as it was locked; there is nothing to accept';
  const what = accepted.length > 0 ? [`${counted(accepted.length, 'prompt')} accepted: ${accepted.join(', ')}`] : [];
  return [...what, ...(released.length > 0 ? [`released: ${released.join(', ')}`] : [])].join('; ');
}

/** The id of an agent, which may be named by its id or by its name in the configuration. */
function idOf(name: string, ids: readonly string[], { config }: Team): string | null {
  if (ids.includes(name)) return name;
  const materia = isObject(config.materia) ? config.materia[name] : undefined;
  const identity = isObject(materia) ? materia.identity : undefined;
  return ids.find((id) => id === identity) ?? null;
}

function unknownAgent(agent: string, ids: readonly string[]): Denied {
  const near = nearestName(agent, ids);
  const hint = near === null ? `there are: ${ids.join(', ')}` : `did you mean ${near}?`;
  return deny('AGENT_UNKNOWN', `the registry has no agent ${agent}; ${hint}`, { agent, ids: [...ids] });
}

function editedIn(
  home: string,
  team: Team,
  ids: readonly string[],
  manifest: Parameters<typeof recordOf>[0],
): readonly Edited[] {
  const read = promptsOf(home, team);
  const entries = lockIn(home)?.entries;
  return ids.flatMap((id): Edited[] => {
    const file = recordOf(manifest, id)?.file;
    const bytes = typeof file === 'string' ? read(file) : null;
    const { hash: pin = null, version = null } = entries?.get(id) ?? {};
    if (typeof file !== 'string' || !bytes || sha256(bytes) === pin) return [];
    const before = readInside(home, pinnedPath(id));
    const isPin = before !== null && sha256(before) === pin;
    return [{ id, file, version: version ?? '', before: isPin ? textOf(before) : null, after: textOf(bytes) }];
  });
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

/** The agents of these that are blocked. */
async function blockedOf(workspace: Workspace, ids: readonly string[]): Promise<readonly string[]> {
  if (!workspace.hasLog()) return [];
  const { quarantine } = await trustIn(workspace.ledgerStore());
  const blocked = Object.values(quarantine).flatMap(({ agent, hash, context }) =>
    agent !== null && hash === null && context === null && ids.includes(agent) ? [agent] : [],
  );
  return [...new Set(blocked)];
}

function noRegistry({ program }: Workspace): Denied {
  const reason = `no prompt is pinned here, so that an edit needs no acceptance; \`${program} registry lock\` pins them`;
  return deny('REGISTRY_MISSING', reason, {});
}
