// An agent as manifest, lock and prompt describe it together, and the registry that holds the agents.
import type { JsonObject } from '../kernel/json.ts';
import type { Diagnostic } from '../kernel/trust/problem.ts';
import type { Sha256 } from './canonical.ts';
import type { ApprovedSetup } from './lock.ts';
import type { AgentRecord } from './manifest.ts';

export type Agent = Omit<AgentRecord, 'version'> & {
  /** The locked version; the manifest's where the lock gives none. */
  readonly version: string;
  /** Null when the lock has no usable hash. */
  readonly lockedHash: string | null;
  readonly bytesMatch: boolean;
  /** What it was approved with, where the lock says. */
  readonly approval: ApprovedSetup | null;
  /** The very bytes that were hashed. */
  readonly prompt: Uint8Array | null;
  /** What is wrong with this agent, each under the code that refuses its handoffs. */
  readonly faults: readonly Diagnostic[];
};

export type Registry = {
  readonly usable: boolean;
  readonly version: string | null;
  readonly agents: ReadonlyMap<string, Agent>;
  /** Every scope some agent declares. */
  readonly scopes: ReadonlySet<string>;
  readonly diagnostics: readonly Diagnostic[];
  /** Identifies manifest and lock together, so that a verdict can be derived again. Null when unusable. */
  readonly digest: string | null;
  /** Manifest and lock in their normal forms. */
  readonly manifest: JsonObject;
  readonly lock: JsonObject;
  readonly sha256: Sha256;
};
