// How long casts run, measured by a clock that cannot be set. A driver counts its own casts; the total that it measured
// last stands in the lease, for processes that decide about the cast without driving it.
import type { Cast } from '../kernel/cast/state.ts';
import { leaseIn, leaseName } from './lease.ts';
import type { LeaseValues } from './ports.ts';

export class RunningTime {
  readonly #ticks: () => number;
  /** By cast, the moment up to which its time is counted in the log. */
  readonly #countedTo = new Map<string, number>();

  constructor(ticks: () => number = () => performance.now()) {
    this.#ticks = ticks;
  }

  /** The cast is driven here from now on. `uncountedMs` it ran before, and no entry counts that yet. */
  start(cast: string, uncountedMs: number): void {
    this.#countedTo.set(cast, this.#ticks() - uncountedMs);
  }

  stop(cast: string): void {
    this.#countedTo.delete(cast);
  }

  /** How long a cast ran since its time was counted last; null where it is not driven here. */
  uncounted(cast: string): number | null {
    const countedTo = this.#countedTo.get(cast);
    return countedTo === undefined ? null : Math.max(0, Math.floor(this.#ticks() - countedTo));
  }

  batch(): Batch {
    return new Batch(this);
  }

  count(cast: string, ms: number): void {
    const countedTo = this.#countedTo.get(cast);
    if (countedTo !== undefined) this.#countedTo.set(cast, countedTo + ms);
  }
}

/** The times that the inputs of one commit count. They hold once the commit is on disk. */
class Batch {
  readonly #time: RunningTime;
  readonly #counted = new Map<string, number>();

  constructor(time: RunningTime) {
    this.#time = time;
  }

  /** What the driver of a cast says with its input. */
  own(cast: string): number | null {
    const ms = this.#time.uncounted(cast);
    return ms === null ? null : Math.max(0, ms - (this.#counted.get(cast) ?? 0));
  }

  /** What is known of any cast. */
  of({ id, clock }: Cast, held: LeaseValues): number | null {
    const own = this.own(id);
    if (own !== null) return own;
    const measured = leaseIn(held(leaseName(id)))?.elapsedMs;
    return measured === undefined ? null : Math.max(0, measured - clock.elapsedMs);
  }

  count(cast: string, ms: number): void {
    this.#counted.set(cast, (this.#counted.get(cast) ?? 0) + ms);
  }

  settle(): void {
    for (const [cast, ms] of this.#counted) this.#time.count(cast, ms);
  }
}
