// The embedded log: one SQLite file per workspace, shared by any number of processes. A commit takes the write lock first, reads what
// others appended, decides and appends, so that two processes never decide on the same head. It returns when everything is on disk
// (WAL, synchronous=FULL). An append writes only to the end of each table, so it costs the same in a long log as in a short one.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type Append,
  type CastQuery,
  type Commit,
  type Evidence,
  type Lease,
  type LeaseChange,
  type LeaseValues,
  type Log,
  type LogHead,
  type Query,
  type Snapshot,
  type SnapshotParts,
  TEXTS_PER_FACT,
} from '../../engine/ports.ts';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import { type Entry, FACT_VERSION } from '../../kernel/fact.ts';
import { fetchLeases, fetchRows, filedUnder, fits, selectCasts } from '../filed-under.ts';
import {
  awayOf,
  BEGINNING_CHARS,
  type Blob,
  chain,
  entryFromLine,
  escapedKey,
  type LogLine,
  leafHash,
  NO_PREV,
  onceKey,
  usedTwice,
} from '../line.ts';
import { CastIndex, CastsTable, IS_LIFECYCLE, LIFECYCLE, type Row } from './cast-index.ts';
import { asStorageError, damagedEntry, isBusy, logGone, newerLog } from './fault.ts';
import { blocked, blockedBy, lockHolder, onFileEvent } from './file-system.ts';
import { ManyRows } from './many-rows.ts';
import { openLog } from './open.ts';
import { SnapshotTable } from './snapshot-table.ts';

const POLL_MS = 1000;
const LOOK_AGAIN_MS = 5;
/** How long a writer waits for the others. */
const BUSY_MS_MAX = 30_000;
/** After this time a waiting writer looks up the holder of the lock. */
const BUSY_MS = 1_000;

type SqliteOptions = {
  /**
   * Called once with the reason if a stopped process holds the lock. With it a commit keeps waiting, as a driver should.
   * Without it the commit fails at once.
   */
  readonly onBlocked?: (why: string) => void;
};

export class SqliteLog implements Log {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #onBlocked: SqliteOptions['onBlocked'];
  /** Device and inode of the opened file. Null for a log in memory. */
  readonly #identity: string | null;
  /** The same of its write-ahead file, once something was written. */
  #wal: string | null = null;
  #isGone = false;
  readonly #select: Record<
    'tail' | 'beginning' | 'tailLimited' | 'ofTask' | 'ofKind' | 'lifecycle' | 'texts' | 'once' | 'last' | 'version',
    StatementSync
  >;
  /** Prepared on first use: an old read-only file may have no leases. */
  #selectLease: StatementSync | null = null;
  readonly #transact: Record<'begin' | 'commit', StatementSync>;
  readonly #insert: { readonly facts: ManyRows; readonly texts: ManyRows; readonly once: StatementSync };
  readonly #factsOfCasts: CastIndex;
  readonly #casts: CastsTable;
  readonly #snapshots: SnapshotTable;
  /** Whether the file has an index of casts. A read-only file may have none. */
  #hasCasts: boolean | null = null;
  /** The head as this connection last saw it, so that no line is hashed twice. */
  #head: LogHead & { readonly at: string } = { seq: 0, hash: NO_PREV, at: '' };

  /** The one place where the product opens a log. */
  static open(file: string, options?: SqliteOptions): SqliteLog {
    return new SqliteLog(file, options);
  }

