// What happened. Facts are stored and replayed; inputs are not. A kind, once released, keeps its meaning for ever.
import type { ApprovalFact } from './approval/request.ts';
import type { CastFact } from './cast/fact.ts';
import type { KnowledgeFact } from './knowledge/state.ts';
import type { LedgerFact } from './ledger/fact.ts';
import type { QuestFact } from './quest/state.ts';
import type { TrustFact } from './trust/state.ts';

/** The version of the fact format that this program writes, and the newest it can read. */
export const FACT_VERSION = 1;

export type Fact =
  | WorkspaceFact
  | LedgerFact
  | TrustFact
  | ApprovalFact
  | KnowledgeFact
  | QuestFact
  | SinkFact
  | CastFact;

export type WorkspaceFact =
  | { readonly kind: 'workspace.opened'; readonly origin: string }
  | { readonly kind: 'snapshot.taken'; readonly through: number; readonly digest: string }
  /** A text that was stored by its digest is gone from the entries that are named; their lines stay as they are. */
  | {
      readonly kind: 'blob.erased';
      readonly digest: string;
      readonly from: readonly number[];
      readonly reason: string;
    };

/** What went wrong on the way to a sink of events, and how it ended. */
export type SinkFact =
  /** More events wait for the sink than its bound. None is lost: they stay in the log, and the sink gets them later. */
  | {
      readonly kind: 'sink.stalled';
      readonly sink: string;
      readonly waiting: number;
      /** The entry after which nothing was delivered. */
      readonly after: number;
      readonly reason: string;
    }
  | { readonly kind: 'sink.recovered'; readonly sink: string; readonly after: number }
  /** A person let a sink leave an event out. */
  | {
      readonly kind: 'sink.skipped';
      readonly sink: string;
      /** The entry that holds the event. */
      readonly event: number;
      readonly reason: string;
    };

/** A fact with its place in the log. */
export type Entry = {
  readonly v: number;
  readonly seq: number;
  /** UTC with milliseconds; never decreases. */
  readonly at: string;
  /** The writer's own clock, where another clock had put the log far ahead; events are dated by it then. */
  readonly clock?: string;
  /**
   * How long the cast of the fact ran since the last entry of it with this member, in milliseconds. The driver measures it
   * by a clock that cannot be set.
   */
  readonly ranMs?: number;
  /** The leaf hash of the entry before this one; sixty-four zeros for the first. */
  readonly prev: string;
  readonly by: string;
  /** Ids that may be used once in the whole log, and were used up by this fact. */
  readonly once?: readonly string[];
  readonly fact: Fact;
};

/** When it happened, in milliseconds. A clock that is ahead does not date the facts of others. */
export function timeOf({ at, clock = at }: Pick<Entry, 'at' | 'clock'>): number {
  return Date.parse(clock);
}
