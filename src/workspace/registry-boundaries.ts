// What the static checks ask of the registry on disk.
import { checkBoundary } from '../dialects/governed/boundary.ts';
import { DEFAULT_POLICY } from '../dialects/governed/policy.ts';
import { loadRegistryFolder } from '../dialects/governed/registry-folder.ts';
import type { Boundaries } from '../kernel/graph/check-boundaries.ts';
import { hasRegistry } from './registry-lock.ts';

/** Null where there is no registry in the folder that could be asked. */
export function boundariesIn(dir: string): Boundaries | null {
  if (!hasRegistry(dir)) return null;
  const { usable, agents } = loadRegistryFolder(dir);
  if (!usable) return null;
  return {
    knows: (identity) => agents.has(identity),
    refusal(source, target) {
      const [from, to] = [agents.get(source), agents.get(target)];
      if (!from || !to) return null;
      return checkBoundary(from, to, null, DEFAULT_POLICY)[0]?.message ?? null;
    },
  };
}
