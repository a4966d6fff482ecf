// The one door in. Inputs queue here and are decided in batches: one commit brings the state to the head of the log,
// decides every waiting input on it in order, and appends all their facts, so that many casts share one sync to disk.
// Nothing is answered before its facts are on disk.
import { hash } from 'node:crypto';
import { apply } from '../kernel/apply.ts';
import { type Packet, packetOf } from '../kernel/cast/packet.ts';
import type { Dialects } from '../kernel/cast/pen.ts';
import { decide } from '../kernel/decide.ts';
import { type Effect, keyOf } from '../kernel/effect.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Request } from '../kernel/input.ts';
import { pending } from '../kernel/pending.ts';
import { type Cast, type CastStatus, emptyState, isOver, type State } from '../kernel/state.ts';
import type { Verdict } from '../kernel/verdict.ts';
import type { Append, Log } from './ports.ts';

const BATCH_MAX = 256;
const PAGE = 5_000;
/** Ended casts stay loaded for a while, for whoever asks how they ended. */
const ENDED_KEPT_MAX = 100;
/** A snapshot is due after so many facts, and later the larger the state is, so that its cost per fact stays flat. */
const SNAPSHOT_EVERY = 5_000;
const SNAPSHOT_BYTES_PER_FACT = 50;

export type Answer = { readonly verdict: Verdict; readonly entries: readonly Entry[] };
export type Owed = { readonly key: string; readonly effect: Effect; readonly packet: Packet | null };

