// A registry as the log knows it.
import type { LoadedRegistry } from '../kernel/trust/state.ts';
import type { Registry } from './registry.ts';

/** What of a registry is remembered with the log. Null where it cannot be used. */
export function loadedFrom(registry: Registry, lockHash: string): LoadedRegistry | null {
  if (!registry.usable || registry.digest === null) return null;
  const pins = [...registry.agents.values()].map(({ id, version, lockedHash }) => [
    id,
    { version, hash: lockedHash ?? '' },
  ]);
  return { digest: registry.digest, lock: lockHash, version: registry.version ?? '', agents: Object.fromEntries(pins) };
}
