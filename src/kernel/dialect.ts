// A dialect is how one family of agents speaks: it tells the agent what to return, and turns what comes back into
// one canonical `Handoff` or one refusal. Pure both ways. Policy that needs state or authority is a gate's, not a dialect's.
import type { ContractName } from './capabilities.ts';
import type { Assign } from './graph/config.ts';
import type { Json, JsonObject } from './json.ts';
import type { Denied } from './verdict.ts';

/** What one socket asks of its output, derived from its place in the graph. */
export type Contract = {
  readonly dialect: ContractName;
  readonly generator: boolean;
  readonly utility: boolean;
  /** Reserved fields that must be present: `satisfied`, `workItems`, `context`. */
  readonly requires: readonly string[];
  readonly assign: Assign;
  /** A JSON Schema 2020-12 for the payload, or null. */
  readonly schema: JsonObject | null;
  /** How many bytes of UTF-8 are read, where that is not the usual mebibyte. */
  readonly maxBytes?: number;
  /** Whether the answer must be the object alone, without text around it. */
  readonly strict?: boolean;
  /** What the runtime gave the agent for this turn, in dialects where the answer depends on it. */
  readonly turn?: {
    readonly agentId: string | null;
    readonly input: JsonObject | null;
    /** The statuses that may be reported next, where not every one may. */
    readonly statuses?: readonly string[];
  };
};

export type Outcome = 'done' | 'rework' | 'continue' | 'ask' | 'approval' | 'blocked';

export type Handoff = {
  readonly outcome: Outcome;
  /** The boolean that edges and `advance.when` read; null matches only `always`. */
  readonly satisfied: boolean | null;
  /** What `$` means in `assign`: the parsed payload, or the raw text of a text socket. */
  readonly payload: Json;
  /** What it comes to in a line or two, in the agent's words: for those who come after, or for the person it asks. */
  readonly note?: string;
  /** Events that came with the payload; absent where there are none. */
  readonly events?: readonly JsonObject[];
};

export type Reading =
  | { readonly ok: true; readonly handoff: Handoff }
  | { readonly ok: false; readonly verdict: Denied };

export interface Dialect {
  /** The format instructions of a brief: only what this socket needs. */
  brief(contract: Contract): string;
  /** The message of a repair turn: what was wrong, exactly, and the format once more. */
  repair(refusal: Denied, raw: string, contract: Contract): string;
  /** Never throws. */
  read(raw: string, contract: Contract): Reading;
}
