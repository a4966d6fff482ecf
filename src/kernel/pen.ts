// The pen of a decision. Every fact is applied as it is written, so the next rule of the same decision sees it. Only the
// facts that it wrote are stored, and nothing else changes the state.
import type { ContractName } from './capabilities.ts';
import type { Cast } from './cast/state.ts';
import type { Dialect } from './dialect.ts';
import type { Fact } from './fact.ts';
import type { RunStatus } from './ledger/fact.ts';
import type { Ledger } from './ledger/state.ts';
import type { State } from './state.ts';
import type { Denied } from './verdict.ts';

export type Dialects = Readonly<Record<ContractName, Dialect>>;

export type Pen = {
  readonly state: State;
  readonly ledger: Ledger;
  /** When it is decided: what is due, silent or over is so by this time. */
  readonly at: number;
  /** The same, or the moment of a timer whose wait is over while the clock was set back. */
  readonly due: number;
  readonly dialects: Dialects;
  readonly facts: Fact[];
  /** By the place of a fact, the time that its entry counts. */
  readonly ranMs: Map<number, number>;
  /** Counts at least this time for the cast in this decision, where its time is measured. */
  countAtLeast(cast: Cast, ms: number): void;
  /** The moment up to which the cast ran, as its running time is counted. */
  ranUntil(cast: Cast): number;
  /** The cast whose run it is, where nothing of it runs. */
  standing(run: string): RunStatus | null;
  write(fact: Fact): void;
};

/** How long a cast ran since its time was counted last, as far as that was measured; null where it was not. */
export type RanOf = (cast: Cast) => number | null;

/** Ends the cast with the refusal's own code. The turn it stands at stays, so that a recast knows where to go on. */
export function fail(pen: Pen, cast: Cast, refusal: Denied, turn: number | null, stand: Cast['stand'] = null): void {
  const { code, reason, details } = refusal;
  pen.write({ kind: 'cast.failed', cast: cast.id, code, reason, details, turn, stand });
}
