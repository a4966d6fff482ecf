// Signs the log periodically while a cast runs, so that long casts have several checkpoints. One is due after some minutes or some
// facts, whichever comes first, and never two at once. Neither the timer nor the thread keeps the process alive.
import { Worker } from 'node:worker_threads';
import type { Verdict } from '../kernel/verdict.ts';
import type { CheckpointJob } from './checkpoint-worker.ts';
import type { CheckpointPlace } from './checkpoints.ts';

export type CheckpointInterval = { readonly minutes: number; readonly facts: number };

/** The default interval. */
export const EVERY_DEFAULT: CheckpointInterval = { minutes: 10, facts: 10_000 };

/** The longest timer in Node. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class PeriodicCheckpoint {
  readonly #every: CheckpointInterval;
  readonly #sign: () => Promise<unknown>;
  readonly #timer: NodeJS.Timeout;
  /** The newest fact, and the newest fact at the last signature. */
  #seen = 0;
  #signed: number | null = null;
  #running: Promise<unknown> | null = null;

  /** `sign` makes the checkpoint and reports its own failures. */
  constructor(every: CheckpointInterval, sign: () => Promise<unknown>) {
    this.#every = every;
    this.#sign = sign;
    this.#timer = setInterval(() => this.#makeOne(), Math.min(every.minutes * 60_000, TIMER_MS_MAX));
    this.#timer.unref();
  }

  /** Notes that the log has reached this fact. */
  saw(seq: number): void {
    this.#signed ??= seq - 1;
    this.#seen = Math.max(this.#seen, seq);
    if (this.#seen - this.#signed >= this.#every.facts) this.#makeOne();
  }

  /** Resolves when no signature is in progress. */
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

/** Makes a checkpoint in its own thread. Rejects if the thread fails. */
export function checkpointAside(place: CheckpointPlace, logFile: string, env: NodeJS.ProcessEnv): Promise<Verdict> {
  const variables = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const order: CheckpointJob = {
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
    worker.once('exit', () => reject(new Error('the thread ended without an answer')));
  });
}
