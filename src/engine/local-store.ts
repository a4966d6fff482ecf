// The store that decides in its own thread.
import type { CastStatus } from '../kernel/cast/state.ts';
import type { Entry } from '../kernel/fact.ts';
import { type Request, runNamed } from '../kernel/input.ts';
import { beatName } from '../kernel/ledger/move.ts';
import type { Ledger } from '../kernel/ledger/state.ts';
import type { State } from '../kernel/state.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import type { Decider } from './decider.ts';
import { beat, beats } from './heartbeat.ts';
import {
  type CastLease,
  type Driver,
  drivingIn,
  grantLease,
  isSameProcess,
  leaseIn,
  leaseName,
  leaseNamesOf,
  leaseValue,
  RENEW_MS,
  refusalOfLost,
  renewLease,
} from './lease.ts';
import type { Query } from './ports.ts';
import {
  type Admitted,
  admit,
  afterFinding,
  afterStop,
  answeredAt,
  grantSlot,
  type Holder,
  hasAnswered,
  outagesIn,
  type RunnerFinding,
  runnerRows,
  slotName,
  withoutHolder,
} from './runner-register.ts';
import { moveSink, sinksIn, takeSink } from './sink-register.ts';
import {
  type CallsOf,
  type CastChange,
  type FollowQuery,
  followEntries,
  type Leases,
  type Store,
  type Submitter,
  type Views,
} from './store.ts';

export class LocalStore implements Store {
  readonly #decider: Decider;
  readonly #follows = new Map<string, Set<Follow>>();
  readonly #closed = new AbortController();
  /** The fences of the casts that are driven through this store. */
  readonly #fences = new Map<string, number>();
  readonly #views: CallsOf<Views>;
  readonly #leases: CallsOf<Leases>;
  #renewing: NodeJS.Timeout | null = null;
  #stop: (() => void) | null = null;

