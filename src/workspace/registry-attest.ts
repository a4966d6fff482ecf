// Attests the agent of a turn against the registry on disk. Manifest, lock and prompts are read once for each dispatch; as
// long as every byte is the same as before, so is what was worked out from them. The text that goes to the agent is hashed
// itself and compared with what is pinned.
import { dirname, join } from 'node:path';
import { attest, loadedFrom } from '../dialects/governed/attest.ts';
import { loadRegistry } from '../dialects/governed/load.ts';
import type { ReadFile } from '../dialects/governed/prompt.ts';
import type { Registry } from '../dialects/governed/registry.ts';
import { readerOf, sha256 } from '../dialects/governed/registry-folder.ts';
import { LOCK_PATH } from '../dialects/governed/registry-json.ts';
import type { Sighting } from '../kernel/trust/sighting.ts';
import type { LoadedRegistry } from '../kernel/trust/state.ts';
import type { Member, TrustWatch } from '../kernel/trust/watch.ts';
import { BUNDLED } from './find-config.ts';
import { hasRegistry } from './registry-lock.ts';

/** A registry with the digest of its lock's bytes. */
export type Kept = { readonly registry: Registry; readonly lockHash: string; readonly loaded: LoadedRegistry | null };

export type Attester = (watch: TrustWatch, handoffId: string, timestamp: string) => Sighting;

const NOWHERE: Sighting = { origin: 'none', registry: null, attestation: null, envelope: null, refusal: null };

/** `dir` is the project; its own registry counts, and where it never had one, that of the bundled loadouts. */
export function attesterOf(dir: string): Attester {
  const own = keeperOf(join(dir, '.baton'));
  const bundled = keeperOf(dirname(BUNDLED));
  return (watch, handoffId, timestamp) => {
    const given = { handoffId, timestamp, promptHash: sha256(watch.prompt) };
    if (watch.isOn || hasRegistry(join(dir, '.baton'))) {
      const { registry, lockHash, loaded } = own();
      return { origin: 'workspace', registry: loaded, ...attest(registry, lockHash, watch, given) };
    }
    const { registry, lockHash, loaded } = bundled();
    // A prompt of one's own under a bundled name is nobody's business where there is no registry. But a cast is attested
    // as a whole or not at all: nobody could tell from `trust: on` that some of its agents were let through unseen.
    if (![...watch.team, { identity: watch.target, prompt: watch.prompt }].every(isPinnedIn(registry))) return NOWHERE;
    return { origin: 'bundled', registry: loaded, ...attest(registry, lockHash, watch, given) };
  };
}

function isPinnedIn({ agents }: Registry): (member: Member) => boolean {
  return ({ identity, prompt }) => agents.get(identity ?? '')?.lockedHash === sha256(prompt);
}

/**
 * The registry that a project has on disk, as its log is to know it; null where it has none. One that cannot be used has
 * no agents, so that nobody is dispatched before it is mended.
 */
export function registryFound(dir: string): LoadedRegistry | null {
  const home = join(dir, '.baton');
  if (!hasRegistry(home)) return null;
  const { loaded, lockHash } = keeperOf(home)();
  return loaded ?? { digest: '', lock: lockHash, version: '', agents: {} };
}

/** Reads a registry's folder, and works it out anew only where a byte has changed. */
export function keeperOf(dir: string): () => Kept {
  const read = readerOf(dir);
  let known: Kept | null = null;
  let files = new Map<string, Uint8Array | null>();
  return () => {
    if (known && [...files].every(([path, bytes]) => isSame(bytes, read(path)))) return known;
    files = new Map();
    const noting: ReadFile = (path) => {
      const bytes = read(path);
      files.set(path, bytes);
      return bytes;
    };
    const registry = loadRegistry('', noting, sha256);
    const lockHash = sha256(files.get(LOCK_PATH) ?? new Uint8Array());
    known = { registry, lockHash, loaded: loadedFrom(registry, lockHash) };
    return known;
  };
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0;
}
