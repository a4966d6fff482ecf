// What a workspace knows about trust: the registry in force, blocked agents and contexts, and what a person cleared. With
// the facts, the requests, and what was seen of an agent before its turn.
import { type ByKind, rowFor } from '../by-kind.ts';
import type { Code } from '../codes.ts';
import type { Tools } from '../graph/config.ts';
import type { JsonObject } from '../json.ts';
import type { Denied, Verdict } from '../verdict.ts';

export type Trust = {
  /** Null until a registry was loaded here for the first time: then nothing is attested. It never goes back to null. */
  registry: LoadedRegistry | null;
  /** By key: an agent, an agent with one claimed prompt, or one context. */
  quarantine: Record<string, Quarantine>;
  /**
   * By agent and version, the first prompt that was in force under that version. A version whose prompt changed later was
   * tampered with, so this is what an agent is put back to.
   */
  originals: Record<string, Record<string, string>>;
  /** Digests of contexts that a person has read and let pass. */
  cleared: Record<string, true>;
};

/** The registry in short: enough to tell whether an agent was pinned otherwise before. */
export type LoadedRegistry = {
  /** Over manifest and lock in their normal forms. */
  readonly digest: string;
  /** Over the lock's own bytes. */
  readonly lock: string;
  readonly version: string;
  readonly agents: Readonly<Record<string, Pin>>;
};

/** Manifest and lock, word for word: with them a verdict can be derived again after the registry has moved on. */
export type RegistryTexts = { readonly manifest: string; readonly lock: string };

export type Pin = { readonly version: string; readonly hash: string };

export type Quarantine = {
  readonly key: string;
  /** Null where a context is blocked and no agent. */
  readonly agent: string | null;
  /** The claimed hash, where only this agent with this hash is blocked. */
  readonly hash: string | null;
  /** The digest of the context, where only this context is blocked. */
  readonly context: string | null;
  readonly code: Code;
  readonly reason: string;
  /** How the agent was pinned before it was blocked: the version in force, with its first prompt. */
  readonly pin: Pin | null;
  readonly since: number;
  times: number;
};

export type Blocked = Pick<Quarantine, 'agent' | 'hash' | 'context'>;

export function noTrust(): Trust {
  return { registry: null, quarantine: {}, originals: {}, cleared: {} };
}

export function keyOfBlocked({ agent, hash, context }: Blocked): string {
  if (context !== null) return `context:${context}`;
  return hash === null ? `${agent}` : `${agent}@${hash}`;
}

/** What blocks an agent that speaks with this prompt; null where nothing does. */
export function quarantineOf(trust: Trust, agent: string, hash: string | null): Quarantine | null {
  const { quarantine } = trust;
  const keys = [agent, ...(hash === null ? [] : [`${agent}@${hash}`])];
  for (const key of keys) if (Object.hasOwn(quarantine, key)) return quarantine[key] ?? null;
  return null;
}

/** What happened to trust. */
export type TrustFact =
  | {
      readonly kind: 'registry.loaded';
      readonly registry: LoadedRegistry;
      /** Missing in older logs, and where the registry cannot be used. */
      readonly texts?: RegistryTexts;
      readonly reason?: string;
    }
  /** A caller was turned away. Of many times within a minute one is recorded, with their number since the last. */
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
      /** When the server ended that had these counted and not recorded yet. */
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
      readonly outcome: ReleaseOutcome;
      readonly reason: string;
      /** How the agent is pinned now, and how it was. */
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
export type ReleaseOutcome = (typeof OUTCOMES)[number];

const TRUST_FACT = /^(?:registry|quarantine|handoff|access)\./;

/** The first word of a kind says whose fact it is. */
export function isTrustFact(fact: { readonly kind: string }): fact is TrustFact {
  return TRUST_FACT.test(fact.kind);
}

/** Who speaks in a turn, as it was established before the dispatch. */
export type Attestation = {
  readonly agent: string;
  readonly type: string;
  readonly version: string;
  /** SHA-256 of the very text that goes to the agent. */
  readonly promptHash: string;
  /** The digest of manifest and lock together, and of the lock's bytes. */
  readonly registry: string;
  readonly lockHash: string;
  /** Domains and shares of an archetype. */
  readonly composition: JsonObject | null;
  readonly runner: string;
  readonly model: string | null;
  readonly tools: Tools;
  /** Whether the model is one exact release. An alias may change without notice. */
  readonly pinned: boolean;
  /** What differs from what the agent was approved with. */
  readonly drift: readonly string[];
};

/** What a dispatch carries from one agent to the next. */
export type EnvelopeNote = {
  readonly handoff_id: string;
  readonly timestamp: string;
  readonly digest: string;
  readonly pattern: number | null;
  /** Findings in it that refuse nothing, such as words that try to steer a reader. */
  readonly warnings?: readonly JsonObject[];
  /** The envelope itself. */
  readonly envelope: JsonObject;
  /** The handoff before it, where an orchestrator mediated. */
  readonly mediation?: Mediation;
};

/** The orchestrator that mediated, and the handoff to it. */
export type Mediation = { readonly agent: string; readonly handoff_id: string; readonly envelope: JsonObject };

export type Sighting = {
  /** Whose registry it was: the workspace's own, the one of the product, or none. */
  readonly origin: 'workspace' | 'bundled' | 'none';
  /** Null where it cannot be used. */
  readonly registry: LoadedRegistry | null;
  /** Its manifest and lock, where it is another one than the log knows. */
  readonly texts?: RegistryTexts;
  /** Null where the agent could not be established. */
  readonly attestation: Attestation | null;
  /** Null for the first agent of a cast. */
  readonly envelope: EnvelopeNote | null;
  readonly refusal: Refusal | null;
};

export type Refusal = {
  /** The number of the check that refused. Checks run in this order. */
  readonly stage: number;
  readonly verdict: Denied;
  /** What has to be blocked until a person has looked into it. */
  readonly blocks: Blocked | null;
};

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
  /** A caller was turned away: by a server, because its role is too low, or because only a person may do it. */
  | {
      readonly kind: 'access.refuse';
      readonly who: string;
      readonly verdict: Denied;
      /** The minute it belongs to, in UTC: each has one fact for each of those who are turned away, for each code. */
      readonly minute: string;
      readonly times: number;
      /** The command or tool that an agent tried: each has a fact of its own. */
      readonly what?: string;
      /** When a server ended that still had these counted. They are recorded then, whatever was recorded in that minute. */
      readonly ended?: string;
    }
  | {
      readonly kind: 'quarantine.release';
      /** A key, or an agent: then everything that blocks it. */
      readonly id: string;
      readonly reason: string;
      readonly outcome?: ReleaseOutcome;
      readonly isAgent: boolean;
      /** What manifest, lock and prompts say at this moment. */
      readonly registry: LoadedRegistry | null;
      /** By agent, its fault; an agent that is not named is in order. */
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

/** What each fact changes, in place. No rules are here, and nothing can fail. */
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
