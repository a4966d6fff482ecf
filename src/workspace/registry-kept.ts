// A registry as it lies in a folder, read when it is asked for.
import { join } from 'node:path';
import type { LoadedRegistry, RegistryTexts } from '../kernel/trust/state.ts';
import { loadRegistry } from '../trust/load.ts';
import { loadedFrom } from '../trust/loaded.ts';
import type { ReadFile } from '../trust/prompt.ts';
import type { Registry } from '../trust/registry.ts';
import { readerOf, sha256 } from '../trust/registry-folder.ts';
import { LOCK_PATH, MANIFEST_PATH } from '../trust/registry-json.ts';
import { hasRegistry } from './registry-lock.ts';

/** A registry with the digest of its lock's bytes, and, where it can be used, as the log is to know it. */
export type Kept = {
  readonly registry: Registry;
  readonly lockHash: string;
  readonly loaded: LoadedRegistry | null;
  readonly texts: RegistryTexts | null;
};

/**
 * The registry that a project has on disk, as its log is to know it; null where it has none. One that cannot be used has
 * no agents, so that nobody is dispatched before it is mended.
 */
export function registryFound(
  dir: string,
): (Pick<Kept, 'loaded' | 'texts'> & { readonly loaded: LoadedRegistry }) | null {
  const home = join(dir, '.baton');
  if (!hasRegistry(home)) return null;
  const { loaded, lockHash, texts } = keeperOf(home)();
  return { loaded: loaded ?? { digest: '', lock: lockHash, version: '', agents: {} }, texts };
}

/** Reads a registry's folder, and works it out anew only where a byte has changed. */
export function keeperOf(dir: string): () => Kept {
  const read = readerOf(dir);
  let known: Kept | null = null;
  let files = new Map<string, Uint8Array | null>();
  return () => {
    if (known && [...files].every(([path, bytes]) => isSame(bytes, read(path)))) return known;
    files = new Map();
    const note = (path: string) => {
      const bytes = read(path);
      files.set(path, bytes);
      return bytes;
    };
    const noting: ReadFile = Object.assign(note, { leaves: (path: string) => read.leaves?.(path) ?? false });
    const registry = loadRegistry('', noting, sha256);
    const lockHash = sha256(files.get(LOCK_PATH) ?? new Uint8Array());
    const loaded = loadedFrom(registry, lockHash);
    known = { registry, lockHash, loaded, texts: loaded && textsOf(files) };
    return known;
  };
}

function textsOf(files: ReadonlyMap<string, Uint8Array | null>): RegistryTexts {
  const text = (path: string) => Buffer.from(files.get(path) ?? []).toString('utf8');
  return { manifest: text(MANIFEST_PATH), lock: text(LOCK_PATH) };
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0;
}
