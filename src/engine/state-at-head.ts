// The state in memory up to a fact: read from the newest snapshot and the facts since then, and advanced with every append. Ended casts
// and closed runs are forgotten after a while and read back from their own facts on demand.
import { apply } from '../kernel/apply.ts';
import { type Cast, isOver } from '../kernel/cast/state.ts';
import type { Entry } from '../kernel/fact.ts';
import { closedRuns, forgetRun, runOf } from '../kernel/ledger/state.ts';
import { emptyState, type State } from '../kernel/state.ts';
import { type Log, missingEntry } from './ports.ts';
import { restore } from './snapshot.ts';
import { isUnread, PartGone } from './snapshot-parts.ts';

const PAGE = 5_000;
/** Ended casts stay loaded for a while for later questions. */
const ENDED_KEPT_MAX = 100;
/** How often a look begins again because a part of its snapshot is gone. */
const AGAIN_MAX = 5;

type StateOptions = {
  /** Reads the whole snapshot at once, as it is right for one who stays. */
  readonly whole?: boolean;
};

export class StateAtHead {
  readonly #log: Log;
  readonly #isWhole: boolean;
  /** One mark for each who follows a cast. */
  readonly #kept = new Set<{ readonly id: string }>();
  /** Snapshots of which a part is gone. */
  readonly #spoilt = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();
  isLoaded = false;
  state: State = emptyState();
  /** The last fact that the state holds. */
  seq = 0;
  /** The latest time that a fact or an input had. */
  lastAt = 0;
  /** The last fact of the snapshot that it was read from. */
  restoredThrough = 0;

  constructor(log: Log, { whole = false }: StateOptions = {}) {
    this.#log = log;
    this.#isWhole = whole;
  }

  /** Reading and writing take turns, so no reader sees the state halfway between two heads. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  /** What `look` finds in the state at the head of the log. It must not keep or change anything of it. */
  look<T>(look: (state: State) => T, id?: string): Promise<T> {
    return this.alone(() =>
      this.again(async () => {
        await this.ready();
        await this.catchUp(() => undefined);
        if (id !== undefined) await this.recall(id);
        return look(this.state);
      }),
    );
  }

  /** Does it again from another snapshot, or from the first fact on, where a part of the present one is gone. */
  async again<T>(work: () => Promise<T>): Promise<T> {
    for (let times = 0; ; times++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof PartGone) || times === AGAIN_MAX) throw error;
        this.distrust(error);
      }
    }
  }

  /** What was read from this snapshot is read again from elsewhere. */
  distrust({ root }: PartGone): void {
    this.#spoilt.add(root);
    this.isLoaded = false;
  }

  /** Reads everything, unless it was read already. */
  async ready(): Promise<void> {
    if (!this.isLoaded) await this.load();
  }

  /** Reads everything again. */
  async load(): Promise<void> {
    await this.again(async () => {
      const restored = await restore(this.#log, { whole: this.#isWhole, except: this.#spoilt });
      this.state = restored?.state ?? emptyState();
      this.seq = this.restoredThrough = restored?.through ?? 0;
      await this.catchUp(() => undefined);
      for (const { id } of this.#kept) await this.recall(id);
    });
    this.isLoaded = true;
  }

  /** Takes in what was appended since, page by page. */
  async catchUp(taken: (page: readonly Entry[]) => void): Promise<void> {
    for (;;) {
      const page = await this.#log.read({ after: this.seq, limit: PAGE });
      for (const id of this.reopenedBy(page)) await this.recall(id);
      this.take(page);
      taken(page);
      this.forgetEnded();
      if (page.length < PAGE) return;
    }
  }

  /** Applies entries that are in the log already. Entries of casts that are not loaded are read on demand. */
  take(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.seq !== this.seq + 1) throw missingEntry(this.seq + 1);
      apply(this.state, entry);
      this.seq = entry.seq;
      this.lastAt = Math.max(this.lastAt, Date.parse(entry.at));
    }
  }

  /**
   * Casts and runs that were over and forgotten here, and go on in these entries. They hold locks again, so they have to be
   * known before anything is decided.
   */
  reopenedBy(entries: readonly Entry[]): readonly string[] {
    const ids = new Set<string>();
    for (const { fact } of entries) {
      if (fact.kind === 'cast.recast' && !this.has(fact.cast)) ids.add(fact.cast);
      if (fact.kind === 'task.created' && fact.reopens && !runOf(this.state.ledger, fact.run)) ids.add(fact.run);
    }
    return [...ids];
  }

  /** Reads a cast or a run that is not loaded back from its own facts, as far as the rest of the state has come. */
  async recall(id: string): Promise<void> {
    if (this.has(id) || runOf(this.state.ledger, id)) return;
    const entries = await this.#log.read({ after: 0, cast: id });
    // What it used today was counted when it happened.
    const day = { ...this.state.day };
    for (const entry of entries) if (entry.seq <= this.seq) apply(this.state, entry);
    this.state.day = day;
  }

  has(id: string): boolean {
    return Object.hasOwn(this.state.casts, id);
  }

  cast(id: string): Cast | undefined {
    return this.has(id) ? this.state.casts[id] : undefined;
  }

  /** The loaded casts that run. */
  running(): readonly string[] {
    const { casts } = this.state;
    return Object.keys(casts).filter((id) => !isUnread(casts, id) && casts[id]?.status === 'running');
  }

  /** Keeps a cast loaded while it is followed, even if it ended long ago. */
  keep(id: string): () => void {
    const mark = { id };
    this.#kept.add(mark);
    return () => this.#kept.delete(mark);
  }

  forgetEnded(): void {
    const { casts, ledger } = this.state;
    // A cast of a snapshot was open there, and is read when it goes on.
    const ended = Object.keys(casts).filter((id) => !isUnread(casts, id) && isOver(casts[id]?.status ?? 'running'));
    const closed = closedRuns(ledger);
    if (ended.length <= ENDED_KEPT_MAX && closed.length <= ENDED_KEPT_MAX) return;
    const kept = new Set(Array.from(this.#kept, ({ id }) => id));
    for (const id of ended.slice(0, -ENDED_KEPT_MAX)) {
      if (kept.has(id)) continue;
      delete casts[id];
      forgetRun(ledger, id);
    }
    for (const id of closed.slice(0, -ENDED_KEPT_MAX)) forgetRun(ledger, id);
  }
}
