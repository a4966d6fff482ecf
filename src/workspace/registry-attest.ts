// Attests the agent of a turn against the registry on disk. Manifest, lock and prompts are read once for each dispatch; as
// long as every byte is the same as before, so is what was worked out from them. The text that goes to the agent is hashed
// itself and compared with what is pinned.
import { dirname, join } from 'node:path';
import type { Sighting } from '../kernel/trust/state.ts';
import type { Member, TrustWatch } from '../kernel/trust/watch.ts';
import type { Registry } from '../trust/agent.ts';
import { attest } from '../trust/attest.ts';
import { hashBytes } from '../trust/registry-folder.ts';
import { BUNDLED } from './find-config.ts';
import { hasRegistry, keeperOf } from './registry-lock.ts';

export type Attester = (watch: TrustWatch, handoffId: string, timestamp: string) => Sighting;

const NOWHERE: Sighting = { origin: 'none', registry: null, attestation: null, envelope: null, refusal: null };

/** `dir` is the project; its own registry counts, and where it never had one, that of the bundled loadouts. */
export function attesterOf(dir: string): Attester {
  const own = keeperOf(join(dir, '.baton'));
  const bundled = keeperOf(dirname(BUNDLED));
  return (watch, handoffId, timestamp) => {
    const given = { handoffId, timestamp, promptHash: hashBytes(watch.prompt) };
    if (watch.isOn || hasRegistry(join(dir, '.baton'))) {
      const { registry, lockHash, loaded, texts } = own();
      const isKnown = watch.inForce?.digest === loaded?.digest && watch.inForce?.lock === loaded?.lock;
      const more = texts && !isKnown ? { texts } : {};
      return { origin: 'workspace', registry: loaded, ...more, ...attest(registry, lockHash, watch, given) };
    }
    const { registry, lockHash, loaded } = bundled();
    // A cast is attested as a whole or not at all: `trust: on` must not hide that some of its agents were let through.
    if (![...watch.team, { identity: watch.target, prompt: watch.prompt }].every(isPinnedIn(registry))) return NOWHERE;
    return { origin: 'bundled', registry: loaded, ...attest(registry, lockHash, watch, given) };
  };
}

/** Whether an agent, by its identity and its prompt, is one of those that come with the product. */
export function bundledAgents(): (identity: string | null, prompt: string) => boolean {
  const isPinned = isPinnedIn(keeperOf(dirname(BUNDLED))().registry);
  return (identity, prompt) => isPinned({ identity, prompt });
}

function isPinnedIn({ agents }: Registry): (member: Member) => boolean {
  return ({ identity, prompt }) => agents.get(identity ?? '')?.lockedHash === hashBytes(prompt);
}
