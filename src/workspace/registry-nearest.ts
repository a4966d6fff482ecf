// Whose boundaries hold for a configuration that is checked: the workspace's own registry, else one beside the configuration.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Boundaries } from '../kernel/graph/check-boundaries.ts';

/**
 * Null where neither has a registry. Most have none, and then nothing is loaded to read one. `dir` is the workspace,
 * `baseDir` the folder of the configuration.
 */
export async function nearestBoundaries(dir: string, baseDir: string): Promise<Boundaries | null> {
  const governed = [join(dir, '.baton'), baseDir].filter((folder) => existsSync(join(folder, 'versions')));
  if (governed.length === 0) return null;
  const { boundariesIn } = await import('./registry-boundaries.ts');
  for (const folder of governed) {
    const boundaries = boundariesIn(folder);
    if (boundaries) return { ...boundaries, isInForce: folder === join(dir, '.baton') };
  }
  return null;
}