  constructor(decider: Decider) {
    this.#decider = decider;
    const { log } = decider;
    this.#views = {
      cast: (id) => decider.cast(id),
      // A plain copy, which also reads parts that were not loaded yet.
      ledger: (run) => decider.look(({ ledger }) => JSON.parse(JSON.stringify(ledger)) as Ledger, run),
      casts: (query) => log.casts(query),
      castCount: () => log.castCount(),
      head: () => log.head(),
      driver: (cast) => drivingIn(log, cast, decider.now()),
      lost: (cast) => this.#lostCast(cast),
      outages: (now) => outagesIn(log, now),
      beats: () => beats(log),
      approvals: () => decider.look(({ approvals }) => structuredClone(approvals)),
      sinks: () => sinksIn(log),
      quests: () => decider.look(({ quests }) => structuredClone(quests)),
      knowledge: () => decider.look(({ knowledge }) => structuredClone(knowledge)),
      workspace: () => decider.look(({ trust, quests, ledger: { hold } }) => structuredClone({ hold, trust, quests })),
    };
    this.#leases = {
      takeCast: (...about) => this.#takeCast(...about),
      releaseCast: (...about) => this.#releaseCast(...about),
      beat: async (sign) => (await beat(log, sign)) !== null,
      firstBeat: async (fence, text) => void (await log.lease(beatName(fence), (held) => held ?? text)),
      takeSlot: async (slot, holder, now, isForced) => {
        let waitMs = 0;
        await log.lease(slotName(slot), (held) => {
          const grant = grantSlot(held, slot, holder, now, isForced);
          waitMs = grant.waitMs;
          return grant.value;
        });
        return waitMs;
      },
      releaseSlot: async (slot, holder, now) =>
        void (await log.lease(slotName(slot), (held) => withoutHolder(held, holder, now))),
      takeSink: (...about) => takeSink(log, ...about),
      moveSink: (...about) => moveSink(log, ...about),
      admit: (...about) => this.#admit(...about),
      noteRunner: (...about) => this.#noteRunner(...about),
    };
  }

  async submit(request: Request, { name }: Submitter): Promise<Verdict> {
    const fence = this.#fences.get(runNamed(request) ?? '') ?? null;
    return (await this.#decider.submit(request, name, fence)).verdict;
  }

  read(query: Query): Promise<readonly Entry[]> {
    return this.#decider.log.read(query);
  }

  async view<K extends keyof Views>(name: K, ...about: Parameters<Views[K]>): Promise<ReturnType<Views[K]>> {
    return this.#views[name](...about);
  }

  async lease<K extends keyof Leases>(act: K, ...about: Parameters<Leases[K]>): Promise<ReturnType<Leases[K]>> {
    return this.#leases[act](...about);
  }

  /** Looks at the state at the head of the log. Nothing of it may be kept or changed; a named run is there. */
  look<T>(look: (state: State) => T, run?: string): Promise<T> {
    return this.#decider.look(look, run);
  }

  follow(query: FollowQuery): AsyncGenerator<readonly Entry[], void, void> {
    return followEntries(this, this.#closed.signal, query);
  }

  /** Calls back when something was appended, by any process. */
  watch(changed: () => void): () => void {
    return this.#decider.listen(changed);
  }

  async watchCast(id: string, withEntries: boolean, listener: (change: CastChange) => void): Promise<() => void> {
    const follow: Follow = { withEntries, listener, announced: new Set() };
    // Listening comes first, so that no entry is missed during the look.
    this.#stop ??= this.#decider.listen((entries) => this.#changed(entries));
    const release = this.#decider.keep(id);
    const stop = () => {
      release();
      const follows = this.#follows.get(id);
      if (follows?.delete(follow) && follows.size === 0) this.#follows.delete(id);
    };
    try {
      await this.#decider.visit(id, (cast) => {
        this.#follows.set(id, (this.#follows.get(id) ?? new Set()).add(follow));
        if (cast) this.#announce(id, follow, cast.status, []);
      });
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#renewing) clearInterval(this.#renewing);
    this.#stop?.();
    await this.#decider.close();
  }

  async #takeCast(cast: string, driver: Driver, over?: number): Promise<CastLease> {
    let granted: CastLease | null = null;
    const elapsedMs = (await this.#decider.elapsedMs(cast)) ?? 0;
    await this.#decider.log.changeLeases(leaseNamesOf([cast]), (held) => {
      const { lease, changes } = grantLease(held, cast, driver, this.#decider.now(), over, elapsedMs);
      granted = lease;
      return changes;
    });
    const lease = granted as unknown as CastLease;
    if (isSameProcess(lease, driver)) {
      if (!this.#fences.has(cast)) this.#decider.time.start(cast, (lease.elapsedMs ?? 0) - elapsedMs);
      this.#fences.set(cast, lease.fence);
      this.#renewing ??= setInterval(() => void this.renewLeases().catch(() => undefined), RENEW_MS).unref();
    }
    return lease;
  }

  async #releaseCast(cast: string, driver: Driver): Promise<void> {
    const fence = this.#fences.get(cast);
    this.#fences.delete(cast);
    this.#decider.time.stop(cast);
    await this.#decider.log.lease(leaseName(cast), (held) => {
      const lease = leaseIn(held);
      return lease && isSameProcess(lease, driver) && lease.fence === (fence ?? lease.fence) ? null : held;
    });
  }

  async #lostCast(cast: string): Promise<Denied | null> {
    const fence = this.#fences.get(cast);
    return fence === undefined ? null : refusalOfLost(await leaseValue(this.#decider.log, cast), cast, fence);
  }

  /** Renews the leases of all casts that are driven through this store. The listeners of a lost one learn who has it. */
  async renewLeases(): Promise<void> {
    if (this.#fences.size === 0) return;
    const lost: Denied[] = [];
    const fences = [...this.#fences];
    const elapsed = new Map<string, number | undefined>();
    for (const [cast] of fences) elapsed.set(cast, (await this.#decider.elapsedMs(cast)) ?? undefined);
    await this.#decider.log.changeLeases(leaseNamesOf(fences.map(([cast]) => cast)), (held) =>
      fences.flatMap(([cast, fence]) => {
        const refusal = refusalOfLost(held(leaseName(cast)), cast, fence);
        if (refusal) lost.push(refusal);
        return renewLease(held, cast, fence, this.#decider.now(), elapsed.get(cast)) ?? [];
      }),
    );
    for (const refusal of lost) this.#announceLost(String(refusal.details.cast), refusal);
  }

  async #admit(runner: string, holder: Holder, now: number): Promise<Admitted> {
    const names = runnerRows(runner);
    let admitted: Admitted = { waitMs: 0, outage: null, hasAnswered: false };
    await this.#decider.log.changeLeases(Object.values(names), (held) => {
      const { value, ...admission } = admit(held(names.outage), holder, now);
      admitted = { ...admission, hasAnswered: hasAnswered(held(names.answered), now) };
      return value === held(names.outage) ? [] : [{ name: names.outage, value }];
    });
    return admitted;
  }

  async #noteRunner(
    runner: string,
    holder: Holder,
    found: RunnerFinding | null | undefined,
    now: number,
  ): Promise<void> {
    const names = runnerRows(runner);
    await this.#decider.log.changeLeases(Object.values(names), (held) => {
      const before = held(names.outage);
      const outage = found === undefined ? afterStop(before, holder) : afterFinding(before, runner, holder, found, now);
      const answered = found === null ? answeredAt(held(names.answered), now) : held(names.answered);
      return [
        ...(outage === before ? [] : [{ name: names.outage, value: outage }]),
        ...(answered === held(names.answered) ? [] : [{ name: names.answered, value: answered }]),
      ];
    });
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
      const status = this.#decider.statusOf(id);
      if (!status) continue;
      for (const follow of this.#follows.get(id) ?? []) this.#announce(id, follow, status, own);
    }
  }

  #announceLost(cast: string, lost: Denied): void {
    const status = this.#decider.statusOf(cast) ?? 'running';
    for (const follow of this.#follows.get(cast) ?? []) follow.listener({ cast, status, owed: [], entries: [], lost });
  }

  #announce(id: string, follow: Follow, status: CastStatus, entries: readonly Entry[]): void {
    const owed = this.#decider.owed(id, (key) => !follow.announced.has(key));
    follow.announced = new Set(owed.map(({ key }) => key));
    follow.listener({ cast: id, status, owed, entries: follow.withEntries ? entries : [] });
  }
}

type Follow = {
  readonly withEntries: boolean;
  readonly listener: (change: CastChange) => void;
  /** The keys that were announced before: the follower has their packets. */
  announced: Set<string>;
};
