// The state of the open casts of a workspace, and the pen with which a decision writes facts. The state is plain JSON, so a
// snapshot is its canonical text.
import { type Approvals, noApprovals } from './approval/state.ts';
import type { ContractName } from './capabilities.ts';
import type { Cast } from './cast/state.ts';
import type { Dialect } from './dialect.ts';
import type { Fact } from './fact.ts';
import { type Knowledge, noKnowledge } from './knowledge/state.ts';
import type { StoppedRun } from './ledger/fact.ts';
import { emptyLedger, type Ledger } from './ledger/state.ts';
import { noQuests, type Quests } from './quest/state.ts';
import { noTrust, type Trust } from './trust/state.ts';
import type { Denied } from './verdict.ts';

export type State = {
  casts: Record<string, Cast>;
  ledger: Ledger;
  day: Day;
  trust: Trust;
  approvals: Approvals;
  knowledge: Knowledge;
  quests: Quests;
};

/** What the casts of the workspace used on one day, by universal time. */
export type Day = { date: string; tokens: number; cost: number };

export function emptyState(): State {
  return {
    casts: {},
    ledger: emptyLedger(),
    day: { date: '', tokens: 0, cost: 0 },
    trust: noTrust(),
    approvals: noApprovals(),
    knowledge: noKnowledge(),
    quests: noQuests(),
  };
}

export type Dialects = Readonly<Record<ContractName, Dialect>>;

/** Every fact is applied as it is written, so the next rule of the same decision sees it. Only these facts are stored. */
export type Pen = {
  readonly state: State;
  readonly ledger: Ledger;
  /** The time of the decision, by which a thing is due, silent or over. */
  readonly at: number;
  /** The same, or the moment of a timer whose wait is over while the clock was set back. */
  readonly due: number;
  readonly dialects: Dialects;
  readonly facts: Fact[];
  /** By the place of a fact, the time that its entry counts. */
  readonly ranMs: Map<number, number>;
  /** Whether the process that decides drives the cast. Only a driver starts attempts: it knows what runs and what does not. */
  drives(cast: string): boolean;
  /** Counts at least this time for the cast in this decision, where its time is measured. */
  countAtLeast(cast: Cast, ms: number): void;
  /** The moment up to which the cast ran, as its running time is counted. */
  ranUntil(cast: Cast): number;
  /** The cast whose run it is, where nothing of it runs. */
  stoppedRun(run: string): StoppedRun | null;
  write(fact: Fact): void;
};

/** How long a cast ran since its time was counted last, as far as that was measured; null where it was not. */
export type RanOf = (cast: Cast) => number | null;

/** Ends the cast with the refusal's own code. Its turn stays, so that a recast knows where to resume. */
export function fail(pen: Pen, cast: Cast, refusal: Denied, turn: number | null, stand: Cast['stand'] = null): void {
  const { code, reason, details } = refusal;
  pen.write({ kind: 'cast.failed', cast: cast.id, code, reason, details, turn, stand });
}
