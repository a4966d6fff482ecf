// How the engine and the skins reach a workspace's desk, whether it sits in this thread or in a worker.
import type { Slot } from '../kernel/cast/packet.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Request } from '../kernel/input.ts';
import type { Ledger } from '../kernel/ledger/state.ts';
import type { Cast, CastStatus } from '../kernel/state.ts';
import type { Verdict } from '../kernel/verdict.ts';
import type { Desk, Owed } from './desk.ts';
import { type Driver, driverIn, isSame, type Lessee, leaseFor } from './driver.ts';
import { beat, type Sign } from './heartbeat.ts';
import type { Head, Query } from './ports.ts';
import { grantSlot, type Holder, slotName, withoutHolder } from './slots.ts';

/** What happened to a followed cast, and what it is owed now. A packet comes with a dispatch once. */
export type Change = {
  readonly cast: string;
  readonly status: CastStatus;
  readonly owed: readonly Owed[];
  readonly entries: readonly Entry[];
};

export interface Door {
  submit(request: Request, by: string): Promise<Verdict>;
  cast(id: string): Promise<Cast | null>;
  /** Who owns which task and which paths, at the head of the log. A run that is closed is there when it is named. */
  ledger(run?: string): Promise<Ledger>;
  read(query: Query): Promise<readonly Entry[]>;
  lifecycle(): Promise<readonly Entry[]>;
  head(): Promise<Head>;
  /** Calls back with the cast as it stands, and then after every change. `entries` are empty unless asked for. */
  follow(cast: string, withEntries: boolean, listener: (change: Change) => void): Promise<() => void>;
  /**
   * Makes `driver` the one that drives the cast, unless a living one does; answers who drives it now, and after whom, where
   * the one before is gone without having given it back.
   */
  takeCast(cast: string, driver: Driver): Promise<Lessee>;
  releaseCast(cast: string, driver: Driver): Promise<void>;
  driverOf(cast: string): Promise<Driver | null>;
  /** Notes that the owner of a claim was heard of; false when the claim is over. */
  beat(sign: Sign): Promise<boolean>;
  /** Asks for a place of a runner: 0 when it was given, else the milliseconds after which to ask again. */
  takeSlot(slot: Slot, holder: Holder, now: number, isForced: boolean): Promise<number>;
  releaseSlot(slot: Slot, holder: Holder, now: number): Promise<void>;
  close(): Promise<void>;
}

export class LocalDoor implements Door {
  readonly #desk: Desk;
  readonly #follows = new Map<string, Set<Follow>>();
  #stop: (() => void) | null = null;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  async submit(request: Request, by: string): Promise<Verdict> {
    return (await this.#desk.submit(request, by)).verdict;
  }

  cast(id: string): Promise<Cast | null> {
    return this.#desk.cast(id);
  }

  ledger(run?: string): Promise<Ledger> {
    return this.#desk.ledger(run);
  }

  read(query: Query): Promise<readonly Entry[]> {
    return this.#desk.log.read(query);
  }

  lifecycle(): Promise<readonly Entry[]> {
    return this.#desk.log.lifecycle(0);
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

  async takeCast(cast: string, driver: Driver): Promise<Lessee> {
    const value = await this.#desk.log.lease(`cast:${cast}`, (held) => leaseFor(held, driver));
    return JSON.parse(value ?? 'null') as Lessee;
  }

  async releaseCast(cast: string, driver: Driver): Promise<void> {
    await this.#desk.log.lease(`cast:${cast}`, (held) =>
      held !== null && isSame(JSON.parse(held) as Driver, driver) ? null : held,
    );
  }

  driverOf(cast: string): Promise<Driver | null> {
    return driverIn(this.#desk.log, cast);
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

  async close(): Promise<void> {
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
