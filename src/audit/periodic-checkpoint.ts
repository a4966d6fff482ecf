// Signs the log from time to time while somebody appends to it, so that a cast that runs for days has more than its end to be
// held to. It is due after so many minutes or so many facts, whichever comes first, and never twice at once. Neither its timer
// nor its thread keeps the process alive.
import { Worker } from 'node:worker_threads';
import type { Verdict } from '../kernel/verdict.ts';
import type { Place } from './checkpoint-files.ts';
import type { Order } from './checkpoint-worker.ts';

export type Every = { readonly minutes: number; readonly facts: number };

/** What holds where the configuration says nothing. */
export const EVERY_DEFAULT: Every = { minutes: 10, facts: 10_000 };

/** The longest a timer of Node can be set for. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class PeriodicCheckpoint {
  readonly #every: Every;
  readonly #sign: () => Promise<unknown>;
  readonly #timer: NodeJS.Timeout;
  /** The newest fact that was seen, and the newest when it was last signed. */
  #seen = 0;
  #signed: number | null = null;
  #running: Promise<unknown> | null = null;

  /** `sign` makes the checkpoint; whatever becomes of it is its own affair. */
  constructor(every: Every, sign: () => Promise<unknown>) {
    this.#every = every;
    this.#sign = sign;
    this.#timer = setInterval(() => this.#makeOne(), Math.min(every.minutes * 60_000, TIMER_MS_MAX));
    this.#timer.unref();
  }

  /** The log has come to this fact. */
  saw(seq: number): void {
    this.#signed ??= seq - 1;
    this.#seen = Math.max(this.#seen, seq);
    if (this.#seen - this.#signed >= this.#every.facts) this.#makeOne();
  }

  /** Answers when nothing is being signed any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  #makeOne(): void {
    if (this.#running || this.#seen === (this.#signed ?? this.#seen)) return;
    this.#signed = this.#seen;
    this.#running = this.#sign().finally(() => {
      this.#running = null;
    });
  }
}

/** Makes a checkpoint in a thread of its own. Rejects where the thread cannot be started or fails. */
export function checkpointAside(place: Place, logFile: string, env: NodeJS.ProcessEnv): Promise<Verdict> {
  const variables = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const order: Order = {
    place: { dir: place.dir, stateDir: place.stateDir },
    logFile,
    env: Object.fromEntries(variables),
  };
  const name = import.meta.url.endsWith('.ts') ? './checkpoint-worker.ts' : './checkpoint-worker.js';
  const worker = new Worker(new URL(name, import.meta.url), { workerData: order });
  worker.unref();
  return new Promise((resolve, reject) => {
    worker.once('message', (verdict: Verdict) => resolve(verdict));
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread ended without a word')));
  });
}
