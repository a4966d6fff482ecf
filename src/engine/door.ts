// How the engine and the skins reach a workspace's desk, whether it sits in this thread or in a worker.
import type { Slot } from '../kernel/cast/packet.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { Entry } from '../kernel/fact.ts';
import { type Request, runNamed } from '../kernel/input.ts';
import type { Ledger } from '../kernel/ledger/state.ts';
import type { Cast, CastStatus, State } from '../kernel/state.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import type { Desk, Owed } from './desk.ts';
import { type Driver, isSame } from './driver.ts';
import { beat, type Sign } from './heartbeat.ts';
import {
  type CastLease,
  type Driving,
  drivingIn,
  grantLease,
  leaseIn,
  leaseName,
  leaseNamesOf,
  leaseValue,
  RENEW_MS,
  refusalOfLost,
  renewLease,
} from './lease.ts';
import { type Admission, admit, type Found, noted, OUTAGES, withdrawn } from './outage.ts';
import type { CastQuery, Head, Query } from './ports.ts';
import { grantSlot, type Holder, slotName, withoutHolder } from './slots.ts';

/** What happened to a followed cast, and what it is owed now. A packet comes with a dispatch once. */
export type Change = {
  readonly cast: string;
  readonly status: CastStatus;
  readonly owed: readonly Owed[];
  readonly entries: readonly Entry[];
  /** Who took the cast over, where this door drove it. */
  readonly lost?: Denied;
};

export interface Door {
  submit(request: Request, by: string): Promise<Verdict>;
  cast(id: string): Promise<Cast | null>;
  /** Who owns which task and which paths, at the head of the log. A run that is closed is there when it is named. */
  ledger(run?: string): Promise<Ledger>;
  read(query: Query): Promise<readonly Entry[]>;
  lifecycle(): Promise<readonly Entry[]>;
  casts(query: CastQuery): Promise<readonly CastSummary[]>;
  head(): Promise<Head>;
  /** Calls back with the cast as it stands, and then after every change. `entries` are empty unless asked for. */
  follow(cast: string, withEntries: boolean, listener: (change: Change) => void): Promise<() => void>;
  /**
   * Makes `driver` the one that drives the cast, unless a living one does; answers the lease that holds now. From then on
   * this door renews the lease, and submits about the cast under its fence. `over` is the fence of a lease that ends even
   * though its holder may live.
   */
  takeCast(cast: string, driver: Driver, over?: number): Promise<CastLease>;
  releaseCast(cast: string, driver: Driver): Promise<void>;
  driverOf(cast: string): Promise<Driving | null>;
  /** Why this door does not drive the cast any more; null while it does, and for a cast that it never took. */
  lostCast(cast: string): Promise<Denied | null>;
  /** Notes that the owner of a claim was heard of; false when the claim is over. */
  beat(sign: Sign): Promise<boolean>;
  /** Asks for a place of a runner: 0 when it was given, else the milliseconds after which to ask again. */
  takeSlot(slot: Slot, holder: Holder, now: number, isForced: boolean): Promise<number>;
  releaseSlot(slot: Slot, holder: Holder, now: number): Promise<void>;
  /** Whether a turn of the runner may start; else the milliseconds after which to ask again, and why. */
  admit(runner: string, holder: Holder, now: number): Promise<Omit<Admission, 'value'>>;
  /** What an attempt found out about its runner: down, well (null), or nothing, because it was stopped. */
  noteRunner(runner: string, holder: Holder, found: Found | null | undefined, now: number): Promise<void>;
  close(): Promise<void>;
}

/** The casts of a workspace in short, oldest first. */
export function summaries(door: Pick<Door, 'casts'>): Promise<readonly CastSummary[]> {
  return door.casts({});
}

export class LocalDoor implements Door {
  readonly #desk: Desk;
  readonly #follows = new Map<string, Set<Follow>>();
  /** The fences of the casts that are driven through this door. */
  readonly #fences = new Map<string, number>();
  #renewing: NodeJS.Timeout | null = null;
  #stop: (() => void) | null = null;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  async submit(request: Request, by: string): Promise<Verdict> {
    const fence = this.#fences.get(runNamed(request) ?? '') ?? null;
    return (await this.#desk.submit(request, by, fence)).verdict;
  }

  cast(id: string): Promise<Cast | null> {
    return this.#desk.cast(id);
  }

  ledger(run?: string): Promise<Ledger> {
    return this.#desk.ledger(run);
  }

  look<T>(look: (state: State) => T, run?: string): Promise<T> {
    return this.#desk.look(look, run);
  }

  read(query: Query): Promise<readonly Entry[]> {
    return this.#desk.log.read(query);
  }

  lifecycle(): Promise<readonly Entry[]> {
    return this.#desk.log.lifecycle(0);
  }

  casts(query: CastQuery): Promise<readonly CastSummary[]> {
    return this.#desk.log.casts(query);
  }

  head(): Promise<Head> {
    return this.#desk.log.head();
  }

