// The desk behind a worker thread: deciding, hashing and syncing to disk happen there, agents and screens live here.
// Messages of one tick travel together, so that fifty casts cost few crossings.
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Slot } from '../kernel/cast/packet.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Request } from '../kernel/input.ts';
import type { Ledger } from '../kernel/ledger/state.ts';
import type { Cast } from '../kernel/state.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import type { Change, Door } from './door.ts';
import type { Driver } from './driver.ts';
import type { Sign } from './heartbeat.ts';
import type { CastLease, Driving } from './lease.ts';
import type { CastQuery, Head, Query } from './ports.ts';
import type { Holder } from './slots.ts';
import { StorageError } from './storage-error.ts';

export type Call = { readonly id: number; readonly method: string; readonly args: readonly unknown[] };
export type WorkerData = { readonly logFile: string; readonly dir: string | null };
export type Reply =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly error: { readonly message: string; readonly code?: string; readonly stack?: string };
    }
  | { readonly follow: number; readonly change: Change };

/** Room for what a batch of decisions leaves behind, so that it is not carried along as if it were to stay. */
const YOUNG_MB = 64;

type Waiter = { resolve(value: never): void; reject(error: unknown): void };

export class WorkerDoor implements Door {
  readonly #worker: Worker;
  readonly #waiters = new Map<number, Waiter>();
  readonly #listeners = new Map<number, (change: Change) => void>();
  #outbox: Call[] = [];
  #calls = 0;
  /** Why no call can be answered any more. */
  #gone: Error | null = null;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (replies: Reply[]) => {
      for (const reply of replies) this.#receive(reply);
    });
    worker.on('error', (error) => this.#fail(error as Error));
    worker.on('exit', () => this.#fail(new Error('the desk stopped')));
  }

  /** `dir` is the folder of the workspace, where links are looked at; null where there is none. */
  static async open(logFile: string, dir: string | null = null): Promise<WorkerDoor> {
    const name = import.meta.url.endsWith('.ts') ? './desk-worker.ts' : './desk-worker.js';
    const worker = new Worker(new URL(name, import.meta.url), {
      workerData: { logFile, dir } satisfies WorkerData,
      ...quickToLoad(),
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const door = new WorkerDoor(worker);
    try {
      await door.#call('ready');
      return door;
    } catch (error) {
      // A worker that is left behind would keep the process from ending.
      await worker.terminate();
      throw error;
    }
  }

  submit(request: Request, by: string): Promise<Verdict> {
    return this.#call('submit', request, by);
  }

  cast(id: string): Promise<Cast | null> {
    return this.#call('cast', id);
  }

  ledger(run?: string): Promise<Ledger> {
    return this.#call('ledger', run);
  }

  read(query: Query): Promise<readonly Entry[]> {
    return this.#call('read', query);
  }

  casts(query: CastQuery): Promise<readonly CastSummary[]> {
    return this.#call('casts', query);
  }

  lifecycle(): Promise<readonly Entry[]> {
    return this.#call('lifecycle');
  }

  head(): Promise<Head> {
    return this.#call('head');
  }

  async follow(cast: string, withEntries: boolean, listener: (change: Change) => void): Promise<() => void> {
    const follow = this.#calls + 1;
    this.#listeners.set(follow, listener);
    try {
      await this.#call('follow', cast, withEntries);
    } catch (error) {
      this.#listeners.delete(follow);
      throw error;
    }
    return () => {
      if (this.#listeners.delete(follow)) void this.#call('unfollow', follow).catch(() => undefined);
    };
  }

  takeCast(cast: string, driver: Driver, over?: number): Promise<CastLease> {
    return this.#call('takeCast', cast, driver, over);
  }

  releaseCast(cast: string, driver: Driver): Promise<void> {
    return this.#call('releaseCast', cast, driver);
  }

  driverOf(cast: string): Promise<Driving | null> {
    return this.#call('driverOf', cast);
  }

  lostCast(cast: string): Promise<Denied | null> {
    return this.#call('lostCast', cast);
  }

  beat(sign: Sign): Promise<boolean> {
    return this.#call('beat', sign);
  }

  takeSlot(slot: Slot, holder: Holder, now: number, isForced: boolean): Promise<number> {
    return this.#call('takeSlot', slot, holder, now, isForced);
  }

  releaseSlot(slot: Slot, holder: Holder, now: number): Promise<void> {
    return this.#call('releaseSlot', slot, holder, now);
  }

  admit(runner: string, holder: Holder, now: number): ReturnType<Door['admit']> {
    return this.#call('admit', runner, holder, now);
  }

  noteRunner(...args: Parameters<Door['noteRunner']>): Promise<void> {
    return this.#call('noteRunner', ...args);
  }

  async close(): Promise<void> {
    if (this.#gone) return;
    try {
      await this.#call('close');
    } finally {
      this.#fail(new Error('the door is closed'));
      await this.#worker.terminate();
    }
  }

  #call<T>(method: string, ...args: unknown[]): Promise<T> {
    const id = ++this.#calls;
    if (this.#gone) return Promise.reject(this.#gone);
    return new Promise<T>((resolve, reject) => {
      this.#waiters.set(id, { resolve: resolve as Waiter['resolve'], reject });
      if (this.#outbox.length === 0) queueMicrotask(() => this.#flush());
      this.#outbox.push({ id, method, args });
    });
  }

  #flush(): void {
    const calls = this.#outbox;
    this.#outbox = [];
    if (this.#gone) return;
    try {
      this.#worker.postMessage(calls);
    } catch {
      // One of them holds something that cannot cross over; the others can.
      for (const call of calls) this.#send(call);
    }
  }

  #send(call: Call): void {
    try {
      this.#worker.postMessage([call]);
    } catch (error) {
      this.#waiters.get(call.id)?.reject(error);
      this.#waiters.delete(call.id);
    }
  }

  #receive(reply: Reply): void {
    if ('follow' in reply) {
      this.#listeners.get(reply.follow)?.(reply.change);
      return;
    }
    const waiter = this.#waiters.get(reply.id);
    this.#waiters.delete(reply.id);
    if ('error' in reply) waiter?.reject(asError(reply.error));
    else waiter?.resolve(reply.value as never);
  }

  /** The first reason stays: what comes after it is its consequence. */
  #fail(error: Error): void {
    this.#gone ??= error;
    for (const { reject } of this.#waiters.values()) reject(error);
    this.#waiters.clear();
  }
}

function asError({ message, code, stack }: { message: string; code?: string; stack?: string }): Error {
  if (code) return new StorageError(code as StorageError['code'], message);
  const error = new Error(message);
  if (stack) error.stack = stack;
  return error;
}

/** A thread of its own has none of the ways in which the main one finds its sources. */
function quickToLoad(): WorkerOptions {
  if (!import.meta.url.endsWith('.ts')) return {};
  const sources = fileURLToPath(new URL('../../bin/own-sources.cjs', import.meta.url));
  return { execArgv: ['--disable-warning=ExperimentalWarning', '--require', sources] };
}
