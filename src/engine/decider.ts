// Decides inputs in batches. One commit brings the state to the head of the log, decides every waiting input on it in
// order, and appends all their facts, so that many casts share one sync to disk. Nothing is answered before its facts are
// on disk.
import { type Packet, packetOf, type Watch, watchOf } from '../kernel/cast/packet.ts';
import type { Cast, CastStatus } from '../kernel/cast/state.ts';
import { decide } from '../kernel/decide.ts';
import type { Entry } from '../kernel/fact.ts';
import { type Request, runNamed } from '../kernel/input.ts';
import { isAhead } from '../kernel/ledger/move.ts';
import { type Effect, effectKey, pending } from '../kernel/pending.ts';
import type { Dialects, State } from '../kernel/state.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import {
  linksToLearn,
  OnceKeys,
  onceKeysFor,
  RunningTime,
  recordsFor,
  withHeartbeat,
  withLeases,
} from './decision-rows.ts';
import { leaseName, refusalOfLost } from './lease.ts';
import {
  type Append,
  type FindLinks,
  type FoundRows,
  type LeaseValues,
  type Log,
  NotFetched,
  type RowNames,
  StorageError,
} from './ports.ts';
import { factOf, type TakenSnapshot, takeSnapshot } from './snapshot.ts';
import { PartGone } from './snapshot-parts.ts';
import { StateAtHead } from './state-at-head.ts';

const BATCH_MAX = 256;
/** How often a batch is decided again because links changed meanwhile. */
const RELINKED_MAX = 5;
const NO_WAITER = { resolve: () => undefined, reject: () => undefined } as const;
/** A snapshot is due after so many facts, and later the larger the state is, so that its cost per fact stays flat. */
const SNAPSHOT_EVERY = 5_000;
const SNAPSHOT_BYTES_PER_FACT = 50;

export type Decided = { readonly verdict: Verdict; readonly entries: readonly Entry[] };
/** Owed work. Its packet or watch comes with it once. */
export type Owed = {
  readonly key: string;
  readonly effect: Effect;
  readonly packet?: Packet;
  readonly watch?: Watch;
};

type Waiting = {
  readonly request: Request;
  readonly by: string;
  /** The fence of the lease under which a driver submits. */
  readonly fence: number | null;
  readonly resolve: (answer: Decided) => void;
  readonly reject: (error: unknown) => void;
};

/** What a repeated decision of a batch has to do differently. */
type Retry = { readonly relinked: number; readonly isAgain: boolean; readonly more: RowNames };

const FIRST: Retry = { relinked: 0, isAgain: false, more: { once: [], leases: [] } };

export type DeciderOptions = {
  readonly now?: () => number;
  /** A clock that cannot be set, in milliseconds. */
  readonly ticks?: (() => number) | undefined;
  readonly snapshotEvery?: number;
  /** How links on disk are found; without it paths are compared as they are written. */
  readonly findLinks?: FindLinks | undefined;
  /** The state that the caller has read already; without it the decider reads all of it. */
  readonly here?: StateAtHead;
  /** Whether attempts are started of those casts only that are driven here, because other processes share the log. */
  readonly isShared?: boolean;
};

export class Decider {
  readonly #log: Log;
  readonly #dialects: Dialects;
  readonly #now: () => number;
  readonly #snapshotEvery: number;
  readonly #findLinks: FindLinks | null;
  readonly #listeners = new Set<(entries: readonly Entry[]) => void>();
  readonly #here: StateAtHead;
  readonly #time: RunningTime;
  readonly #isShared: boolean;
  /** The last entry that was announced to the listeners. */
  #announced = 0;
  /** False while the state may hold facts that never reached the disk. */
  #sound = true;
  #snapshotAt = 0;
  #snapshotBytes = 0;
  #waiting: Waiting[] = [];
  #busy: Promise<void> | null = null;
  #stopWatching: (() => void) | null = null;

  private constructor(log: Log, dialects: Dialects, options: DeciderOptions) {
    this.#log = log;
    this.#here = options.here ?? new StateAtHead(log, { whole: true });
    this.#time = new RunningTime(options.ticks);
    this.#isShared = options.isShared ?? false;
    this.#dialects = dialects;
    this.#now = options.now ?? Date.now;
    this.#snapshotEvery = options.snapshotEvery ?? SNAPSHOT_EVERY;
    this.#findLinks = options.findLinks ?? null;
  }

