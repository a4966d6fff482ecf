// The bookkeeping of trust: what a fact does to it. No rules and no failure.
import type { TrustFact } from './fact.ts';
import type { Trust } from './state.ts';

export function applyTrust(trust: Trust, fact: TrustFact, at: number): void {
  switch (fact.kind) {
    case 'registry.loaded':
      trust.registry = fact.registry;
      for (const [agent, { version, hash }] of Object.entries(fact.registry.agents)) {
        const known = Object.hasOwn(trust.originals, agent) ? trust.originals[agent] : undefined;
        if (!known || !Object.hasOwn(known, version)) trust.originals[agent] = { ...known, [version]: hash };
      }
      return;
    case 'quarantine.opened': {
      const { key, blocks, code, reason, pin } = fact;
      const known = Object.hasOwn(trust.quarantine, key) ? trust.quarantine[key] : undefined;
      if (known) known.times += 1;
      else trust.quarantine[key] = { key, ...blocks, code, reason, pin, since: at, times: 1 };
      return;
    }
    case 'quarantine.released': {
      const context = trust.quarantine[fact.key]?.context ?? null;
      delete trust.quarantine[fact.key];
      if (context !== null) trust.cleared[context] = true;
      return;
    }
    case 'handoff.judged':
    case 'access.refused':
      return;
  }
}
