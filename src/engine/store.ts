// The one way to the log of a workspace, in this thread or behind a worker: every event is submitted here, and all data is read here.
import type { Approvals } from '../kernel/approval/state.ts';
import type { Slot } from '../kernel/cast/packet.ts';
import type { Cast, CastStatus } from '../kernel/cast/state.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Request } from '../kernel/input.ts';
import type { Knowledge } from '../kernel/knowledge/state.ts';
import type { Beat } from '../kernel/ledger/move.ts';
import type { Ledger } from '../kernel/ledger/state.ts';
import type { Quests } from '../kernel/quest/state.ts';
import type { Trust } from '../kernel/trust/state.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import type { Owed } from './decider.ts';
import type { Sign } from './heartbeat.ts';
import type { CastLease, Driver, Driving } from './lease.ts';
import type { CastQuery, Log, LogHead, Query } from './ports.ts';
import type { Admitted, Holder, Outage, RunnerFinding } from './runner-register.ts';
import type { SinkRow, SinkState } from './sink-register.ts';

export interface Store {
  /**
   * Decides an input. The answer comes when its facts are on disk. An input about a cast that this store drives is decided
   * under the lease of the cast; once another driver has it, the answer is `LEASE_LOST`.
   */
  submit(request: Request, actor: Submitter): Promise<Verdict>;
  /** Entries of the log, in order. */
  read(query: Query): Promise<readonly Entry[]>;
  /** A view of the state at the head of the log. */
  view<K extends keyof Views>(name: K, ...about: Parameters<Views[K]>): Promise<ReturnType<Views[K]>>;
  /**
   * The entries after a sequence number, of the whole workspace or of one cast, in order and each once, also those that are
   * appended from now on by any process. The last entry of a page is the cursor to go on from. It ends with the signal of
   * the query, and when the store is closed.
   */
  follow(query: FollowQuery): AsyncIterable<readonly Entry[]>;
  /** Changes the register of liveness: drivers, heartbeats, runners. No fact is written. */
  lease<K extends keyof Leases>(act: K, ...about: Parameters<Leases[K]>): Promise<ReturnType<Leases[K]>>;
  /**
   * For a driver: calls back with the cast and what it is owed, and again after every change. `entries` are empty unless
   * asked for. Returns the function that ends it.
   */
  watchCast(cast: string, withEntries: boolean, listener: (change: CastChange) => void): Promise<() => void>;
  close(): Promise<void>;
}

/** Who submits, by the name in the log. */
export type Submitter = { readonly name: string };

/** The product itself, if no person or agent acts. */
export const ENGINE: Submitter = { name: 'engine' };

export type Views = {
  cast(id: string): Cast | null;
  /** Who owns which task and which paths. A closed run is included if it is named. */
  ledger(run?: string): Ledger;
  /** Summaries of the casts, oldest first. */
  casts(query: CastQuery): readonly CastSummary[];
  castCount(): number;
  head(): LogHead;
  /** The living driver of a cast. */
  driver(cast: string): Driving | null;
  /** Why this store does not drive the cast any more; null while it does, and for a cast that it never took. */
  lost(cast: string): Denied | null;
  /** The runners that are down. */
  outages(now: number): readonly Outage[];
  /** The last signs of life, by the fence of the claim. */
  beats(): ReadonlyMap<number, Beat>;
  approvals(): Approvals;
  /** How far each sink of events has come, by its name. */
  sinks(): Readonly<Record<string, SinkRow>>;
  /** The queue: quests in their order, and schedules. */
  quests(): Quests;
  /** What the team knows and remembers. */
  knowledge(): Knowledge;
  /** Whether the workspace is paused, its registry and quarantine, and its queue. */
  workspace(): WorkspaceStatus;
};

export type WorkspaceStatus = { readonly hold: Ledger['hold']; readonly trust: Trust; readonly quests: Quests };

export type Leases = {
  /**
   * Makes `driver` the driver of the cast, unless a living one drives it. Returns the valid lease. From then on
   * this store renews the lease. `over` is the fence of a lease that ends even though its holder may live.
   */
  takeCast(cast: string, driver: Driver, over?: number): CastLease;
  releaseCast(cast: string, driver: Driver): void;
  /** Records a sign of life of the owner of a claim. False if the claim is over. */
  beat(sign: Sign): boolean;
  /** Records the first sign of life of a claim that has none, as this text. */
  firstBeat(fence: number, text: string): void;
  /** Asks for a slot of a runner. 0 if it was granted, else the milliseconds after which to ask again. */
  takeSlot(slot: Slot, holder: Holder, now: number, isForced: boolean): number;
  releaseSlot(slot: Slot, holder: Holder, now: number): void;
  /** Whether a turn of the runner may start, else the milliseconds after which to ask again, and why. */
  admit(runner: string, holder: Holder, now: number): Admitted;
  /**
   * Makes `driver` the one who delivers to a sink, unless a living one does; a sink that is new begins at the head of the log. Null
   * where another one delivers.
   */
  takeSink(sink: string, driver: Driver, now: number): SinkRow | null;
  /** Records how far the sink has come; false where another one delivers meanwhile. `releases` ends the delivering. */
  moveSink(sink: string, driver: Driver, row: SinkState, now: number, releases: boolean): boolean;
  /** What an attempt learned about its runner: down, well (null), or nothing, because it was stopped. */
  noteRunner(runner: string, holder: Holder, found: RunnerFinding | null | undefined, now: number): void;
};

/** The calls of a table, as one implementation answers them. */
export type CallsOf<T extends Record<keyof T, (...about: never[]) => unknown>> = {
  readonly [K in keyof T]: (...about: Parameters<T[K]>) => Promise<ReturnType<T[K]>>;
};

/** What happened to a cast, and what it is owed now. The packet of a dispatch comes once. */
export type CastChange = {
  readonly cast: string;
  readonly status: CastStatus;
  readonly owed: readonly Owed[];
  readonly entries: readonly Entry[];
  /** Who took the cast over, if this store drove it. */
  readonly lost?: Denied;
};

const PAGE = 1_000;

export type FollowQuery = {
  /** Only the entries of this cast; without it, those of the whole workspace. */
  readonly cast?: string;
  readonly after: number;
  readonly signal?: AbortSignal;
};

/**
 * The log as a stream: the existing entries, then new ones, page by page. The reader sets the pace, so a slow one does not fill the
 * memory.
 */
export async function* followEntries(
  source: Pick<Log, 'read' | 'watch'>,
  closed: AbortSignal,
  { cast, after, signal }: FollowQuery,
): AsyncGenerator<readonly Entry[], void, void> {
  const ended = signal ? AbortSignal.any([signal, closed]) : closed;
  let changed = Promise.withResolvers<void>();
  const wake = () => changed.resolve();
  const unwatch = source.watch(wake);
  ended.addEventListener('abort', wake);
  try {
    for (let seen = after; !ended.aborted; ) {
      // Entries appended while a page is read or shown come in the next round.
      changed = Promise.withResolvers();
      const entries = await source.read({ after: seen, limit: PAGE, ...(cast === undefined ? {} : { cast }) });
      const last = entries.at(-1);
      if (last) {
        seen = last.seq;
        yield entries;
      } else await changed.promise;
    }
  } catch (error) {
    // The store was closed meanwhile.
    if (!closed.aborted) throw error;
  } finally {
    ended.removeEventListener('abort', wake);
    unwatch();
  }
}