  static async open(log: Log, dialects: Dialects, options: DeciderOptions = {}): Promise<Decider> {
    const decider = new Decider(log, dialects, options);
    await decider.#here.alone(async () => {
      await decider.#here.ready();
      decider.#snapshotAt = decider.#here.restoredThrough;
      decider.#announced = decider.#here.seq;
    });
    return decider;
  }

  get log(): Log {
    return this.#log;
  }

  /** Measures how long casts run that are driven here. */
  get time(): RunningTime {
    return this.#time;
  }

  /** The time by the clock of the store. */
  now(): number {
    return this.#now();
  }

  /**
   * Decides an input. The answer comes when its facts are on disk. A driver names the fence of its lease; once another
   * driver has the cast, the input is refused.
   */
  submit(request: Request, by: string, fence: number | null = null): Promise<Decided> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, by, fence, resolve, reject });
      this.#busy ??= this.#work();
    });
  }

  /** A copy of the cast at the head of the log, or null. */
  cast(id: string): Promise<Cast | null> {
    return this.visit(id, (cast) => structuredClone(cast));
  }

  /** Looks at a cast at the head of the log. Nothing is decided or announced while `look` runs. */
  visit<T>(id: string, look: (cast: Cast | null) => T): Promise<T> {
    return this.#look(() => look(this.#here.cast(id) ?? null), id);
  }

  /** How long a cast has run, with what was measured here and is in no entry yet; null where there is no such cast. */
  elapsedMs(id: string): Promise<number | null> {
    return this.visit(id, (cast) => {
      if (!cast) return null;
      const isRunning = cast.clock.runningSince !== null;
      return cast.clock.elapsedMs + (isRunning ? (this.#time.uncounted(id) ?? 0) : 0);
    });
  }

  /** Looks at the state at the head of the log, with the named run loaded. `look` must not keep or change any of it. */
  look<T>(look: (state: State) => T, run?: string): Promise<T> {
    return this.#look(() => look(this.#here.state), run);
  }

  /** Keeps a cast loaded while it is followed, even if it ended long ago. */
  keep(id: string): () => void {
    return this.#here.keep(id);
  }

  /** The status of a loaded cast. */
  statusOf(id: string): CastStatus | null {
    return this.#here.cast(id)?.status ?? null;
  }

  /** What is owed to a cast now. Packets are made for the effects that `isNew` names only. */
  owed(id: string, isNew: (key: string) => boolean): readonly Owed[] {
    const cast = this.#here.cast(id);
    if (!cast) return [];
    return pending(cast).map((effect) => {
      const key = effectKey(effect);
      const turn = effect.kind !== 'timer' && isNew(key) ? cast.turns[effect.turn] : undefined;
      if (!turn) return { key, effect };
      if (effect.kind === 'dispatch' || effect.kind === 'interrupt')
        return { key, effect, packet: packetOf(cast, turn, this.#here.state.ledger) };
      return { key, effect, watch: watchOf(this.#here.state, cast, turn) };
    });
  }

  /** Reads what other processes appended. */
  sync(): Promise<void> {
    return this.#look(() => undefined);
  }

  /** Calls back with every entry, from this and any other process. Starts watching other processes. */
  listen(listener: (entries: readonly Entry[]) => void): () => void {
    this.#listeners.add(listener);
    this.#stopWatching ??= this.#log.watch(() => void this.sync().catch(() => undefined));
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#stopWatching?.();
    await this.#busy;
    await this.#here.alone(() => this.#log.close());
  }

  async #work(): Promise<void> {
    // A tick's wait lets inputs that arrive together share a commit.
    await null;
    while (this.#waiting.length > 0) await this.#here.alone(() => this.#settle(this.#waiting.splice(0, BATCH_MAX)));
    this.#busy = null;
  }

  async #settle(batch: readonly Waiting[], again: Retry = FIRST): Promise<void> {
    try {
      if (!this.#sound || !this.#here.isLoaded) await this.#reload();
      await this.#loadCastsOf(batch);
      await this.#commit(batch, again.more);
    } catch (error) {
      if (error instanceof Reopened) {
        for (const id of error.ids) await this.#here.recall(id);
        await this.#settle(batch);
        return;
      }
      this.#sound = false;
      if (error instanceof PartGone) this.#here.distrust(error);
      await this.#reload().catch(() => undefined);
      if (error instanceof PartGone && !again.isAgain) {
        await this.#settle(batch, { ...again, isAgain: true });
        return;
      }
      if (error instanceof UnknownLinks && again.relinked < RELINKED_MAX) {
        const first = error.requests.map((request): Waiting => ({ fence: null, request, by: 'engine', ...NO_WAITER }));
        await this.#settle([...first, ...batch], { ...again, relinked: again.relinked + 1 });
        return;
      }
      if (error instanceof NotFetched) {
        await this.#settle(batch, { ...again, more: together(again.more, error.names) });
        return;
      }
      // An input that cannot be decided must not fail the others. A fault of the storage fails all.
      if (batch.length === 1 || error instanceof StorageError) for (const { reject } of batch) reject(error);
      else for (const waiting of batch) await this.#settle([waiting]);
      return;
    }
    try {
      this.#here.forgetEnded();
    } catch (error) {
      if (!(error instanceof PartGone)) throw error;
      this.#here.distrust(error);
      this.#sound = false;
      return;
    }
    await this.#snapshotIfDue();
  }

  #look<T>(look: () => T, id?: string): Promise<T> {
    return this.#here.alone(() =>
      this.#here.again(async () => {
        await this.#catchUp();
        if (id !== undefined) await this.#here.recall(id);
        return look();
      }),
    );
  }

  async #commit(batch: readonly Waiting[], more: RowNames): Promise<void> {
    const verdicts: Verdict[] = [];
    const counts: number[] = [];
    let tail: readonly Entry[] = [];
    const time = this.#time.batch();
    const wanted = (unseen: readonly Entry[]) => {
      const reopened = this.#here.reopenedBy(unseen);
      if (reopened.length > 0) throw new Reopened(reopened);
      tail = unseen;
      this.#here.take(unseen);
      return together(this.#rowsFor(batch), more);
    };
    const decideAll = (_: readonly Entry[], found: FoundRows) => {
      const held = found.lease;
      const once = new OnceKeys(found.once, this.#here.seq);
      const appends = batch.flatMap(({ request, by, fence }) => {
        const lost = fence === null ? null : lostLease(request, fence, held);
        if (lost) {
          verdicts.push(lost);
          counts.push(0);
          return [];
        }
        const now = this.#now();
        const at = Math.max(now, this.#here.lastAt);
        this.#here.lastAt = at;
        // The log never goes back in time. If another clock put it far ahead, decisions still use our own clock.
        const clock = isAhead(at, now) ? { clock: now } : {};
        const driven = fence === null ? null : (runNamed(request) ?? '');
        const ran = driven === null ? null : time.own(driven);
        const own = driven === null ? undefined : this.#here.cast(driven);
        // A cast that rests, because all of it waits, uses no time.
        const isRunning = own?.status === 'running' && own.clock.runningSince !== null;
        const input = {
          ...withHeartbeat(request, this.#here.state.ledger, held, now),
          at,
          ...clock,
          ...(ran === null ? {} : { ranMs: ran }),
          by,
          ...once.usedFor(request, this.#here.state.approvals),
        };
        const drives = (cast: string) => !this.#isShared || time.own(cast) !== null;
        const decision = decide(this.#dialects, this.#here.state, input, (cast) => time.of(cast, held), drives);
        const { verdict, facts, ranMs } = decision;
        // The time before a cast goes on counts for nothing.
        if (driven !== null && ran !== null && (ranMs.size > 0 || !isRunning)) time.count(driven, ran);
        verdicts.push(verdict);
        counts.push(facts.length);
        return facts.map((fact, index) => {
          const counted = ranMs.get(index);
          const append = { fact, by, at, ...clock, ...(counted === undefined ? {} : { ranMs: counted }) };
          return withLeases(once.withKeys(append), this.#here.state.ledger);
        });
      });
      this.#refuseUnknownLinks(appends);
      return appends;
    };
    const entries = await this.#log.commit(this.#here.seq, { wanted, decide: decideAll });
    time.settle();
    this.#here.seq += entries.length;
    let from = 0;
    for (const [index, { resolve }] of batch.entries()) {
      const to = from + (counts[index] ?? 0);
      resolve({ verdict: verdicts[index] as Verdict, entries: entries.slice(from, to) });
      from = to;
    }
    this.#announce([...tail, ...entries]);
  }

  /**
   * The rows that deciding these inputs may look up. An input that follows from an earlier one of the batch may ask for
   * another row; then the batch is decided again with it.
   */
  #rowsFor(batch: readonly Waiting[]): RowNames {
    const { ledger, approvals } = this.#here.state;
    const requests = batch.map(({ request }) => request);
    const named = requests.flatMap((request) => runNamed(request) ?? []);
    const casts = new Set([...named, ...this.#here.running()].filter((id) => this.#time.uncounted(id) === null));
    for (const { request, fence } of batch) if (fence !== null) casts.add(runNamed(request) ?? '');
    const records = requests.flatMap((request) => recordsFor(request, ledger));
    return { once: onceKeysFor(requests, approvals), leases: [...Array.from(casts, leaseName), ...records] };
  }

  /** A claim that was decided without knowing of a link on its way is decided again with it. */
  #refuseUnknownLinks(appends: readonly Append[]): void {
    if (!this.#findLinks) return;
    const facts = appends.map(({ fact }) => fact);
    const requests = linksToLearn(facts, this.#here.state.ledger.locks, this.#findLinks);
    if (requests.length > 0) throw new UnknownLinks(requests);
  }

  async #catchUp(): Promise<void> {
    if (!this.#sound || !this.#here.isLoaded) await this.#reload();
    await this.#here.catchUp((page) => this.#announce(page));
  }

  #announce(entries: readonly Entry[]): void {
    this.#announced = this.#here.seq;
    if (entries.length === 0) return;
    for (const listener of this.#listeners) {
      try {
        listener(entries);
      } catch (error) {
        // A fault of a listener is reported and does not concern the log.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** Reads the state again, and announces the entries that the listeners missed. */
  async #reload(): Promise<void> {
    await this.#load();
    const missed = await this.#log.read({
      after: this.#announced,
      limit: Math.max(0, this.#here.seq - this.#announced),
    });
    this.#sound = true;
    this.#announce(missed);
  }

  async #load(): Promise<void> {
    await this.#here.load();
    this.#snapshotAt = this.#here.restoredThrough;
  }

  /** Only a cache: if writing fails, the next start takes longer, and the next snapshot comes when it is due. */
  async #snapshotIfDue(): Promise<void> {
    const due = Math.max(this.#snapshotEvery, this.#snapshotBytes / SNAPSHOT_BYTES_PER_FACT);
    if (this.#here.seq - this.#snapshotAt < due) return;
    let news: readonly Entry[] = [];
    try {
      let made: TakenSnapshot | null = null;
      const decideSnapshot = (unseen: readonly Entry[]): Append[] => {
        news = unseen;
        // A run that is not loaded cannot be in the snapshot. The next input loads it.
        if (this.#here.reopenedBy(unseen).length > 0) throw new Reopened([]);
        this.#here.take(unseen);
        made = takeSnapshot(this.#here.state, this.#here.seq);
        return [{ fact: factOf(made.snapshot), by: 'engine', at: Math.max(this.#now(), this.#here.lastAt) }];
      };
      const taken = await this.#log.commit(this.#here.seq, { decide: decideSnapshot });
      news = [...news, ...taken];
      this.#here.take(taken);
      if (made) await this.#save(made);
    } catch (error) {
      // Without the snapshot, all facts are still on disk.
      if (error instanceof PartGone) this.#here.distrust(error);
    }
    this.#snapshotAt = this.#here.seq;
    this.#announce(news);
  }

  async #save({ snapshot, below, bytes }: TakenSnapshot): Promise<void> {
    this.#snapshotBytes = bytes;
    await this.#log.saveSnapshot(snapshot, below);
  }

  async #loadCastsOf(batch: readonly Waiting[]): Promise<void> {
    for (const id of new Set(batch.map(({ request }) => runNamed(request))))
      if (id !== null) await this.#here.recall(id);
  }
}

/** Links on the way of claimed paths that the ledger does not know, or knows otherwise. */
class UnknownLinks extends Error {
  readonly requests: readonly Request[];

  constructor(requests: readonly Request[]) {
    super('links in the way of claimed paths keep changing');
    this.requests = requests;
  }
}

function together(one: RowNames, other: RowNames): RowNames {
  return { once: [...one.once, ...other.once], leases: [...one.leases, ...other.leases] };
}

function lostLease(request: Request, fence: number, held: LeaseValues): Denied | null {
  const cast = runNamed(request) ?? '';
  return refusalOfLost(held(leaseName(cast)), cast, fence);
}

/** Another process continued casts or runs that are not loaded here. They are read first, then the batch is decided. */
class Reopened extends Error {
  readonly ids: readonly string[];

  constructor(ids: readonly string[]) {
    super('casts or runs were carried on elsewhere');
    this.ids = ids;
  }
}
