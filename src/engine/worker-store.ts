// The store behind a worker thread: deciding, hashing and syncing to disk happen there, agents and screens live here.
// Messages of one tick travel together, so that fifty casts cost few crossings.
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Entry } from '../kernel/fact.ts';
import type { Request } from '../kernel/input.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { type Query, StorageError } from './ports.ts';
import {
  type CastChange,
  type FollowQuery,
  followEntries,
  type Leases,
  type Store,
  type Submitter,
  type Views,
} from './store.ts';

export type WorkerCall = { readonly id: number; readonly method: string; readonly args: readonly unknown[] };
export type WorkerData = { readonly logFile: string; readonly dir: string | null };
export type WorkerReply =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly error: { readonly message: string; readonly code?: string; readonly stack?: string };
    }
  | { readonly watch: number; readonly change: CastChange }
  | { readonly wake: number };

/** Room for what a batch of decisions leaves behind, so that it is not carried along as if it were to stay. */
const YOUNG_MB = 64;

type Waiter = { resolve(value: never): void; reject(error: unknown): void };

export class WorkerStore implements Store {
  readonly #worker: Worker;
  readonly #waiters = new Map<number, Waiter>();
  readonly #listeners = new Map<number, (change: CastChange) => void>();
  readonly #streams = new Map<number, () => void>();
  readonly #closed = new AbortController();
  #outbox: WorkerCall[] = [];
  #calls = 0;
  /** Why no call can be answered any more. */
  #gone: Error | null = null;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (replies: WorkerReply[]) => {
      for (const reply of replies) this.#receive(reply);
    });
    worker.on('error', (error) => this.#fail(error as Error));
    worker.on('exit', () => this.#fail(new Error('the worker of the store stopped')));
  }

  /** `dir` is the folder of the workspace, where links are looked at; null where there is none. */
  static async open(logFile: string, dir: string | null = null): Promise<WorkerStore> {
    const name = import.meta.url.endsWith('.ts') ? './store-worker.ts' : './store-worker.js';
    const worker = new Worker(new URL(name, import.meta.url), {
      workerData: { logFile, dir } satisfies WorkerData,
      ...quickToLoad(),
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const store = new WorkerStore(worker);
    try {
      await store.#call('ready');
      return store;
    } catch (error) {
      // A worker that is left behind would keep the process from ending.
      await worker.terminate();
      throw error;
    }
  }

  submit(request: Request, { name }: Submitter): Promise<Verdict> {
    return this.#call('submit', request, { name });
  }

  read(query: Query): Promise<readonly Entry[]> {
    return this.#call('read', query);
  }

  view<K extends keyof Views>(name: K, ...about: Parameters<Views[K]>): Promise<ReturnType<Views[K]>> {
    return this.#call('view', name, ...about);
  }

  lease<K extends keyof Leases>(act: K, ...about: Parameters<Leases[K]>): Promise<ReturnType<Leases[K]>> {
    return this.#call('lease', act, ...about);
  }

  follow(query: FollowQuery): AsyncGenerator<readonly Entry[], void, void> {
    return followEntries(this, this.#closed.signal, query);
  }

  async watchCast(cast: string, withEntries: boolean, listener: (change: CastChange) => void): Promise<() => void> {
    const id = this.#calls + 1;
    this.#listeners.set(id, listener);
    try {
      await this.#call('watchCast', cast, withEntries);
    } catch (error) {
      this.#listeners.delete(id);
      throw error;
    }
    return () => {
      if (this.#listeners.delete(id)) void this.#call('unwatch', id).catch(() => undefined);
    };
  }

  /** Messages are answered in their order: what is appended after the next reading calls back. */
  watch(changed: () => void): () => void {
    const id = this.#calls + 1;
    this.#streams.set(id, changed);
    void this.#call('watch').catch(() => undefined);
    return () => {
      if (this.#streams.delete(id)) void this.#call('unwatch', id).catch(() => undefined);
    };
  }

  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#gone) return;
    try {
      await this.#call('close');
    } finally {
      this.#fail(new Error('the store is closed'));
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

  #send(call: WorkerCall): void {
    try {
      this.#worker.postMessage([call]);
    } catch (error) {
      this.#waiters.get(call.id)?.reject(error);
      this.#waiters.delete(call.id);
    }
  }

  #receive(reply: WorkerReply): void {
    if ('watch' in reply) return this.#listeners.get(reply.watch)?.(reply.change);
    if ('wake' in reply) return this.#streams.get(reply.wake)?.();
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
    // A stream that waits for entries reads once more, and fails with the reason.
    for (const wake of this.#streams.values()) wake();
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
