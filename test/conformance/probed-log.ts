// A log that counts what is asked of it and fails when a test wants it to.
import type {
  CastQuery,
  Commit,
  Evidence,
  Lease,
  LeaseChange,
  LeaseValues,
  Log,
  LogHead,
  Query,
  Snapshot,
  SnapshotParts,
} from '../../src/engine/ports.ts';
import type { CastSummary } from '../../src/kernel/cast/summary.ts';
import type { Entry } from '../../src/kernel/fact.ts';

export class ProbedLog implements Log {
  readonly #log: Log;
  readonly #faults: unknown[] = [];
  readonly #before: (() => unknown)[] = [];
  commits = 0;
  readonly reads: Query[] = [];
  /** Thrown by every reading while it is set. */
  readFault: unknown = null;
  snapshotFault: unknown = null;
  hidesSnapshots = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The next commit decides and then fails, as it does on a full disk. */
  failNextCommit(fault: unknown): void {
    this.#faults.push(fault);
  }

  /** Runs right before the commit after `skip` more, as another process would act that was a little faster. */
  beforeCommit(act: () => unknown, skip = 0): void {
    for (let skipped = 0; skipped < skip; skipped++) this.#before.push(() => undefined);
    this.#before.push(act);
  }

  async commit(after: number, { wanted, decide }: Commit): Promise<readonly Entry[]> {
    this.commits++;
    await this.#before.shift()?.();
    const fault = this.#faults.shift();
    return this.#log.commit(after, {
      ...(wanted ? { wanted } : {}),
      decide: (tail, found) => {
        const appends = decide(tail, found);
        if (fault) throw fault;
        return appends;
      },
    });
  }

  async read(query: Query): Promise<readonly Entry[]> {
    this.reads.push(query);
    if (this.readFault) throw this.readFault;
    return this.#log.read(query);
  }

  casts(query: CastQuery): Promise<readonly CastSummary[]> {
    return this.#log.casts(query);
  }

  castCount(): Promise<number> {
    return this.#log.castCount();
  }

  head(): Promise<LogHead> {
    return this.#log.head();
  }

  lines(after: number, limit: number): Promise<readonly { seq: number; line: string }[]> {
    return this.#log.lines(after, limit);
  }

  watch(changed: () => void): () => void {
    return this.#log.watch(changed);
  }

  async snapshot(): Promise<Snapshot | null> {
    return this.hidesSnapshots ? null : this.#log.snapshot();
  }

  snapshotPart(digest: string): string | null {
    return this.#log.snapshotPart(digest);
  }

  async saveSnapshot(snapshot: Snapshot, below?: SnapshotParts): Promise<void> {
    if (this.snapshotFault) throw this.snapshotFault;
    await this.#log.saveSnapshot(snapshot, below);
  }

  lease(name: string, change: (held: string | null) => string | null): Promise<string | null> {
    return this.#log.lease(name, change);
  }

  changeLeases(names: readonly string[], change: (held: LeaseValues) => readonly LeaseChange[]): Promise<void> {
    return this.#log.changeLeases(names, change);
  }

  leases(prefix: string): Promise<readonly Lease[]> {
    return this.#log.leases(prefix);
  }

  firstGap(): Promise<number | null> {
    return this.#log.firstGap();
  }

  evidence(): Promise<Evidence> {
    return this.#log.evidence();
  }

  alone<T>(work: (log: Log) => Promise<T>): Promise<T> {
    return this.#log.alone(work);
  }

  overwriteErased(): Promise<void> {
    return this.#log.overwriteErased();
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}
