// A person vouches for prompts: locks them, imports a registry, accepts edits, and releases what was blocked.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { keptBlocks } from '../../audit/kept-quarantine.ts';
import { changedLines } from '../../hooks/install/plan.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { counted, nearestName } from '../../kernel/text.ts';
import type { Diagnostic } from '../../kernel/trust/problem.ts';
import { isHigher } from '../../kernel/trust/quarantine.ts';
import { allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { LOCK_PATH, MANIFEST_PATH } from '../../trust/registry.ts';
import { hashBytes, readInside } from '../../trust/registry-folder.ts';
import { readJsonFile } from '../../workspace/load-config.ts';
import {
  hasRegistry,
  importRegistry,
  keeperOf,
  lockIn,
  pinnedPath,
  registryOnceLocked,
  writeRegistryLock,
  writeWhole,
} from '../../workspace/registry-lock.ts';
import { approvalsOf, problemsIn, reviewRegistry } from '../../workspace/registry-review.ts';
import {
  type NamedAgent,
  NO_MANIFEST,
  namedAgents,
  namedBefore,
  promptsOf,
  raise,
  recordOf,
  type Team,
  teamOf,
} from '../../workspace/registry-team.ts';
import { trustIn } from '../at-head.ts';
import type { Context } from '../operation.ts';
import { refusalOfDecision } from '../refusals.ts';
import { bringIntoForce, keepQuarantine } from '../registry-in-force.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

/** A person approves the prompts, the manifest and what the agents run with, as they are now. Agents that the registry does not
 * know yet get an id and a record, so that this one step is all that pinning takes. */
export const registryLock: Operation<'registry.lock'> = async (workspace, { reason }, context) => {
  const home = join(workspace.dir, '.baton');
  const team = teamOf(workspace);
  const manifest = manifestOf(home);
  const next = namedAgents(team, manifest ?? NO_MANIFEST);
  if (!manifest && next.added.length === 0) return noAgents(workspace);
  const [issue] = team.issues;
  if (issue)
    return deny(issue.code, `nothing was locked: ${issue.path}: ${issue.message}`, { issues: [...team.issues] });
  return lockAs(workspace, next, { reason }, context);
};

/** The manifest of a project; null where it has none. */
function manifestOf(home: string): JsonObject | null {
  const file = join(home, MANIFEST_PATH);
  if (!existsSync(file)) return null;
  const json = readJsonFile(file);
  return isObject(json) ? json : {};
}

type Locking = { readonly reason?: string | undefined; readonly only?: ReadonlySet<string> };

/** Writes the manifest and the lock, and brings them into force. With `only`, the other agents keep the pins that they have. */
async function lockAs(
  workspace: Workspace,
  { manifest, added, widened, team }: NamedAgent,
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

/** Takes over a registry from another folder, and locks it. */
export const registryImport: Operation<'registry.import'> = async (workspace, { dir }, { actor }) => {
  const home = join(workspace.dir, '.baton');
  const verdict = importRegistry(resolve(workspace.cwd, dir), home, new Date().toISOString());
  if (!verdict.allow) return verdict;
  const { loaded, texts } = keeperOf(home)();
  if (loaded && texts) {
    const load = { kind: 'registry.load', registry: loaded, texts, reason: 'imported' } as const;
    await workspace.ledgerStore({ begins: true }).submit(load, actor);
  }
  return verdict;
};

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

/** A person accepts edited prompts: the difference is shown, the version is raised, the prompt is pinned again, and what was
 * blocked because of the edit is released. */
export const registryAccept: Operation<'registry.accept'> = async (workspace, { agent, reason }, context) => {
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
    const verdict = await registryRelease(workspace, { id: each, reason: why }, context);
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
    if (typeof file !== 'string' || !bytes || hashBytes(bytes) === pin) return [];
    const before = readInside(home, pinnedPath(id));
    const isPin = before !== null && hashBytes(before) === pin;
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

/** A person releases a blocked agent, with a reason. Manifest, lock and prompts are read again. */
export const registryRelease: Operation<'registry.release'> = async (
  workspace,
  { id, reason, outcome },
  { actor, onEvent },
) => {
  const store = workspace.ledgerStore({ begins: keptBlocks(workspace.dir, workspace.env).length > 0 });
  await bringIntoForce(store, workspace, actor);
  const { registry, loaded } = keeperOf(join(workspace.dir, '.baton'))();
  const faults = [...registry.agents.values()].flatMap((agent) =>
    agent.faults.slice(0, 1).map(({ message }) => [agent.id, message] as const),
  );
  const released = await store.submit(
    {
      kind: 'quarantine.release',
      id,
      reason,
      ...(outcome === undefined ? {} : { outcome }),
      isAgent: refusalOfDecision(workspace, 'registry.release', actor) !== null,
      registry: loaded,
      faults: Object.fromEntries(faults),
    },
    actor,
  );
  await keepQuarantine(store, workspace, (text) => onEvent({ kind: 'note', text }));
  return released;
};
