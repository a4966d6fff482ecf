// The engine's loop: it starts what a cast is owed, stops what it is no longer owed, and brings every result back
// through the one door. It holds no rule and keeps nothing that a restart would miss.
import { join } from 'node:path';
import type { Packet } from '../kernel/cast/packet.ts';
import type { Effect } from '../kernel/effect.ts';
import type { Request } from '../kernel/input.ts';
import { type CastStatus, isOver } from '../kernel/state.ts';
import type { Owed } from './desk.ts';
import type { Change, Door } from './door.ts';
import type { AttemptResult, Place, Runners, Witness } from './ports.ts';

const ENGINE = 'engine';
/** The longest a timer of Node can be set for. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export type { Runners } from './ports.ts';

export type EngineOptions = {
  readonly door: Door;
  readonly runners: Runners;
  readonly cwd: string;
  readonly configDir: string;
  readonly stateDir: string;
  readonly now?: () => number;
  /** Without one, nothing but what the agents say is known of a turn. */
  readonly witness?: Witness;
};

export class Engine {
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /**
   * Drives a cast until it neither runs nor has anything of ours running. `begin` starts the cast or carries it on; what
   * runs before it was started by a process that is gone. Answers the status the cast stands in.
   */
  async drive(cast: string, begin: () => Promise<void>, watch?: (change: Change) => void): Promise<CastStatus> {
    return new Drive(this.#options, cast).run(begin, watch);
  }
}

class Drive {
  readonly #options: EngineOptions;
  readonly #cast: string;
  readonly #running = new Map<string, AbortController>();
  /** Attempts that were under way before this process took the cast. */
  readonly #foreign = new Set<string>();
  /** Work that is done and only waits for its result to be taken: there is nothing left of it to stop. */
  readonly #settling = new Set<string>();
  #begun = false;
  #status: CastStatus = 'running';
  #failure: unknown = null;
  #done: (() => void) | null = null;

  constructor(options: EngineOptions, cast: string) {
    this.#options = options;
    this.#cast = cast;
  }

  async run(begin: () => Promise<void>, watch?: (change: Change) => void): Promise<CastStatus> {
    const finished = new Promise<void>((resolve) => {
      this.#done = resolve;
    });
    let stands = true;
    const stop = await this.#options.door.follow(this.#cast, watch !== undefined, (change) => {
      // The first word is how the cast stands, and comes before `follow` answers; whatever comes later is ours.
      if (stands) for (const { key, effect } of change.owed) if (effect.kind === 'dispatch') this.#foreign.add(key);
      stands = false;
      watch?.(change);
      this.#reconcile(change);
    });
    stands = false;
    await begin().catch((error) => this.#giveUp(error));
    this.#begun = true;
    this.#finishIfIdle();
    await finished;
    stop();
    if (this.#failure) throw this.#failure;
    if (isOver(this.#status)) await this.#options.witness?.forget(this.#cast);
    return this.#status;
  }

  #reconcile(change: Change): void {
    this.#status = change.status;
    const owed = new Set(change.owed.map(({ key }) => key));
    for (const [key, controller] of this.#running) {
      if (!owed.has(key) && !this.#settling.has(key)) controller.abort();
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

  #finishIfIdle(): void {
    if (!this.#begun || this.#running.size > 0) return;
    if (this.#status !== 'running' || this.#failure) this.#done?.();
  }

  async #perform({ effect, key, packet, watch }: Owed, signal: AbortSignal): Promise<void> {
    const { witness } = this.#options;
    switch (effect.kind) {
      case 'prepare': {
        const { cast, turn, attempt } = effect;
        const seal = watch && (await witness?.before(watch));
        if (signal.aborted) return;
        await this.#submit(key, {
          kind: 'turn.prepared',
          cast,
          turn,
          attempt,
          ...(seal === undefined ? {} : { seal }),
        });
        return;
      }
      case 'dispatch': {
        if (!packet) throw new Error(`no packet came with ${key}`);
        const runner = this.#options.runners.runnerFor(packet);
        const place = placeOf(this.#options, packet);
        const result = await (this.#foreign.delete(key)
          ? runner.recover(packet, place, signal)
          : runner.run(packet, place, signal));
        if (!signal.aborted) await this.#submit(key, asInput(effect, result));
        await runner.forget?.(place);
        return;
      }
      case 'verify': {
        const { cast, turn, attempt } = effect;
        const seen = (watch && (await witness?.after(watch))) ?? { seal: '', changes: {}, checks: {} };
        if (!signal.aborted) await this.#submit(key, { kind: 'turn.verified', cast, turn, attempt, ...seen });
        return;
      }
      case 'timer':
        await until(effect.at, this.#options.now ?? Date.now, signal);
        if (!signal.aborted) await this.#submit(key, { kind: 'clock.rang', cast: effect.cast });
    }
  }

  async #submit(key: string, request: Request): Promise<void> {
    this.#settling.add(key);
    await this.#options.door.submit(request, ENGINE);
  }
}

function placeOf({ cwd, configDir, stateDir }: EngineOptions, { cast, turn, attempt }: Packet): Place {
  return { cwd, configDir, attemptDir: join(stateDir, 'attempts', `${cast}-${turn}.${attempt}`) };
}

function asInput({ cast, turn, attempt }: Extract<Effect, { turn: number }>, result: AttemptResult): Request {
  const common = { cast, turn, attempt };
  const usage = 'usage' in result && result.usage ? { usage: result.usage } : {};
  switch (result.kind) {
    case 'output':
      return {
        kind: 'attempt.output',
        ...common,
        output: result.output,
        ...usage,
        ...(result.truncated ? { truncated: true } : {}),
      };
    case 'fault':
      return { kind: 'attempt.failed', ...common, fault: result.fault, reason: result.reason, ...usage };
    case 'lost':
      return { kind: 'attempt.lost', ...common, mayHaveRun: result.mayHaveRun, reason: result.reason };
  }
}

/** Resolves at the given time or when the signal comes, whichever is first. */
function until(at: number, now: () => number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wait = () => {
      const left = at - now();
      if (left <= 0 || signal.aborted) return resolve();
      timer = setTimeout(wait, Math.min(left, TIMER_MS_MAX));
    };
    let timer: NodeJS.Timeout | undefined;
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
    wait();
  });
}
