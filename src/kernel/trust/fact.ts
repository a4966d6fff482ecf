// What happened to trust: a registry came into force, something was blocked, a person released it, a foreign handoff was
// judged.
import type { Code } from '../codes.ts';
import type { JsonObject } from '../json.ts';
import type { Blocked, LoadedRegistry, Pin } from './state.ts';

export type TrustFact =
  | { readonly kind: 'registry.loaded'; readonly registry: LoadedRegistry; readonly reason?: string }
  | {
      readonly kind: 'quarantine.opened';
      readonly key: string;
      readonly blocks: Blocked;
      readonly code: Code;
      readonly reason: string;
      readonly pin: Pin | null;
      /** The dispatch or the handoff at which it was found out. */
      readonly where: JsonObject;
    }
  | {
      readonly kind: 'quarantine.released';
      readonly key: string;
      readonly outcome: Outcome;
      readonly reason: string;
      /** How the agent is pinned now, beside how it was. */
      readonly before: Pin | null;
      readonly now: Pin | null;
    }
  | {
      readonly kind: 'handoff.judged';
      /** In lower case; null where the envelope has none that could be read. */
      readonly handoff: string | null;
      /** Whether the id is used up. One that was refused before its id was looked at may be corrected and sent again. */
      readonly usesId: boolean;
      readonly source: string | null;
      readonly target: string | null;
      readonly parent: string | null;
      readonly allow: boolean;
      readonly code: Code | 'OK';
      readonly reason: string;
      readonly details: JsonObject;
      readonly envelopeDigest: string | null;
      readonly requestDigest: string | null;
      readonly registryDigest: string | null;
      /** The envelope as it came, without secrets. */
      readonly envelope: string;
    };

/** What a person found when looking into a block. */
export const OUTCOMES = ['tampering', 'stale_sender', 'legitimate_change', 'checkout_artifact', 'harmless'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const TRUST_FACT = /^(?:registry|quarantine|handoff)\./;

/** The first word of a kind says whose fact it is. */
export function isTrustFact(fact: { readonly kind: string }): fact is TrustFact {
  return TRUST_FACT.test(fact.kind);
}
