// What each fact of trust changes, in place. There are no rules here, and nothing can fail.
import { type ByKind, rowFor } from '../by-kind.ts';
import type { TrustFact } from './fact.ts';
import type { Trust } from './state.ts';

const ROWS: ByKind<TrustFact, [trust: Trust], [at: number]> = {
  'registry.loaded': (trust, { registry }) => {
    trust.registry = registry;
    for (const [agent, { version, hash }] of Object.entries(registry.agents)) {
      const known = Object.hasOwn(trust.originals, agent) ? trust.originals[agent] : undefined;
      if (!known || !Object.hasOwn(known, version)) trust.originals[agent] = { ...known, [version]: hash };
    }
  },
  'quarantine.opened': (trust, { key, blocks, code, reason, pin }, at) => {
    const known = Object.hasOwn(trust.quarantine, key) ? trust.quarantine[key] : undefined;
    if (known) known.times += 1;
    else trust.quarantine[key] = { key, ...blocks, code, reason, pin, since: at, times: 1 };
  },
  'quarantine.released': (trust, { key }) => {
    const context = trust.quarantine[key]?.context ?? null;
    delete trust.quarantine[key];
    if (context !== null) trust.cleared[context] = true;
  },
  'handoff.judged': () => {},
  'access.refused': () => {},
};

export function applyTrust(trust: Trust, fact: TrustFact, at: number): void {
  rowFor(ROWS, fact)?.(trust, fact, at);
}