type Waiting = {
  readonly request: Request;
  readonly by: string;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

export type DeskOptions = { readonly now?: () => number; readonly snapshotEvery?: number };

export class Desk {
  readonly #log: Log;
  readonly #dialects: Dialects;
  readonly #now: () => number;
  readonly #snapshotEvery: number;
  readonly #listeners = new Set<(entries: readonly Entry[]) => void>();
  #state: State = emptyState();
  #seq = 0;
  #lastAt = 0;
  #snapshotAt = 0;
  #snapshotBytes = 0;
  #waiting: Waiting[] = [];
  #busy: Promise<void> | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #stopWatching: (() => void) | null = null;

  private constructor(log: Log, dialects: Dialects, options: DeskOptions) {
    this.#log = log;
    this.#dialects = dialects;
    this.#now = options.now ?? Date.now;
    this.#snapshotEvery = options.snapshotEvery ?? SNAPSHOT_EVERY;
  }

  static async open(log: Log, dialects: Dialects, options: DeskOptions = {}): Promise<Desk> {
    const desk = new Desk(log, dialects, options);
    await desk.#load();
    return desk;
  }

  get log(): Log {
    return this.#log;
  }

  /** Decides an input. The answer comes when its facts are on disk. */
  submit(request: Request, by: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, by, resolve, reject });
      this.#busy ??= this.#work();
    });
  }

  /** The cast as it stands at the head of the log, or null. */
  async cast(id: string): Promise<Cast | null> {
    await this.sync();
    return this.#alone(async () => {
      if (!this.#state.casts[id]) await this.#loadCast(id);
      return this.#state.casts[id] ?? null;
    });
  }

  /** The status of a loaded cast. */
  statusOf(id: string): CastStatus | null {
    return this.#state.casts[id]?.status ?? null;
  }

  /** What is owed to a cast now. Packets are made for the effects that `isNew` names only. */
  owed(id: string, isNew: (key: string) => boolean): readonly Owed[] {
    const cast = this.#state.casts[id];
    if (!cast) return [];
    return pending(cast).map((effect) => {
      const key = keyOf(effect);
      const turn = effect.kind === 'dispatch' && isNew(key) ? cast.turns[effect.turn] : undefined;
      return { key, effect, packet: turn ? packetOf(cast, turn) : null };
    });
  }

  /** Takes in what other processes appended. */
  async sync(): Promise<void> {
    const news = await this.#alone(async () => {
      const entries = await this.#log.read({ after: this.#seq, limit: PAGE });
      this.#take(entries);
      return entries;
    });
    if (news.length > 0) this.#tell(news);
    if (news.length === PAGE) await this.sync();
  }

  /** Tells of every entry taken in, whoever wrote it. Starts watching other processes. */
  listen(listener: (entries: readonly Entry[]) => void): () => void {
    this.#listeners.add(listener);
    this.#stopWatching ??= this.#log.watch(() => void this.sync().catch(() => undefined));
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#stopWatching?.();
    await this.#busy;
    await this.#turn;
    await this.#log.close();
  }

  async #work(): Promise<void> {
    // A tick's wait lets inputs that arrive together share a commit.
    await null;
    while (this.#waiting.length > 0) await this.#alone(() => this.#settle(this.#waiting.splice(0, BATCH_MAX)));
    this.#busy = null;
  }

  async #settle(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#loadCastsOf(batch);
      await this.#commit(batch);
    } catch (error) {
      // The state may hold facts that never reached the disk: it is read anew.
      this.#state = emptyState();
      this.#seq = 0;
      await this.#load().catch(() => undefined);
      // One input that cannot be decided must not take its neighbours down with it.
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const waiting of batch) await this.#settle([waiting]);
    }
  }

  /** Reading and writing take turns: the state is never halfway between two heads while somebody looks at it. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    const verdicts: Verdict[] = [];
    const counts: number[] = [];
    let tail: readonly Entry[] = [];
    const entries = await this.#log.commit(this.#seq, (unseen) => {
      tail = unseen;
      this.#take(unseen);
      return batch.flatMap(({ request, by }) => {
        const at = Math.max(this.#now(), this.#lastAt);
        this.#lastAt = at;
        const { verdict, facts } = decide(this.#dialects, this.#state, { ...request, at, by });
        verdicts.push(verdict);
        counts.push(facts.length);
        return facts.map((fact): Append => ({ fact, by, at }));
      });
    });
    this.#seq += entries.length;
    let from = 0;
    for (const [index, { resolve }] of batch.entries()) {
      const to = from + (counts[index] ?? 0);
      resolve({ verdict: verdicts[index] as Verdict, entries: entries.slice(from, to) });
      from = to;
    }
    if (tail.length + entries.length > 0) this.#tell([...tail, ...entries]);
    this.#forgetEnded();
    await this.#snapshotIfDue();
  }

  /** Applies entries that are in the log already. Those of casts that are not loaded are read when somebody asks. */
  #take(entries: readonly Entry[]): void {
    for (const entry of entries) {
      apply(this.#state, entry);
      this.#seq = entry.seq;
      this.#lastAt = Math.max(this.#lastAt, Date.parse(entry.at));
    }
  }

  #tell(entries: readonly Entry[]): void {
    for (const listener of this.#listeners) listener(entries);
  }

  async #load(): Promise<void> {
    const snapshot = await this.#trustedSnapshot();
    if (snapshot) {
      this.#state = JSON.parse(snapshot.body) as State;
      this.#seq = snapshot.through;
      this.#snapshotAt = snapshot.through;
      this.#snapshotBytes = snapshot.body.length;
    }
    for (;;) {
      const page = await this.#log.read({ after: this.#seq, limit: PAGE });
      this.#take(page);
      this.#forgetEnded();
      if (page.length < PAGE) return;
    }
  }

  /** A snapshot counts only if the log itself says what it must look like. */
  async #trustedSnapshot() {
    const snapshot = await this.#log.snapshot();
    if (!snapshot) return null;
    const [entry] = await this.#log.read({ after: snapshot.through, limit: 1 });
    const said = entry?.fact.kind === 'snapshot.taken' ? entry.fact.digest : null;
    return said === snapshot.digest && hash('sha256', snapshot.body, 'hex') === said ? snapshot : null;
  }

  async #snapshotIfDue(): Promise<void> {
    const due = Math.max(this.#snapshotEvery, this.#snapshotBytes / SNAPSHOT_BYTES_PER_FACT);
    if (this.#seq - this.#snapshotAt < due) return;
    let snapshot = { through: 0, digest: '', body: '' };
    const entries = await this.#log.commit(this.#seq, (unseen) => {
      this.#take(unseen);
      const open = Object.entries(this.#state.casts).filter(([, cast]) => !isOver(cast.status));
      const body = JSON.stringify({ ...this.#state, casts: Object.fromEntries(open) });
      snapshot = { through: this.#seq, digest: hash('sha256', body, 'hex'), body };
      const fact = { kind: 'snapshot.taken', through: snapshot.through, digest: snapshot.digest } as const;
      return [{ fact, by: 'engine', at: Math.max(this.#now(), this.#lastAt) }];
    });
    this.#take(entries);
    this.#snapshotAt = snapshot.through;
    this.#snapshotBytes = snapshot.body.length;
    await this.#log.saveSnapshot(snapshot);
  }

  async #loadCastsOf(batch: readonly Waiting[]): Promise<void> {
    const named = new Set(batch.map(({ request }) => request.cast));
    for (const id of named) if (!this.#state.casts[id]) await this.#loadCast(id);
  }

  /** Reads one cast back from its own facts, as far as the rest of the state has come. */
  async #loadCast(id: string): Promise<void> {
    const entries = await this.#log.read({ after: 0, cast: id });
    for (const entry of entries) if (entry.seq <= this.#seq) apply(this.#state, entry);
  }

  #forgetEnded(): void {
    const ended = Object.values(this.#state.casts).filter(({ status }) => isOver(status));
    for (const { id } of ended.slice(0, Math.max(0, ended.length - ENDED_KEPT_MAX))) delete this.#state.casts[id];
  }
}
