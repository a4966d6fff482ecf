// What the static checks need from the registry on disk: which agents exist, who can never hand to whom, and why no turn of an
// agent could start. A manifest with its lock is enough for that, so the code that hashes is loaded only if both exist.
import { isUtf8 } from 'node:buffer';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Boundaries } from '../kernel/graph/check.ts';
import { given, isObject, isString, type Json, objectAt } from '../kernel/json.ts';
import { checkBoundary, checkShares, mediatorBetween } from '../trust/boundary.ts';
import { libraryText } from '../trust/canonical.ts';
import { REQUEST_TYPES } from '../trust/envelope.ts';
import { denies, isSemver, readManifest } from '../trust/manifest.ts';
import { LOCK_PATH, MANIFEST_PATH, readRegistryJson } from '../trust/registry.ts';
import { hashBytes, readInside } from '../trust/registry-folder.ts';
import { TRUST_POLICY } from '../trust/stage.ts';
import type { LocatedWorkspace } from './locate.ts';

/** Null if the folder has no usable manifest. */
export function boundariesIn(dir: string): Boundaries | null {
  return boundariesOf(readInside(dir, MANIFEST_PATH));
}

/** The same, from the bytes of a manifest. */
export function boundariesOf(manifest: Uint8Array | null): Boundaries | null {
  const read = readRegistryJson('manifest', manifest);
  if ('code' in read || !isWellFormed(read.json)) return null;
  const { version, agents, diagnostics } = readManifest(read.json);
  if (version === null || !isSemver(version) || diagnostics.some(({ level }) => level === 'fatal')) return null;
  return {
    knows: (identity) => agents.has(identity),
    unfit(identity) {
      const agent = agents.get(identity);
      if (!agent) return null;
      if (agent.canonicalId !== agent.id) return `the canonical_id of ${agent.id} is not its key in the manifest`;
      if (agent.status === 'retired') return `${agent.id} is retired`;
      return checkShares({ agents }, agent, '', TRUST_POLICY)[0]?.message ?? null;
    },
    refusal(source, target, types = REQUEST_TYPES) {
      const [from, to] = [agents.get(source), agents.get(target)];
      if (!from || !to) return null;
      const whys = REQUEST_TYPES.filter((type) => types.includes(type)).map((type) =>
        mediatorBetween(agents.values(), from, to, { type }) === null
          ? (checkBoundary(from, to, { type }, TRUST_POLICY)[0]?.message ?? null)
          : null,
      );
      return whys.includes(null) ? null : (whys[0] ?? null);
    },
    malformed: diagnostics.flatMap(({ code, agent, message }) =>
      code === 'BOUNDARY_MALFORMED' && agent !== null ? [{ agent, message }] : [],
    ),
    mediated(origin, source, target) {
      const [first, through] = [agents.get(origin), agents.get(source)];
      if (!first || through?.type !== 'orchestrator' || !denies(first.collaboration, target)) return null;
      return `${first.id} denies handing to ${target}, through ${through.id} too`;
    },
  };
}

/** Why a registry stops every dispatch, why it stops an agent, and whether a prompt is not the pinned one. */
type Standing = Pick<Boundaries, 'unusable' | 'unfit' | 'otherPrompt'>;

/** Null if the folder has neither manifest nor lock. `boundaries` come from the manifest. */
async function standingIn(dir: string): Promise<((boundaries: Boundaries | null) => Standing) | null> {
  const [manifest, lock] = [MANIFEST_PATH, LOCK_PATH].map((path) => existsSync(join(dir, path)));
  if (!manifest && !lock) return null;
  if (!manifest || !lock) {
    const unusable = manifest
      ? 'the lock is missing; `baton registry lock` makes one'
      : 'the manifest is missing; restore it';
    return (boundaries) => ({ unusable, unfit: (identity) => boundaries?.unfit(identity) ?? null });
  }
  const untouched = await untouchedIn(dir);
  if (untouched) return untouched;
  const { loadRegistryFolder } = await import('../trust/registry-folder.ts');
  const { usable, agents, diagnostics, sha256 } = loadRegistryFolder(dir);
  const fatal = diagnostics.find(({ level }) => level === 'fatal');
  return (boundaries) => ({
    unusable: usable ? null : (fatal?.message ?? 'it cannot be read'),
    unfit(identity) {
      const agent = agents.get(identity);
      const [fault] = agent?.faults ?? [];
      const noText =
        agent?.bytesMatch && agent.prompt && !isUtf8(agent.prompt)
          ? 'its pinned prompt is not UTF-8 text; save it so and lock it'
          : undefined;
      const found = fault?.message ?? noText;
      return boundaries?.unfit(identity) ?? (found === undefined ? null : `${identity}: ${found}`);
    },
    otherPrompt(identity, prompt) {
      const agent = agents.get(identity);
      // Reading changed bytes that are no text.
      if (!agent || (agent.bytesMatch && agent.prompt && !isUtf8(agent.prompt))) return false;
      return typeof agent.lockedHash === 'string' && sha256(prompt) !== agent.lockedHash;
    },
  });
}