  async follow(id: string, withEntries: boolean, listener: (change: Change) => void): Promise<() => void> {
    const follow: Follow = { withEntries, listener, announced: new Set() };
    // Listening comes first: what somebody appends while we look must not be missed.
    this.#stop ??= this.#desk.listen((entries) => this.#changed(entries));
    const release = this.#desk.keep(id);
    const stop = () => {
      release();
      const follows = this.#follows.get(id);
      if (follows?.delete(follow) && follows.size === 0) this.#follows.delete(id);
    };
    try {
      await this.#desk.visit(id, (cast) => {
        this.#follows.set(id, (this.#follows.get(id) ?? new Set()).add(follow));
        if (cast) this.#announce(id, follow, cast.status, []);
      });
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  async takeCast(cast: string, driver: Driver, over?: number): Promise<CastLease> {
    let granted: CastLease | null = null;
    const elapsedMs = (await this.#desk.elapsedMs(cast)) ?? 0;
    await this.#desk.log.changeLeases(leaseNamesOf([cast]), (held) => {
      const { lease, changes } = grantLease(held, cast, driver, this.#desk.now(), over, elapsedMs);
      granted = lease;
      return changes;
    });
    const lease = granted as unknown as CastLease;
    if (isSame(lease, driver)) {
      if (!this.#fences.has(cast)) this.#desk.time.start(cast, (lease.elapsedMs ?? 0) - elapsedMs);
      this.#fences.set(cast, lease.fence);
      this.#renewing ??= setInterval(() => void this.renewLeases().catch(() => undefined), RENEW_MS).unref();
    }
    return lease;
  }

  async releaseCast(cast: string, driver: Driver): Promise<void> {
    const fence = this.#fences.get(cast);
    this.#fences.delete(cast);
    this.#desk.time.stop(cast);
    await this.#desk.log.lease(leaseName(cast), (held) => {
      const lease = leaseIn(held);
      return lease && isSame(lease, driver) && lease.fence === (fence ?? lease.fence) ? null : held;
    });
  }

  driverOf(cast: string): Promise<Driving | null> {
    return drivingIn(this.#desk.log, cast, this.#desk.now());
  }

  async lostCast(cast: string): Promise<Denied | null> {
    const fence = this.#fences.get(cast);
    return fence === undefined ? null : refusalOfLost(await leaseValue(this.#desk.log, cast), cast, fence);
  }

  /** Renews the leases of all casts that are driven through this door. The followers of a lost one hear who has it. */
  async renewLeases(): Promise<void> {
    if (this.#fences.size === 0) return;
    const lost: Denied[] = [];
    const elapsed = new Map<string, number | undefined>();
    for (const cast of this.#fences.keys()) elapsed.set(cast, (await this.#desk.elapsedMs(cast)) ?? undefined);
    await this.#desk.log.changeLeases(leaseNamesOf(this.#fences.keys()), (held) =>
      [...this.#fences].flatMap(([cast, fence]) => {
        const refusal = refusalOfLost(held(leaseName(cast)), cast, fence);
        if (refusal) lost.push(refusal);
        return renewLease(held, cast, fence, this.#desk.now(), elapsed.get(cast)) ?? [];
      }),
    );
    for (const refusal of lost) this.#tellLost(String(refusal.details.cast), refusal);
  }

  async beat(sign: Sign): Promise<boolean> {
    return (await beat(this.#desk.log, sign)) !== null;
  }

  async takeSlot(slot: Slot, holder: Holder, now: number, isForced: boolean): Promise<number> {
    let waitMs = 0;
    await this.#desk.log.lease(slotName(slot), (held) => {
      const grant = grantSlot(held, slot, holder, now, isForced);
      waitMs = grant.waitMs;
      return grant.value;
    });
    return waitMs;
  }

  async releaseSlot(slot: Slot, holder: Holder, now: number): Promise<void> {
    await this.#desk.log.lease(slotName(slot), (held) => withoutHolder(held, holder, now));
  }

  async admit(runner: string, holder: Holder, now: number): Promise<Omit<Admission, 'value'>> {
    let found: Omit<Admission, 'value'> = { waitMs: 0, outage: null };
    await this.#desk.log.lease(`${OUTAGES}${runner}`, (held) => {
      const { value, ...admission } = admit(held, holder, now);
      found = admission;
      return value;
    });
    return found;
  }

  async noteRunner(runner: string, holder: Holder, found: Found | null | undefined, now: number): Promise<void> {
    await this.#desk.log.lease(`${OUTAGES}${runner}`, (held) =>
      found === undefined ? withdrawn(held, holder) : noted(held, runner, holder, found, now),
    );
  }

  async close(): Promise<void> {
    if (this.#renewing) clearInterval(this.#renewing);
    this.#stop?.();
    await this.#desk.close();
  }

  #changed(entries: readonly Entry[]): void {
    const touched = new Map<string, Entry[]>();
    for (const entry of entries) {
      const cast = 'cast' in entry.fact ? entry.fact.cast : null;
      if (cast === null || !this.#follows.has(cast)) continue;
      const list = touched.get(cast);
      if (list) list.push(entry);
      else touched.set(cast, [entry]);
    }
    for (const [id, own] of touched) {
      const status = this.#desk.statusOf(id);
      if (!status) continue;
      for (const follow of this.#follows.get(id) ?? []) this.#announce(id, follow, status, own);
    }
  }

  #tellLost(cast: string, lost: Denied): void {
    const status = this.#desk.statusOf(cast) ?? 'running';
    for (const follow of this.#follows.get(cast) ?? []) follow.listener({ cast, status, owed: [], entries: [], lost });
  }

  #announce(id: string, follow: Follow, status: CastStatus, entries: readonly Entry[]): void {
    const owed = this.#desk.owed(id, (key) => !follow.announced.has(key));
    follow.announced = new Set(owed.map(({ key }) => key));
    follow.listener({ cast: id, status, owed, entries: follow.withEntries ? entries : [] });
  }
}

type Follow = {
  readonly withEntries: boolean;
  readonly listener: (change: Change) => void;
  /** The keys told before: their packets are with the follower already. */
  announced: Set<string>;
};
