// What was seen of an agent before its turn: who it is in the registry, with which prompt, and what speaks against it. The
// bytes were read and hashed outside; the rules that need the state of the workspace are the gate's.
import type { Tools } from '../graph/config.ts';
import type { JsonObject } from '../json.ts';
import type { Denied } from '../verdict.ts';
import type { Blocked, LoadedRegistry, RegistryTexts } from './state.ts';

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
  /** Whether the model is one exact release. What stands behind an alias may change without anybody here noticing. */
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
  /** What was noticed in it and refuses nothing, such as words that try to steer whoever reads them. */
  readonly warnings?: readonly JsonObject[];
  /** The envelope itself. */
  readonly envelope: JsonObject;
};

export type Sighting = {
  /** Whose registry it was: the workspace's own, the one that comes with the product, or nobody's. */
  readonly origin: 'workspace' | 'bundled' | 'none';
  /** Null where it cannot be used. */
  readonly registry: LoadedRegistry | null;
  /** Its manifest and lock, where it is another one than the log knows. */
  readonly texts?: RegistryTexts;
  /** Null where the agent could not be established. */
  readonly attestation: Attestation | null;
  /** Null where nobody handed anything: for the first agent of a cast. */
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