  constructor(file: string, { onBlocked }: SqliteOptions = {}) {
    this.#file = file;
    this.#onBlocked = onBlocked;
    this.#db = openLog(file);
    this.#identity = identityOf(file);
    const db = this.#db;
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    this.#select = {
      tail: db.prepare('SELECT seq, line FROM facts WHERE seq > ? ORDER BY seq'),
      tailLimited: db.prepare('SELECT seq, line FROM facts WHERE seq > ? ORDER BY seq LIMIT ?'),
      ofTask: db.prepare('SELECT seq, line FROM facts WHERE task_id = ? AND seq > ? ORDER BY seq LIMIT ?'),
      ofKind: db.prepare(
        'SELECT seq, line FROM facts WHERE substr(kind, 1, length(?1)) = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3',
      ),
      lifecycle: db.prepare(`SELECT seq, line FROM facts WHERE ${IS_LIFECYCLE} AND seq > ? ORDER BY seq LIMIT ?`),
      texts: db.prepare('SELECT digest, body FROM texts WHERE id BETWEEN ? AND ?'),
      beginning: db.prepare(
        'SELECT substr(body, 1, ?) AS beginning FROM texts WHERE id BETWEEN ? AND ? AND digest = ?',
      ),
      once: db.prepare('SELECT seq FROM once WHERE key = ?'),
      last: db.prepare('SELECT seq, line FROM facts ORDER BY seq DESC LIMIT 1'),
      version: db.prepare('PRAGMA data_version'),
    };
    this.#transact = { begin: db.prepare('BEGIN IMMEDIATE'), commit: db.prepare('COMMIT') };
    this.#insert = {
      facts: new ManyRows(db, 'facts', ['seq', 'kind', 'cast_id', 'task_id', 'line']),
      texts: new ManyRows(db, 'texts', ['id', 'digest', 'body']),
      once: db.prepare('INSERT INTO once (key, seq) VALUES (?, ?)'),
    };
    this.#factsOfCasts = new CastIndex(db);
    this.#casts = new CastsTable(db);
    this.#snapshots = new SnapshotTable(db);
  }

  async commit(after: number, { wanted, decide }: Commit): Promise<readonly Entry[]> {
    return this.#transaction(() => {
      const rows = this.#rows(this.#select.tail.all(after));
      this.#refreshHead(rows.at(-1));
      const tail = rows.map(({ entry }) => entry);
      const found = fetchRows(wanted?.(tail) ?? { once: [], leases: [] }, {
        once: (key) => this.#usedBy(key),
        lease: (name) => this.#leaseOf(name),
      });
      const appends = decide(tail, found);
      const lines = this.#append(appends);
      const last = lines.at(-1);
      if (last) {
        this.#factsOfCasts.keepUp(this.#head.seq, last.entry.seq);
        this.#head = { seq: last.entry.seq, hash: last.leaf, at: last.entry.at };
      }
      return lines.map(({ entry }) => entry);
    });
  }

  async read(query: Query): Promise<readonly Entry[]> {
    return this.#guarded(() => {
      const { cast, task, kindPrefix, limit } = query;
      const isMixed = [cast, task, kindPrefix].filter((part) => part !== undefined).length > 1;
      // One condition uses its index. The others filter the rows.
      const rows = this.#found(query, isMixed ? -1 : (limit ?? -1));
      const entries = this.#rows(rows, query).map(({ entry }) => entry);
      return isMixed ? entries.filter(({ fact }) => fits(query, fact)).slice(0, limit) : entries;
    });
  }

  async casts(query: CastQuery): Promise<readonly CastSummary[]> {
    if (!this.#isIndexed()) return selectCasts(await this.read({ after: 0, kindPrefix: LIFECYCLE }), query);
    return this.#guarded(() => this.#casts.read(query));
  }

  async castCount(): Promise<number> {
    if (!this.#isIndexed()) return selectCasts(await this.read({ after: 0, kindPrefix: LIFECYCLE }), {}).length;
    return this.#guarded(() => this.#casts.count());
  }

  async head(): Promise<LogHead> {
    return this.#guarded(() => {
      const last = this.#select.last.get() as Row | undefined;
      return last ? { seq: last.seq, hash: leafHash(last.line) } : { seq: 0, hash: NO_PREV };
    });
  }

  async lines(after: number, limit: number): Promise<readonly Row[]> {
    return this.#guarded(() => this.#select.tailLimited.all(after, limit) as Row[]);
  }

  /** Reacts to a file event at once and again shortly after it. A slow poll covers systems without events. */
  watch(changed: () => void): () => void {
    let version = this.#version();
    let stopped = false;
    const look = () => {
      const now = this.#version();
      if (stopped || now === version) return;
      version = now;
      changed();
    };
    const poll = setInterval(look, POLL_MS);
    poll.unref();
    let again: NodeJS.Timeout | undefined;
    const unwatch = onFileEvent(dirname(this.#file), () => {
      look();
      clearTimeout(again);
      again = setTimeout(look, LOOK_AGAIN_MS);
      again.unref();
    });
    return () => {
      stopped = true;
      clearInterval(poll);
      clearTimeout(again);
      unwatch();
    };
  }

  async snapshot(): Promise<Snapshot | null> {
    return this.#guarded(() => this.#snapshots.newest());
  }

  snapshotPart(digest: string): string | null {
    return this.#guarded(() => this.#snapshots.part(digest));
  }

  async saveSnapshot(snapshot: Snapshot, below?: SnapshotParts): Promise<void> {
    this.#transaction(() => this.#snapshots.save(snapshot, below));
  }

  async lease(name: string, change: (held: string | null) => string | null): Promise<string | null> {
    return this.#transaction(() => {
      const held = this.#leaseOf(name);
      const value = change(held);
      if (value !== held) this.#setLease(name, value);
      return value;
    });
  }

  async changeLeases(names: readonly string[], change: (held: LeaseValues) => readonly LeaseChange[]): Promise<void> {
    this.#transaction(() => {
      const values = fetchLeases(names, (name) => this.#leaseOf(name));
      for (const { name, value } of change(values)) this.#setLease(name, value);
    });
  }

  async leases(prefix: string): Promise<readonly Lease[]> {
    return this.#guarded(() => {
      const below = this.#db.prepare('SELECT name, value FROM leases WHERE name >= ? AND name < ? ORDER BY name');
      // After every name that begins so comes the prefix with the last of all characters.
      return below.all(prefix, `${prefix}\u{10ffff}`) as Lease[];
    });
  }

  /**
   * The number of the first fact that is missing since the newest snapshot, or null. Deciding reads these facts one by one;
   * counting them is much less work.
   */
  async firstGap(): Promise<number | null> {
    return this.#guarded(() => {
      const newest = this.#db.prepare('SELECT max(through) AS through FROM snapshots').get();
      const through = Number(newest?.through ?? 0);
      const counted = this.#db
        .prepare('SELECT count(*) AS count, max(seq) AS head FROM facts WHERE seq > ?')
        .get(through);
      if (Number(counted?.count) === Number(counted?.head ?? through) - through) return null;
      let expected = through + 1;
      for (const { seq } of this.#db.prepare('SELECT seq FROM facts WHERE seq > ? ORDER BY seq').iterate(through)) {
        if (seq !== expected) break;
        expected++;
      }
      return expected;
    });
  }

  async evidence(): Promise<Evidence> {
    const { SqliteEvidence } = await import('./evidence.ts');
    return new SqliteEvidence(this.#file);
  }

  /** Uses a connection of its own, which holds the write lock meanwhile. */
  async alone<T>(work: (log: Log) => Promise<T>): Promise<T> {
    const own = SqliteLog.open(this.#file, this.#onBlocked ? { onBlocked: this.#onBlocked } : {});
    try {
      own.#guarded(() => own.#begin());
      try {
        return await work(own);
      } finally {
        own.#db.exec('ROLLBACK');
      }
    } finally {
      await own.close();
    }
  }

  /** Writes the whole file again without its free space, and empties the journal. */
  async overwriteErased(): Promise<void> {
    this.#guarded(() => this.#db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE);'));
  }

  async close(): Promise<void> {
    if (this.#db.isOpen) this.#db.close();
  }

  #found({ after, cast, task, kindPrefix }: Query, max: number): readonly unknown[] {
    if (task !== undefined) return this.#select.ofTask.all(task, after, max);
    if (cast !== undefined) return this.#factsOfCasts.read(cast, after, max);
    if (kindPrefix === undefined) return this.#select.tailLimited.all(after, max);
    if (kindPrefix === LIFECYCLE) return this.#select.lifecycle.all(after, max);
    return this.#select.ofKind.all(kindPrefix, after, max);
  }

  #append(appends: readonly Append[]): LogLine[] {
    let { seq, hash: prev, at } = this.#head;
    const lines = appends.map((append) => {
      const line = chain(append, ++seq, prev, at);
      prev = line.leaf;
      at = line.entry.at;
      const { kind, cast, task } = filedUnder(append.fact);
      this.#insert.facts.add(seq, kind, cast, task, line.line);
      const first = seq * TEXTS_PER_FACT;
      for (let index = 0; index < line.blobs.length; index++) {
        const { digest, text } = line.blobs[index] as Blob;
        this.#insert.texts.add(first + index, digest, text);
      }
      this.#casts.take(seq, kind, cast, line.line);
      for (const key of line.entry.once ?? []) this.#useUp(key, seq);
      for (const { name, value } of append.leases ?? []) this.#setLease(name, value);
      if (append.fact.kind === 'blob.erased') {
        this.#insert.texts.flush();
        this.#erase(append.fact);
      }
      return line;
    });
    this.#insert.facts.flush();
    this.#insert.texts.flush();
    return lines;
  }

  /** Erases what the fact names: the text is overwritten, and a snapshot with a copy of it is deleted. */
  #erase({ digest, from }: { readonly digest: string; readonly from: readonly number[] }): void {
    this.#db.exec('PRAGMA secure_delete = ON');
    for (const seq of from) {
      const first = seq * TEXTS_PER_FACT;
      const text = this.#textsOf(seq).get(digest);
      if (text === undefined) continue;
      this.#snapshots.dropIfHolding(escapedKey(text));
      this.#db
        .prepare('DELETE FROM texts WHERE id BETWEEN ? AND ? AND digest = ?')
        .run(first, first + TEXTS_PER_FACT - 1, digest);
    }
    this.#db.exec('PRAGMA secure_delete = OFF');
  }

  #isIndexed(): boolean {
    this.#hasCasts ??= this.#guarded(() => this.#casts.isCurrent());
    return this.#hasCasts;
  }

  #leaseOf(name: string): string | null {
    this.#selectLease ??= this.#db.prepare('SELECT value FROM leases WHERE name = ?');
    const row = this.#selectLease.get(name);
    return row ? String(row.value) : null;
  }

  #setLease(name: string, value: string | null): void {
    if (value === null) this.#db.prepare('DELETE FROM leases WHERE name = ?').run(name);
    else this.#db.prepare('INSERT OR REPLACE INTO leases (name, value) VALUES (?, ?)').run(name, value);
  }

  #usedBy(key: string): number | null {
    const row = this.#select.once.get(onceKey(key)) as { seq: number } | undefined;
    return row?.seq ?? null;
  }

  #useUp(key: string, seq: number): void {
    const before = this.#usedBy(key);
    if (before !== null) throw usedTwice(key, before);
    this.#insert.once.run(key, seq);
  }

  /** Updates the known head from the last row of the tail, or of the table if the tail is empty. */
  #refreshHead(last: { entry: Entry; line: string } | undefined): void {
    if (last) {
      if (last.entry.seq !== this.#head.seq)
        this.#head = { seq: last.entry.seq, hash: leafHash(last.line), at: last.entry.at };
      return;
    }
    const row = this.#select.last.get() as Row | undefined;
    if (row && row.seq !== this.#head.seq) {
      this.#head = { seq: row.seq, hash: leafHash(row.line), at: String(JSON.parse(row.line).at) };
    }
  }

  #rows(rows: readonly unknown[], query: Query | null = null): { entry: Entry; line: string }[] {
    return (rows as Row[]).map(({ seq, line }) => {
      const entry = this.#entry(seq, line, query);
      if (entry.v > FACT_VERSION) throw newerLog(this.#file);
      return { entry, line };
    });
  }

  #entry(seq: number, line: string, query: Query | null): Entry {
    let texts: Map<string, string> | null = null;
    const textOf = (digest: string) => {
      texts ??= this.#textsOf(seq);
      return texts.get(digest) ?? null;
    };
    try {
      return entryFromLine(line, textOf, query ? awayOf(query, (digest) => this.#beginningOf(seq, digest)) : undefined);
    } catch (error) {
      throw error instanceof SyntaxError ? damagedEntry(this.#file, seq, error) : error;
    }
  }

  #beginningOf(seq: number, digest: string): string | null {
    const first = seq * TEXTS_PER_FACT;
    const row = this.#select.beginning.get(BEGINNING_CHARS, first, first + TEXTS_PER_FACT - 1, digest);
    return row ? String(row.beginning) : null;
  }

  #textsOf(seq: number): Map<string, string> {
    const first = seq * TEXTS_PER_FACT;
    const rows = this.#select.texts.all(first, first + TEXTS_PER_FACT - 1) as { digest: string; body: string }[];
    return new Map(rows.map(({ digest, body }) => [digest, body]));
  }

  /** A number that another connection's commit changes. -1 if it cannot be read: the next read reports why. */
  #version(): number {
    try {
      return this.#db.isOpen ? Number(this.#select.version.get()?.data_version) : 0;
    } catch {
      return -1;
    }
  }

  #transaction<T>(work: () => T): T {
    return this.#guarded(() => {
      this.#refuseGone();
      this.#begin();
      try {
        const result = work();
        this.#refuseGone();
        this.#transact.commit.run();
        this.#refuseGone();
        return result;
      } catch (error) {
        if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
        // The rollback removed the appended rows, so the head must be read again.
        this.#insert.facts.drop();
        this.#insert.texts.drop();
        this.#head = { seq: 0, hash: NO_PREV, at: '' };
        throw asStorageError(error, this.#file);
      }
    });
  }

  /** Data in a deleted file is lost when the last process closes it. */
  #refuseGone(): void {
    if (this.#identity === null) return;
    const wal = identityOf(`${this.#file}-wal`);
    this.#wal ??= wal;
    if (identityOf(this.#file) === this.#identity && wal === this.#wal) return;
    this.#isGone = true;
    throw logGone(this.#file);
  }

  /** Takes the write lock. A stopped process may keep it forever, so the error names it. */
  #begin(): void {
    let isReported = false;
    for (const deadline = performance.now() + BUSY_MS_MAX; ; ) {
      try {
        this.#transact.begin.run();
        return;
      } catch (error) {
        if (!isBusy(error)) throw error;
        const holder = lockHolder(this.#file);
        const isStopped = holder?.isStopped === true;
        if (performance.now() > deadline || (isStopped && !this.#onBlocked)) throw blocked(this.#file, holder, error);
        if (isStopped && !isReported) this.#onBlocked?.(blockedBy(this.#file, holder));
        isReported ||= isStopped;
      }
    }
  }

  /** A read waits only while another process recovers the file after a crash. */
  #guarded<T>(work: () => T): T {
    if (this.#isGone) throw logGone(this.#file);
    for (const deadline = performance.now() + BUSY_MS_MAX; ; ) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw asStorageError(error, this.#file);
      }
    }
  }
}

function identityOf(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : null;
}
