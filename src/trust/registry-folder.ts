// Registries from a folder on disk. Reads nothing outside the folder: not through `..`, not through a symbolic link.
import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import type { Sha256 } from './canonical.ts';
import { fatal } from './diagnostic.ts';
import { loadRegistry } from './load.ts';
import { type ReadFile, safePath } from './prompt.ts';
import { leavesFolder, readInside } from './read-inside.ts';
import { type Registry, unusable } from './registry.ts';
import type { RegistryLoader } from './validate.ts';

export const sha256: Sha256 = (content) => hash('sha256', content, 'hex');

export function loadRegistryFolder(dir: string): Registry {
  return loadRegistry('', readerOf(dir), sha256);
}

/** Answers null for what is missing, unreadable, too large, no plain file, or outside the folder. */
export function readerOf(dir: string): ReadFile {
  const read = (path: string) => {
    const inside = safePath(path);
    return inside === null ? null : readInside(dir, inside);
  };
  return Object.assign(read, { leaves: (path: string) => leavesFolder(dir, path) });
}

/**
 * Loads each folder once. Relative folders resolve against `base`, which is also the registry of those who name none.
 * What was loaded stays as it was; a new loader sees the changes.
 */
export function registryLoader(base: string | null): RegistryLoader {
  const loaded = new Map<string, Registry>();
  return (dir) => {
    const folder = dir === null ? base : resolve(base ?? '.', dir);
    if (folder === null)
      return unusable([fatal('REGISTRY_MISSING', 'no registry folder was named; name it with --registry DIR')], sha256);
    const known = loaded.get(folder) ?? loadRegistryFolder(folder);
    loaded.set(folder, known);
    return known;
  };
}
