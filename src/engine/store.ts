// The one way to the log of a workspace, in this thread or behind a worker: everything that happens is submitted here,
// everything that is looked at is read here.
import type { Slot } from '../kernel/cast/packet.ts';
import type { Cast, CastStatus } from '../kernel/cast/state.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Request } from '../kernel/input.ts';
import type { Ledger } from '../kernel/ledger/state.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import type { Owed } from './decider.ts';
import type { Driver } from './driver.ts';
import type { FollowQuery } from './follow-entries.ts';
import type { Sign } from './heartbeat.ts';
import type { CastLease, Driving } from './lease.ts';
import type { Admitted, Found, Outage } from './outage.ts';
import type { CastQuery, Head, Query } from './ports.ts';
import type { Holder } from './slots.ts';

export interface Store {
  /**
   * Decides an input. The answer comes when its facts are on disk. An input about a cast that this store drives is decided
   * under the lease of the cast; once another driver has it, the answer is `LEASE_LOST`.
   */
  submit(request: Request, actor: Submitter): Promise<Verdict>;
  /** Entries of the log, in order. */
  read(query: Query): Promise<readonly Entry[]>;
  /** What is known at the head of the log, by the name of the view. */
  view<K extends keyof Views>(name: K, ...about: Parameters<Views[K]>): Promise<ReturnType<Views[K]>>;
  /**
   * The entries after a sequence number, of the whole workspace or of one cast, in order and each once, also those that are
   * appended from now on by any process. The last entry of a page is the cursor to go on from. It ends with the signal of
   * the query, and when the store is closed.
   */
  follow(query: FollowQuery): AsyncIterable<readonly Entry[]>;
  /** Changes what is known of liveness: who drives a cast, who is heard of, which runner is free. No fact is written. */
  lease<K extends keyof Leases>(act: K, ...about: Parameters<Leases[K]>): Promise<ReturnType<Leases[K]>>;
  /**
   * For a driver: calls back with the cast and what it is owed, and again after every change. `entries` are empty unless
   * asked for. CallsOf the function that ends it.
   */
  watchCast(cast: string, withEntries: boolean, listener: (change: Change) => void): Promise<() => void>;
  close(): Promise<void>;
}

/** Who submits, as the log names it. An actor of an operation is one. */
export type Submitter = { readonly name: string };

/** The product itself, where no person or agent acts. */
export const ENGINE: Submitter = { name: 'engine' };

export type Views = {
  cast(id: string): Cast | null;
  /** Who owns which task and which paths. A run that is closed is there when it is named. */
  ledger(run?: string): Ledger;
  /** The casts in short, oldest first. */
  casts(query: CastQuery): readonly CastSummary[];
  castCount(): number;
  head(): Head;
  /** The living driver of a cast. */
  driver(cast: string): Driving | null;
  /** Why this store does not drive the cast any more; null while it does, and for a cast that it never took. */
  lost(cast: string): Denied | null;
  /** The runners that are down. */
  outages(now: number): readonly Outage[];
};

export type Leases = {
  /**
   * Makes `driver` the one that drives the cast, unless a living one does; answers the lease that holds now. From then on
   * this store renews the lease. `over` is the fence of a lease that ends even though its holder may live.
   */
  takeCast(cast: string, driver: Driver, over?: number): CastLease;
  releaseCast(cast: string, driver: Driver): void;
  /** Notes that the owner of a claim was heard of; false when the claim is over. */
  beat(sign: Sign): boolean;
  /** Asks for a slot of a runner: 0 when it was given, else the milliseconds after which to ask again. */
  takeSlot(slot: Slot, holder: Holder, now: number, isForced: boolean): number;
  releaseSlot(slot: Slot, holder: Holder, now: number): void;
  /** Whether a turn of the runner may start; else the milliseconds after which to ask again, and why. */
  admit(runner: string, holder: Holder, now: number): Admitted;
  /** What an attempt found out about its runner: down, well (null), or nothing, because it was stopped. */
  noteRunner(runner: string, holder: Holder, found: Found | null | undefined, now: number): void;
};

/** The calls of a table, as one implementation answers them. */
export type CallsOf<T extends Record<keyof T, (...about: never[]) => unknown>> = {
  readonly [K in keyof T]: (...about: Parameters<T[K]>) => Promise<ReturnType<T[K]>>;
};

/** What happened to a cast, and what it is owed now. A packet comes with a dispatch once. */
export type Change = {
  readonly cast: string;
  readonly status: CastStatus;
  readonly owed: readonly Owed[];
  readonly entries: readonly Entry[];
  /** Who took the cast over, where this store drove it. */
  readonly lost?: Denied;
};
