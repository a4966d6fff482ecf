// What agents do right now, for the streams that ask for it. Whoever drives a cast leaves the output of its agents in files;
// they are followed while a stream listens to the cast, and nothing is asked of the driver.
import { type LiveListener, listenLive } from '../agents/live-watch.ts';
import { castPages } from '../app/cast-pages.ts';
import type { Workspace } from '../app/workspace.ts';
import type { LiveEvent } from '../engine/ports.ts';
import type { EventHub, Frame } from './event-hub.ts';

export type AgentNews = {
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  readonly event: LiveEvent;
};

type Listener = { readonly cast: string | undefined; readonly hear: (news: AgentNews) => void };

/** A run of an attempt that is made again begins without a fact, so the files are looked for now and then. */
const LOOK_EVERY_MS = 1_000;
/** So many casts are listened to at once. */
const FOLLOWED_MAX = 32;

export class LiveFeed {
  readonly #workspace: Workspace;
  readonly #hub: EventHub;
  readonly #listeners = new Set<Listener>();
  readonly #followed = new Map<string, LiveListener>();
  #timer: NodeJS.Timeout | null = null;
  #untake: (() => void) | null = null;
  #looking: Promise<void> | null = null;

  constructor(workspace: Workspace, hub: EventHub) {
    this.#workspace = workspace;
    this.#hub = hub;
  }

  /** Without a cast, those of all casts that run. */
  listen(cast: string | undefined, hear: Listener['hear']): () => void {
    const listener = { cast, hear };
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
    this.#untake ??= this.#hub.take((frames) => void this.#take(frames).catch(() => undefined));
    void this.#look();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) void this.close();
    };
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#untake?.();
    this.#untake = null;
    const followed = [...this.#followed.values()];
    this.#followed.clear();
    await Promise.all(followed.map((watch) => watch.stop()));
  }

  /** Starts to follow the casts that run and are listened to, and lets the others go. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce()
      .catch(() => undefined) // What agents do may be missed; the stream reports a log that cannot be read.
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    if (!this.#workspace.hasLog()) return;
    const open = await this.#workspace.castStore().view('casts', { isOpen: true });
    const running = open.filter(({ status }) => status === 'running').map(({ cast }) => cast);
    const wanted = new Set(running.filter((cast) => this.#isWanted(cast)).slice(-FOLLOWED_MAX));
    for (const [cast, watch] of this.#followed) {
      if (wanted.has(cast)) continue;
      this.#followed.delete(cast);
      void watch.stop();
    }
    for (const cast of wanted) await this.#follow(cast);
  }

  /** The page of the cast is folded on by the same entries, so looking costs little. */
  async #follow(cast: string): Promise<void> {
    const store = this.#workspace.castStore();
    await castPages(store).lookAt(store, cast, (now) => {
      if (!this.#timer) return;
      const watch =
        this.#followed.get(cast) ??
        listenLive(this.#workspace.stateDir, ({ turn, attempt, event }) => this.#tell({ cast, turn, attempt, event }));
      this.#followed.set(cast, watch);
      watch.look(now);
    });
  }

  async #take(frames: readonly Frame[]): Promise<void> {
    const casts = new Set(frames.map(({ cast }) => cast));
    for (const cast of this.#followed.keys()) if (casts.has(cast)) await this.#follow(cast);
    if (frames.some(({ kind }) => kind.startsWith('cast.'))) await this.#look();
  }

  #isWanted(cast: string): boolean {
    return [...this.#listeners].some((listener) => listener.cast === undefined || listener.cast === cast);
  }

  #tell(news: AgentNews): void {
    for (const { cast, hear } of this.#listeners) if (cast === undefined || cast === news.cast) hear(news);
  }
}
