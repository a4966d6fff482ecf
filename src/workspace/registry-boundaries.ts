// What the static checks ask of the registry on disk: who exists, and who can never hand to whom, which the manifest alone
// says, also between a change of it and the next lock; and why nobody, or an agent, could be dispatched as things stand.
// Hashes are needed for that and take their time to load, so it is done where there is both a manifest and a lock.
import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Boundaries } from '../kernel/graph/check-boundaries.ts';
import type { Json } from '../kernel/json.ts';
import { checkBoundary } from '../trust/boundary.ts';
import { denies } from '../trust/collaboration.ts';
import { checkShares } from '../trust/composition.ts';
import { readManifest } from '../trust/manifest.ts';
import { DEFAULT_POLICY } from '../trust/policy.ts';
import { readInside } from '../trust/read-inside.ts';
import { LOCK_PATH, MANIFEST_PATH, readRegistryJson } from '../trust/registry-json.ts';
import { isSemver } from '../trust/semver.ts';

/** Every edge of a cast carries a request of this type, and names no scopes. */
const ASKED_BY_CASTS = { type: 'task' } as const;

/** Null where the folder has no manifest that a registry could be loaded from. */
export function boundariesIn(dir: string): Boundaries | null {
  return boundariesOf(readInside(dir, MANIFEST_PATH));
}

/** The same of the bytes of a manifest. */
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
      return checkShares({ agents }, agent, '', DEFAULT_POLICY)[0]?.message ?? null;
    },
    refusal(source, target) {
      const [from, to] = [agents.get(source), agents.get(target)];
      if (!from || !to) return null;
      return checkBoundary(from, to, ASKED_BY_CASTS, DEFAULT_POLICY)[0]?.message ?? null;
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

/** Why nothing can be dispatched under a registry, why an agent cannot, and whether a text is the one it is pinned to. */
type Standing = Pick<Boundaries, 'unusable' | 'unfit' | 'otherPrompt'>;

/** Null where the folder has neither manifest nor lock. `boundaries` are what the manifest says. */
export async function standingIn(dir: string): Promise<((boundaries: Boundaries | null) => Standing) | null> {
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
      const locked = agents.get(identity)?.lockedHash;
      return typeof locked === 'string' && sha256(prompt) !== locked;
    },
  });
}

/** The standing of a registry that is as it was locked; null where it has to be read in full to tell. */
async function untouchedIn(dir: string): Promise<((boundaries: Boundaries | null) => Standing) | null> {
  const [manifest, lock] = [
    readRegistryJson('manifest', readInside(dir, MANIFEST_PATH)),
    readRegistryJson('lock', readInside(dir, LOCK_PATH)),
  ];
  if ('code' in manifest || 'code' in lock) return null;
  const { lockedHashes, sha256 } = await import('./registry-untouched.ts');
  const hashes = lockedHashes(dir, manifest.json, lock.json, readManifest(manifest.json).agents);
  if (!hashes) return null;
  return (boundaries) => ({
    unusable: boundaries ? null : 'it cannot be read',
    unfit: (identity) => boundaries?.unfit(identity) ?? null,
    otherPrompt: (identity, prompt) => hashes.has(identity) && sha256(prompt) !== hashes.get(identity),
  });
}

/** Text with half a character has no digest, so that no registry with it can be identified. */
function isWellFormed(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member));
}
