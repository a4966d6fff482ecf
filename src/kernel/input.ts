// What reaches the kernel: a person's wish, an agent's answer, the passing of time. The caller brings the time, the
// identity and every new id; the kernel makes none of them up.
import type { Fault } from './fact.ts';
import type { Rules, Script } from './graph/config.ts';
import type { JsonObject } from './json.ts';
import type { Usage } from './state.ts';

export type Input = { readonly at: number; readonly by: string } & Request;

export type Request =
  | {
      readonly kind: 'cast.start';
      readonly cast: string;
      readonly request: string;
      readonly loadout: string;
      readonly rules: Rules;
      readonly script: Script | null;
      readonly data?: JsonObject;
    }
  /** The bytes are read, the place is ready: the turn may be dispatched if the gates agree. */
  | {
      readonly kind: 'turn.prepared';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      /** The seal of the workspace before the turn, where it is to be compared afterwards. */
      readonly seal?: string;
    }
  | {
      readonly kind: 'attempt.output';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly output: string;
      readonly usage?: Usage;
      readonly truncated?: boolean;
    }
  | {
      readonly kind: 'attempt.failed';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly fault: Fault;
      readonly reason: string;
      readonly usage?: Usage;
    }
  /** The attempt was cut off by a crash and left no answer. */
  | {
      readonly kind: 'attempt.lost';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly mayHaveRun: boolean;
      readonly reason: string;
    }
  | {
      readonly kind: 'turn.verified';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly seal: string;
    }
  | {
      readonly kind: 'turn.decide';
      readonly cast: string;
      readonly turn: number;
      readonly choice: 'rerun' | 'accept' | 'fail';
      readonly output?: string;
      readonly reason?: string;
    }
  | { readonly kind: 'clock.rang'; readonly cast: string }
  | { readonly kind: 'cast.abort'; readonly cast: string; readonly reason: string }
  | { readonly kind: 'cast.pause'; readonly cast: string; readonly reason: string }
  | { readonly kind: 'cast.resume'; readonly cast: string; readonly reason: string }
  | { readonly kind: 'cast.recast'; readonly cast: string }
  | { readonly kind: 'cast.revive'; readonly cast: string }
  | {
      readonly kind: 'budget.change';
      readonly cast: string;
      readonly maxTokens?: number;
      readonly maxCost?: number;
      readonly maxDurationMs?: number;
    };
