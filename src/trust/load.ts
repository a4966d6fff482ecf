// Loads a registry through a function that reads files, so that disk, archive and memory are the same to it.
import type { Sha256 } from './canonical.ts';
import type { ReadFile } from './prompt.ts';
import { type Registry, readRegistry, unusable } from './registry.ts';
import { LOCK_PATH, MANIFEST_PATH, readRegistryJson } from './registry-json.ts';

/** `dir` is where the registry stands within what `read` can see; empty for its root. */
export function loadRegistry(dir: string, read: ReadFile, sha256: Sha256): Registry {
  const within = (path: string) => (dir === '' ? path : `${dir.replace(/\/+$/, '')}/${path}`);
  const inside: ReadFile = Object.assign((path: string) => read(within(path)), {
    leaves: (path: string) => read.leaves?.(within(path)) ?? false,
  });
  const manifest = readRegistryJson('manifest', inside(MANIFEST_PATH));
  const lock = readRegistryJson('lock', inside(LOCK_PATH));
  const failed = [manifest, lock].filter((file) => 'code' in file);
  if ('code' in manifest || 'code' in lock) return unusable(failed, sha256);
  return readRegistry(manifest.json, lock.json, inside, sha256);
}
