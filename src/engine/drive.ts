// The engine's loop: it starts what a cast is owed, stops what it is no longer owed, and brings every result
// to the store. It holds no rule and keeps nothing that a restart would miss.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Packet, Probe, Slot } from '../kernel/cast/packet.ts';
import { type CastStatus, isOver } from '../kernel/cast/state.ts';
import type { Code } from '../kernel/codes.ts';
import type { Request } from '../kernel/input.ts';
import type { Effect } from '../kernel/pending.ts';
import type { Sighting } from '../kernel/trust/state.ts';
import type { TrustWatch } from '../kernel/trust/watch.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import { asInput, asInterruption, NOT_BEGUN, usageInput } from './attempt-requests.ts';
import type { Owed } from './decider.ts';
import { type Driver, RENEW_MS, sharesProcesses, thisDriver } from './lease.ts';
import {
  type AttemptDirs,
  HANDED_OVER,
  INTERRUPTED,
  type LiveEvent,
  type Runners,
  Uninspectable,
  type Witness,
  type WorkingTree,
} from './ports.ts';
import type { Holder } from './runner-register.ts';
import type { CastChange, Store } from './store.ts';
import { ENGINE } from './store.ts';

type Dispatch = Extract<Effect, { kind: 'dispatch' }>;

/** A clock that is set forward is noticed after this time. */
const LOOK_AGAIN_MS = 10_000;
const RING_AGAIN_MS = 1_000;
const LOOK_AT_CAST_MS = 2_000;
const REPORT_EVERY_MS = 10_000;
/** The codes of a result that came too late and was not recorded. */
const NOT_RECORDED: readonly string[] = ['STALE_ATTEMPT', 'UNKNOWN_TURN'] satisfies Code[];

export type { Runners } from './ports.ts';

export type EngineOptions = {
  readonly store: Store;
  readonly runners: Runners;
  readonly cwd: string;
  readonly configDir: string;
  readonly stateDir: string;
  readonly now?: () => number;
  /** A clock that cannot be set, in milliseconds. */
  readonly ticks?: () => number;
  /** Without one, only the agents report about a turn. */
  readonly witness?: Witness;
  /** The working tree of a cast. Without one, every cast works in `cwd`. */
  readonly workingTreeOf?: (cast: string) => WorkingTree;
  /** Looks once at what a turn waits for, in the folder of the turn. */
  readonly probe?: (probe: Probe, folder: string, signal: AbortSignal) => Promise<Probed>;
  /** Receives what agents do while they do it. A side channel: events may be missed, and none is stored. */
  readonly onEvent?: (turn: number, event: LiveEvent) => void;
};

/** `met` is null where it may still come. */
export type Probed = { readonly met: boolean | null; readonly reason: string };

export class Engine {
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /**
   * Drives a cast until it is not running and no work of this process is. `begin` starts or continues the cast; what
   * runs before that belongs to an earlier process. Returns the status of the cast.
   */
  async drive(cast: string, begin: () => Promise<void>, watch?: (change: CastChange) => void): Promise<CastStatus> {
    return new Drive(this.#options, cast).run(begin, watch);
  }
}

/** Another process drives the cast now. What ran here has ended, or belongs to that process. */
export class LeaseLost extends Error {
  readonly verdict: Denied;

  constructor(verdict: Denied) {
    super(verdict.reason);
    this.verdict = verdict;
  }
}

class Drive {
  readonly #options: EngineOptions;
  readonly #cast: string;
  readonly #running = new Map<string, AbortController>();
  /** Attempts that were under way before this process took the cast. */
  readonly #foreign = new Set<string>();
  /** Finished work whose result is being submitted. It cannot be stopped any more. */
  readonly #settling = new Set<string>();
  #begun = false;
  #status: CastStatus = 'running';
  #failure: unknown = null;
  readonly #workingTree: WorkingTree | null;
  /** Resolves when all accepted work is put away in the folder. */
  #tidy: Promise<unknown> = Promise.resolve();
  #done: (() => void) | null = null;

