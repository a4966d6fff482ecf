// What happened to trust: a registry came into force, something was blocked, a person released it, a foreign handoff was
// judged, and somebody was turned away.
import type { Code } from '../codes.ts';
import type { JsonObject } from '../json.ts';
import type { Blocked, LoadedRegistry, Pin, RegistryTexts } from './state.ts';

export type TrustFact =
  | {
      readonly kind: 'registry.loaded';
      readonly registry: LoadedRegistry;
      /** Missing in older logs, and where the registry cannot be used. */
      readonly texts?: RegistryTexts;
      readonly reason?: string;
    }
  /** Somebody was turned away; of many times within a minute one is told, and how many there were since the last. */
  | {
      readonly kind: 'access.refused';
      /** As facts name him. */
      readonly who: string;
      readonly code: Code;
      readonly reason: string;
      /** The minute it belongs to, in UTC. */
      readonly minute: string;
      readonly times: number;
      /** The command or tool that an agent tried. */
      readonly what?: string;
      /** When the server ended that had counted these and not told them yet. */
      readonly ended?: string;
    }
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
      /** Over everything but id and timestamp; missing in older logs. */
      readonly contentDigest?: string | null;
      /** The entry with which the same content was accepted first. */
      readonly duplicateOf?: number;
      readonly requestDigest: string | null;
      readonly registryDigest: string | null;
      /** Of a registry that is not the one in force, which has a fact of its own. */
      readonly registryTexts?: RegistryTexts;
      /** The envelope as it came, without secrets. */
      readonly envelope: string;
    };

/** What a person found when looking into a block. */
export const OUTCOMES = ['tampering', 'stale_sender', 'legitimate_change', 'checkout_artifact', 'harmless'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const TRUST_FACT = /^(?:registry|quarantine|handoff|access)\./;

/** The first word of a kind says whose fact it is. */
export function isTrustFact(fact: { readonly kind: string }): fact is TrustFact {
  return TRUST_FACT.test(fact.kind);
}
