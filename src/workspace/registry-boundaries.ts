// What the static checks ask of the registry on disk: who exists, and who can never hand to whom. The manifest alone says
// it. Which bytes are pinned, and whether they still are, is for dispatch and `registry verify`; reading it here would make
// every `check` slower, and silent between a change of the manifest and the next lock.
import { checkBoundary } from '../dialects/governed/boundary.ts';
import { denies } from '../dialects/governed/collaboration.ts';
import { checkShares } from '../dialects/governed/composition.ts';
import { readManifest } from '../dialects/governed/manifest.ts';
import { DEFAULT_POLICY } from '../dialects/governed/policy.ts';
import { readInside } from '../dialects/governed/read-inside.ts';
import { MANIFEST_PATH, readRegistryJson } from '../dialects/governed/registry-json.ts';
import { isSemver } from '../dialects/governed/semver.ts';
import type { Boundaries } from '../kernel/graph/check-boundaries.ts';
import type { Json } from '../kernel/json.ts';

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
    mediated(origin, source, target) {
      const [first, through] = [agents.get(origin), agents.get(source)];
      if (!first || through?.type !== 'orchestrator' || !denies(first.collaboration, target)) return null;
      return `${first.id} denies handing to ${target}, through ${through.id} too`;
    },
  };
}

/** Text with half a character has no digest, so that no registry with it can be identified. */
function isWellFormed(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member));
}
