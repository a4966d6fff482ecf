// The state in memory, as the log tells it up to a fact: read from the newest snapshot and the facts since then, brought
// forward with what is appended. What is over is forgotten after a while and read back from its own facts when it is asked for.
import { apply } from '../kernel/apply.ts';
import type { Entry } from '../kernel/fact.ts';
import { closedRuns, forgetRun } from '../kernel/ledger/forget.ts';
import { runOf } from '../kernel/ledger/state.ts';
import { type Cast, emptyState, isOver, type State } from '../kernel/state.ts';
import type { Log } from './ports.ts';
import { restore } from './snapshot.ts';
import { missingEntry } from './storage-error.ts';

const PAGE = 5_000;
/** Ended casts stay loaded for a while, for whoever asks how they ended. */
const ENDED_KEPT_MAX = 100;

export class StateAtHead {
  readonly #log: Log;
  /** One mark for each who follows a cast. */
  readonly #kept = new Set<{ readonly id: string }>();
  state: State = emptyState();
  /** The last fact that the state holds. */
  seq = 0;
  /** The latest time that a fact or an input had. */
  lastAt = 0;
  /** The snapshot it was read from: its last fact, and its length. */
  restored = { through: 0, bytes: 0 };

  constructor(log: Log) {
    this.#log = log;
  }

  /** Reads everything anew. */
  async load(): Promise<void> {
    this.state = emptyState();
    this.seq = 0;
    const restored = await restore(this.#log);
    if (restored) {
      this.state = restored.state;
      this.seq = restored.through;
      this.restored = { through: restored.through, bytes: restored.bytes };
    }
    await this.catchUp(() => undefined);
    for (const { id } of this.#kept) await this.recall(id);
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

  /** Applies entries that are in the log already. Those of casts that are not loaded are read when somebody asks. */
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
      if (fact.kind === 'cast.recast' && !this.cast(fact.cast)) ids.add(fact.cast);
      if (fact.kind === 'task.created' && fact.reopens && !runOf(this.state.ledger, fact.run)) ids.add(fact.run);
    }
    return [...ids];
  }

  /** Reads a cast or a run that is not loaded back from its own facts, as far as the rest of the state has come. */
  async recall(id: string): Promise<void> {
    if (this.cast(id) || runOf(this.state.ledger, id)) return;
    const entries = await this.#log.read({ after: 0, cast: id });
    // What it used today was counted when it happened.
    const day = { ...this.state.day };
    for (const entry of entries) if (entry.seq <= this.seq) apply(this.state, entry);
    this.state.day = day;
  }

  cast(id: string): Cast | undefined {
    return Object.hasOwn(this.state.casts, id) ? this.state.casts[id] : undefined;
  }

  /** Keeps a cast loaded for whoever follows it, also when it has ended long ago. */
  keep(id: string): () => void {
    const mark = { id };
    this.#kept.add(mark);
    return () => this.#kept.delete(mark);
  }

  forgetEnded(): void {
    const ended = Object.values(this.state.casts).filter(({ status }) => isOver(status));
    const closed = closedRuns(this.state.ledger);
    if (ended.length <= ENDED_KEPT_MAX && closed.length <= ENDED_KEPT_MAX) return;
    const kept = new Set(Array.from(this.#kept, ({ id }) => id));
    for (const { id } of ended.slice(0, -ENDED_KEPT_MAX)) {
      if (kept.has(id)) continue;
      delete this.state.casts[id];
      forgetRun(this.state.ledger, id);
    }
    for (const id of closed.slice(0, -ENDED_KEPT_MAX)) forgetRun(this.state.ledger, id);
  }
}
