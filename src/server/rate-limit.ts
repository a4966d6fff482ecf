// How often somebody may ask: a bucket for each name that fills up again with time.
type Rate = { readonly perSecond: number; readonly burst: number };

/** So many names are remembered; a full table forgets those that asked longest ago. */
const NAMES_MAX = 10_000;

export class RateLimit {
  readonly #rate: Rate;
  readonly #left = new Map<string, { tokens: number; at: number }>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Takes one. Answers 0, or the milliseconds to wait where there is none. */
  take(name: string, now: number): number {
    const wait = this.waitFor(name, now);
    if (wait > 0) return wait;
    const bucket = this.#bucket(name, now);
    bucket.tokens -= 1;
    this.#left.delete(name);
    this.#left.set(name, bucket);
    const [oldest] = this.#left.keys();
    if (this.#left.size > NAMES_MAX && oldest !== undefined) this.#left.delete(oldest);
    return 0;
  }

  /** The milliseconds until there is one again; takes nothing. */
  waitFor(name: string, now: number): number {
    const { tokens } = this.#bucket(name, now);
    return tokens >= 1 ? 0 : ((1 - tokens) / this.#rate.perSecond) * 1000;
  }

  #bucket(name: string, now: number): { tokens: number; at: number } {
    const { perSecond, burst } = this.#rate;
    const known = this.#left.get(name);
    if (!known) return { tokens: burst, at: now };
    return { tokens: Math.min(burst, known.tokens + ((now - known.at) / 1000) * perSecond), at: now };
  }
}