/** The result for a registry that is unchanged since its lock. Null if it must be read in full. */
async function untouchedIn(dir: string): Promise<((boundaries: Boundaries | null) => Standing) | null> {
  const [manifest, lock] = [
    readRegistryJson('manifest', readInside(dir, MANIFEST_PATH)),
    readRegistryJson('lock', readInside(dir, LOCK_PATH)),
  ];
  if ('code' in manifest || 'code' in lock) return null;
  const hashes = lockedHashes(dir, manifest.json, lock.json, readManifest(manifest.json).agents);
  if (!hashes) return null;
  return (boundaries) => ({
    unusable: boundaries ? null : 'it cannot be read',
    unfit: (identity) => boundaries?.unfit(identity) ?? null,
    otherPrompt: (identity, prompt) => hashes.has(identity) && hashBytes(prompt) !== hashes.get(identity),
  });
}

/** Text with half a character has no digest, so its registry cannot be identified. */
function isWellFormed(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member));
}

// Which boundaries apply to a checked configuration: those of the workspace's registry, else of one next to the configuration.
// For its own registry the check also reports everything that would stop a dispatch.
const NOTHING_KNOWN: Boundaries = {
  knows: () => false,
  unfit: () => null,
  refusal: () => null,
  mediated: () => null,
};

/**
 * Null if neither has or had a registry and no agent names one. Then no code to read one is loaded. `baseDir` is the
 * folder of the configuration.
 */
export async function nearestBoundaries(
  workspace: Pick<LocatedWorkspace, 'dir' | 'stateDir'>,
  baseDir: string,
  config: Json,
): Promise<Boundaries | null> {
  const own = join(workspace.dir, '.baton');
  const [isOwn, isBeside] = [own, baseDir].map((folder) => existsSync(join(folder, 'versions')));
  const inForce = isOwn ? await standingIn(own) : null;
  if (inForce) {
    const boundaries = boundariesIn(own);
    return { ...(boundaries ?? NOTHING_KNOWN), ...inForce(boundaries), isInForce: true };
  }
  if (namesAgents(config) && (await hadRegistry(workspace.stateDir)))
    return { ...NOTHING_KNOWN, unusable: 'it was taken away; restore .baton/versions', isInForce: true };
  const boundaries = isBeside ? boundariesIn(baseDir) : null;
  // A registry next to the configuration gives boundaries, but is not in force here.
  const known = { ...(boundaries ?? NOTHING_KNOWN), isInForce: false };
  if (namesAgents(config)) return { ...known, isBundled: (await import('./registry-lock.ts')).bundledAgents() };
  return boundaries && known;
}

/** Whether an agent has a registry id. Only then the log is asked whether there was a registry. */
function namesAgents(config: Json): boolean {
  const all = isObject(config) ? objectAt(config, 'materia') : {};
  return Object.keys(all).some((id) => given(objectAt(all, id), 'identity') !== undefined);
}

/** Whether the workspace ever had a registry. Then it must still have one. */
async function hadRegistry(stateDir: string): Promise<boolean> {
  const file = join(stateDir, 'log.sqlite');
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  const { withEvidence } = await import('../log/sqlite/evidence.ts');
  try {
    const loaded = { after: 0, limit: 1, kinds: ['registry.loaded'] };
    return await withEvidence(file, async (evidence) => (await evidence.rows(loaded)).length > 0);
  } catch {
    return false; // A caller that needs the log reports one that cannot be read.
  }
}

// Whether manifest and prompts still match the hashes of the lock. A lock is written only for a usable registry, so a match
// means that this one is usable. In any doubt the reader of registries decides and reports the fault.
/** The locked hashes by agent. Null in any doubt. `agents` are those of the manifest. */
export function lockedHashes(
  dir: string,
  manifest: Json,
  lock: Json,
  agents: ReadonlyMap<string, { readonly version: string | null }>,
): ReadonlyMap<string, string> | null {
  if (!isObject(manifest) || !isObject(lock) || lock.algorithm !== 'SHA-256' || lock.version !== manifest.version)
    return null;
  const { prompts, integrity } = lock;
  if (!isObject(prompts) || !isObject(integrity) || integrity.manifest_hash !== hashOf(manifest)) return null;
  const hashes = new Map<string, string>();
  for (const [id, entry] of Object.entries(prompts)) {
    if (!isObject(entry) || !isString(entry.file) || !isString(entry.hash) || 'systemPrompt' in entry) return null;
    if (!PLAIN.test(entry.file) || agents.get(id)?.version !== entry.version) return null;
    const bytes = readInside(dir, entry.file);
    if (!bytes || !isUtf8(bytes) || hashBytes(bytes) !== entry.hash) return null;
    hashes.set(id, entry.hash);
  }
  return hashes.size === agents.size ? hashes : null;
}

/** Names that cannot lead out of the folder. */
const PLAIN = /^(?!.*(?:^|\/)\.\.?(?:\/|$))[\w.-]+(?:\/[\w.-]+)*$/;

function hashOf(value: Json): string | null {
  const text = libraryText(value);
  return text === undefined ? null : hashBytes(text);
}