  constructor(options: EngineOptions, cast: string) {
    this.#options = options;
    this.#cast = cast;
    this.#workingTree = options.workingTreeOf?.(cast) ?? null;
  }

  async run(begin: () => Promise<void>, watch?: (change: CastChange) => void): Promise<CastStatus> {
    const finished = new Promise<void>((resolve) => {
      this.#done = resolve;
    });
    let isFirst = true;
    const stop = await this.#options.store.watchCast(this.#cast, watch !== undefined, (change) => {
      // The first change is the present situation and comes before `watchCast` returns. Later work is started here.
      if (isFirst) for (const { key, effect } of change.owed) if (effect.kind === 'dispatch') this.#foreign.add(key);
      isFirst = false;
      if (change.lost) return this.#loseLease(change.lost);
      watch?.(change);
      this.#reconcile(change);
    });
    isFirst = false;
    await begin().catch((error) => this.#giveUp(error));
    this.#begun = true;
    this.#finishIfIdle();
    await finished;
    stop();
    if (this.#failure) throw (await this.#lostLease()) ?? this.#failure;
    if (isOver(this.#status)) await this.#options.witness?.forget(this.#cast);
    await this.#workingTree?.settle(this.#status === 'completed');
    return this.#status;
  }

  #reconcile(change: CastChange): void {
    this.#status = change.status;
    const owed = new Set(change.owed.map(({ key }) => key));
    for (const [key, controller] of this.#running) {
      if (owed.has(key) || this.#settling.has(key)) continue;
      controller.abort(owed.has(key.replace('dispatch:', 'interrupt:')) ? INTERRUPTED : undefined);
    }
    if (!this.#failure) for (const work of change.owed) if (!this.#running.has(work.key)) this.#start(work);
    this.#finishIfIdle();
  }

  #start(work: Owed): void {
    const controller = new AbortController();
    this.#running.set(work.key, controller);
    this.#perform(work, controller.signal)
      .catch((error) => this.#giveUp(error))
      .finally(() => {
        this.#running.delete(work.key);
        this.#settling.delete(work.key);
        this.#finishIfIdle();
      });
  }

  #giveUp(error: unknown): void {
    this.#failure ??= error;
    for (const controller of this.#running.values()) controller.abort();
  }

  /**
   * Ends everything here. A new driver that sees the same processes goes on with the programs that run, so they are left to
   * it; any other driver cannot reach them, so they are ended.
   */
  #loseLease(verdict: Denied): void {
    this.#failure ??= new LeaseLost(verdict);
    const holder = verdict.details.holder as Driver | null | undefined;
    const isHandedOver = holder !== null && holder !== undefined && sharesProcesses(holder);
    for (const controller of this.#running.values()) controller.abort(isHandedOver ? HANDED_OVER : undefined);
    this.#finishIfIdle();
  }

  /** A failure may only be a consequence of the lost lease. */
  async #lostLease(): Promise<LeaseLost | null> {
    const lost = await this.#options.store.view('lost', this.#cast).catch(() => null);
    return lost && new LeaseLost(lost);
  }

  /** Whether another process has the cast now, so that the work belongs to it. */
  async #isLost(): Promise<boolean> {
    const lost = await this.#options.store.view('lost', this.#cast);
    if (lost) this.#loseLease(lost);
    return lost !== null;
  }

  #finishIfIdle(): void {
    if (!this.#begun || this.#running.size > 0) return;
    if (this.#status !== 'running' || this.#failure) this.#done?.();
  }

  async #perform({ effect, key, packet, watch }: Owed, signal: AbortSignal): Promise<void> {
    const { witness } = this.#options;
    // After a sleep, this driver may see work that belongs to the next driver.
    if (effect.kind !== 'timer' && (await this.#isLost())) return;
    switch (effect.kind) {
      case 'prepare': {
        const { cast, turn, attempt } = effect;
        const slot = watch?.slot ?? null;
        if (slot && !(await this.#takeSlot(slot, turn, signal))) return;
        let isDispatched = false;
        try {
          const cwd = await this.#folder(signal, watch?.place);
          const clashes = (watch && (await this.#workingTree?.begin(watch))) ?? [];
          const look =
            watch?.looks && witness
              ? await inspected(async () => {
                  const seal = await witness.before(watch, cwd);
                  return { seal, ...(watch.isFresh ? {} : { orders: (await witness.orders?.(watch, cwd)) ?? {} }) };
                })
              : {};
          const trust = watch?.trust ? await this.#attest(watch.trust) : undefined;
          const verdict = signal.aborted
            ? null
            : await this.#submit(key, {
                kind: 'turn.prepared',
                cast,
                turn,
                attempt,
                ...look,
                ...(clashes.length > 0 ? { clashes } : {}),
                ...(trust === undefined ? {} : { trust }),
              });
          isDispatched = verdict?.allow === true;
        } finally {
          if (slot && !isDispatched) await this.#releaseSlot(slot, turn);
        }
        return;
      }
      case 'dispatch': {
        if (!packet) throw new Error(`no packet came with ${key}`);
        try {
          await this.#dispatch(effect, key, packet, signal);
        } finally {
          if (packet.slot) await this.#releaseSlot(packet.slot, packet.turn);
        }
        return;
      }
      case 'interrupt': {
        if (!packet) throw new Error(`no packet came with ${key}`);
        // What runs here ends by itself and says so. What an earlier process had started is ended here.
        if (this.#running.has(key.replace('interrupt:', 'dispatch:'))) return;
        const place = await this.#attemptDirs(packet, signal);
        const runner = this.#options.runners.runnerFor(packet);
        const result = await runner.recover(packet, place, AbortSignal.abort(INTERRUPTED));
        if (packet.slot) await this.#releaseSlot(packet.slot, packet.turn);
        await this.#submit(key, asInterruption(effect, result));
        await runner.forget?.(place);
        return;
      }
      case 'verify': {
        const { cast, turn, attempt } = effect;
        const cwd = await this.#folder(signal, watch?.place);
        const nothing = { seal: '', changes: {}, checks: {} };
        const found =
          watch && witness ? { ...nothing, ...(await inspected(() => witness.after(watch, cwd, signal))) } : nothing;
        if (signal.aborted) return;
        await this.#afterTidying(async () => {
          const verdict = await this.#submit(key, { kind: 'turn.verified', cast, turn, attempt, ...found });
          if (!watch) return;
          if (verdict.allow) await this.#workingTree?.keep(watch, found.changes);
          else if (verdict.code === 'SCOPE_VIOLATION') await this.#workingTree?.refuse(watch);
        });
        return;
      }
      case 'merge': {
        const { cast, turn, attempt } = effect;
        await this.#folder(signal, watch?.place);
        await this.#afterTidying(async () => {
          const merge = (watch && (await this.#workingTree?.merge(watch))) ?? { ok: true, commit: null };
          if (!signal.aborted) await this.#submit(key, { kind: 'turn.merged', cast, turn, attempt, merge });
        });
        return;
      }
      case 'park': {
        const { cast, turn, attempt } = effect;
        await this.#folder(signal, watch?.place);
        await this.#afterTidying(async () => {
          const kept = (watch && (await this.#workingTree?.park(watch))) ?? null;
          if (!signal.aborted) await this.#submit(key, { kind: 'turn.parked', cast, turn, attempt, kept });
        });
        return;
      }
      case 'probe': {
        if (watch?.awaits) await this.#probe(effect, watch.awaits, watch.place, signal);
        return;
      }
      case 'timer':
        await this.#ringAt(effect.at, signal);
    }
  }

  /** Looks at what a turn waits for until it is met or cannot be met any more. Its bound is a timer of the rules. */
  async #probe(effect: Extract<Effect, { kind: 'probe' }>, probe: Probe, place: number | null, signal: AbortSignal) {
    const { cast, turn, attempt } = effect;
    const look = this.#options.probe;
    if (!look) throw new Error(`nothing here looks at what turn ${turn} of ${cast} waits for`);
    const folder = probe.kind === 'command' ? await this.#folder(signal, place) : this.#options.cwd;
    for (let last = ''; !signal.aborted; ) {
      const { met, reason } = await look(probe, folder, signal);
      if (signal.aborted) return;
      if (met !== null || reason !== last) {
        const verdict = await this.#options.store.submit(
          { kind: 'wait.probed', cast, turn, attempt, met, reason },
          ENGINE,
        );
        if (!verdict.allow && verdict.code === 'LEASE_LOST') return this.#loseLease(verdict);
        if (met !== null || !verdict.allow) return;
      }
      last = reason;
      await pause(probe.kind === 'command' ? probe.everyMs : LOOK_AT_CAST_MS, signal);
    }
  }

  async #dispatch(effect: Dispatch, key: string, packet: Packet, signal: AbortSignal): Promise<void> {
    const runner = this.#options.runners.runnerFor(packet);
    const isForeign = this.#foreign.delete(key);
    const place = await this.#attemptDirs(packet, signal);
    if (packet.slot && isForeign) await this.#takeSlot(packet.slot, packet.turn, signal, true);
    const beating = this.#keepBeating(packet);
    const renewing = this.#keepSlot(packet);
    try {
      // Stopped while its folder was prepared: it has not begun.
      const isUnbegun = signal.aborted && !isForeign;
      if (isUnbegun && signal.reason !== INTERRUPTED) return;
      const result = isUnbegun
        ? NOT_BEGUN
        : await (isForeign ? runner.recover(packet, place, signal) : runner.run(packet, place, signal));
      const isInterrupted = signal.aborted && signal.reason === INTERRUPTED;
      const request = isInterrupted ? asInterruption(effect, result) : signal.aborted ? null : asInput(effect, result);
      const verdict = request && (await this.#submit(key, request));
      // A stopped attempt only records its usage. A script has used nothing and is simply played again.
      const isUntaken = !verdict || NOT_RECORDED.includes(verdict.code);
      const spent = isUntaken && !packet.scripted ? usageInput(effect, result) : null;
      // If the store cannot write, the next driver reads it from the folder of the attempt.
      if (spent && this.#failure) return;
      if (spent) await this.#options.store.submit(spent, ENGINE);
    } finally {
      clearInterval(beating);
      clearInterval(renewing);
    }
    if (!(this.#failure instanceof LeaseLost)) await runner.forget?.(place);
  }

  async #attemptDirs(packet: Packet, signal: AbortSignal): Promise<AttemptDirs> {
    const cwd = this.#workingTree ? await this.#folder(signal, packet.place) : this.#options.cwd;
    return attemptDirs(this.#options, cwd, packet);
  }

  /**
   * Rings when the clock says so, and when as much time has passed as was left at first: the clock may be set in between.
   * The rules say what is due; until then it rings again now and then.
   */
  async #ringAt(at: number, signal: AbortSignal): Promise<void> {
    const { now = Date.now, ticks = () => performance.now() } = this.#options;
    const dueAtTick = ticks() + (at - now());
    for (const rung = { byClock: false, byTicks: false }; !signal.aborted; ) {
      const left = [...(rung.byClock ? [] : [at - now()]), ...(rung.byTicks ? [] : [dueAtTick - ticks()])];
      const next = left.length > 0 ? Math.min(...left) : RING_AGAIN_MS;
      if (next > 0) {
        await pause(Math.min(next, LOOK_AGAIN_MS), signal);
        if (left.length > 0) continue;
      }
      if (signal.aborted) return;
      rung.byClock ||= now() >= at;
      rung.byTicks ||= ticks() >= dueAtTick;
      const due = rung.byTicks ? { due: at } : {};
      const verdict = await this.#options.store.submit({ kind: 'clock.rang', cast: this.#cast, ...due }, ENGINE);
      if (!verdict.allow && verdict.code === 'LEASE_LOST') return this.#loseLease(verdict);
    }
  }

  /** The folder of the cast, or of an item in its own lane, once all accepted work is put away. */
  async #folder(signal: AbortSignal, place: number | null = null): Promise<string> {
    await this.#tidy;
    return this.#workingTree ? this.#workingTree.ready(signal, place) : this.#options.cwd;
  }

  /** Work that follows from an accepted turn waits until the accepted files are put away. */
  async #afterTidying(work: () => Promise<void>): Promise<void> {
    if (!this.#workingTree) return work();
    const done = this.#tidy.then(work);
    this.#tidy = done.catch(() => undefined);
    await done;
  }

  /** The kernel makes no ids and times, so they come from here. */
  async #attest(watch: TrustWatch): Promise<Sighting | undefined> {
    const { witness, now = Date.now } = this.#options;
    return witness?.attest?.(watch, randomUUID(), new Date(now()).toISOString());
  }

  async #submit(key: string, request: Request): Promise<Verdict> {
    this.#settling.add(key);
    const verdict = await this.#options.store.submit(request, ENGINE);
    if (!verdict.allow && verdict.code === 'LEASE_LOST') this.#loseLease(verdict);
    return verdict;
  }

  /** Sends heartbeats while an attempt runs here. Its supervisor ends an attempt that gives no sign of life. */
  #keepBeating({ cast, task }: Packet): NodeJS.Timeout | undefined {
    if (!task) return undefined;
    const { store, now = Date.now } = this.#options;
    const sign = { run: cast, task: task.id, owner: task.owner, fence: task.fence, worker: thisDriver() };
    const beating = setInterval(
      () => void store.lease('beat', { ...sign, at: now() }).catch(() => undefined),
      task.beatMs,
    );
    beating.unref();
    return beating;
  }

  /** Waits for a slot of the runner. False if the signal came first. */
  async #takeSlot(slot: Slot, turn: number, signal: AbortSignal, isForced = false): Promise<boolean> {
    const { store, onEvent, now = Date.now } = this.#options;
    // The total time is unknown, so the wait is reported again now and then.
    for (let reportedAt = Number.NEGATIVE_INFINITY; ; ) {
      const waitMs = await store.lease('takeSlot', slot, this.#holder(turn), now(), isForced);
      if (waitMs === 0) return true;
      if (now() - reportedAt >= REPORT_EVERY_MS) {
        reportedAt = now();
        onEvent?.(turn, { kind: 'waiting', forMs: waitMs, reason: `${slot.runner} is at its limit` });
      }
      await pause(waitMs, signal);
      if (signal.aborted) return false;
    }
  }

  /** Asks again for the slot that the attempt has, so that drivers elsewhere see it as taken. */
  #keepSlot({ slot, turn }: Packet): NodeJS.Timeout | undefined {
    if (!slot) return undefined;
    const { store, now = Date.now } = this.#options;
    const renew = () => void store.lease('takeSlot', slot, this.#holder(turn), now(), true).catch(() => undefined);
    return setInterval(renew, RENEW_MS).unref();
  }

  async #releaseSlot(slot: Slot, turn: number): Promise<void> {
    const { store, now = Date.now } = this.#options;
    await store.lease('releaseSlot', slot, this.#holder(turn), now());
  }

  #holder(turn: number): Holder {
    return { driver: thisDriver(), key: `${this.#cast}:${turn}` };
  }
}

/** The result of an inspection, or why a turn that must be inspected cannot be. */
async function inspected<T extends object>(look: () => Promise<T>): Promise<T | { readonly unseen: string }> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof Uninspectable) return { unseen: error.message };
    throw error;
  }
}

function attemptDirs(
  { configDir, stateDir, onEvent }: EngineOptions,
  cwd: string,
  { cast, turn, attempt }: Packet,
): AttemptDirs {
  return {
    cwd,
    configDir,
    attemptDir: join(stateDir, 'attempts', `${cast}-${turn}.${attempt}`),
    ...(onEvent ? { onEvent: (event) => onEvent(turn, event) } : {}),
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.ceil(ms));
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });
}
