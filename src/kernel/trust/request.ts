// What can be asked of trust. Who asks, and when, comes with every input.
import type { Denied, Verdict } from '../verdict.ts';
import type { Outcome } from './fact.ts';
import type { Refusal } from './sighting.ts';
import type { LoadedRegistry, Quarantine, RegistryTexts } from './state.ts';

/** A block as it is kept outside of the state folder. */
export type CarriedBlock = Omit<Quarantine, 'since' | 'times'>;

export type TrustRequest =
  /** What was blocked in this workspace, and is not in this log: the state folder is another one than it was. */
  | { readonly kind: 'quarantine.carry'; readonly blocked: readonly CarriedBlock[] }
  /** A registry comes into force, because a person locked it or found it in order. */
  | {
      readonly kind: 'registry.load';
      readonly registry: LoadedRegistry;
      readonly texts?: RegistryTexts;
      readonly reason?: string;
    }
  /** Somebody was turned away: by a server, because his role is too low, or because only a person may do it. */
  | {
      readonly kind: 'access.refuse';
      readonly who: string;
      readonly verdict: Denied;
      /** The minute it belongs to, in UTC: each has one fact for each of those who are turned away, for each code. */
      readonly minute: string;
      readonly times: number;
      /** The command or tool that an agent tried: each has a fact of its own. */
      readonly what?: string;
      /** When a server ended that still had these counted: they are told then, whatever was told in that minute. */
      readonly ended?: string;
    }
  | {
      readonly kind: 'quarantine.release';
      /** A key, or an agent: then everything that blocks it. */
      readonly id: string;
      readonly reason: string;
      readonly outcome?: Outcome;
      readonly isAgent: boolean;
      /** What manifest, lock and prompts say at this moment. */
      readonly registry: LoadedRegistry | null;
      /** By agent, what is wrong with it; an agent that is not named is in order. */
      readonly faults: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'handoff.judge';
      readonly handoff: string | null;
      readonly source: string | null;
      readonly target: string | null;
      /** The prompts that the envelope claims for them. */
      readonly claimed: { readonly source: string | null; readonly target: string | null };
      readonly parent: string | null;
      readonly verdict: Verdict;
      /**
       * What the verifier would say, had the id been used before, or were one of the agents blocked: whether it is so is
       * known only where this is decided.
       */
      readonly otherwise: { readonly replay: Verdict; readonly source: Verdict; readonly target: Verdict };
      /** Where the verifier refused. */
      readonly refusal: Refusal | null;
      readonly registry: LoadedRegistry | null;
      readonly registryTexts?: RegistryTexts;
      readonly envelopeDigest: string | null;
      /** Over everything in the envelope but its id and its timestamp: what an honest retry has in common with the first. */
      readonly contentDigest?: string | null;
      readonly requestDigest: string | null;
      readonly envelope: string;
    };

const TRUST_REQUEST = /^(?:registry|quarantine|handoff|access)\./;

export function isTrustRequest<T extends { readonly kind: string }>(request: T): request is T & TrustRequest {
  return TRUST_REQUEST.test(request.kind);
}
