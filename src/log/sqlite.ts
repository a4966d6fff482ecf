// The embedded log: one SQLite file per workspace, shared by any number of processes. A commit takes the write lock first,
// reads what others appended, decides and appends, so that two processes never decide on the same head; it is on disk
// (WAL, synchronous=FULL) before anybody is answered. Texts lie beside their fact, in the order of the log: an append
// touches the end of each table only, so that it costs the same in a long log as in a short one.
import { existsSync, mkdirSync, watch as watchFile } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Append, Head, Log, Query, Snapshot } from '../engine/ports.ts';
import { type Entry, FACT_VERSION } from '../kernel/fact.ts';
import { chain, entryOf, type Line, leafHash, NO_PREV } from './line.ts';
import { asStorageError, damagedEntry, isBusy, newerLog } from './sqlite-fault.ts';

/** Room for this many texts per fact in the key of a text. */
const TEXTS_PER_FACT = 2 ** 20;
const POLL_MS = 1000;
const BUSY_TIMEOUT_MS = 30_000;
const LOOK_AGAIN_MS = 5;
const OPEN_AGAIN_MS = 10;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS facts (
    seq INTEGER PRIMARY KEY,
    line TEXT NOT NULL,
    cast_id TEXT GENERATED ALWAYS AS (json_extract(line, '$.cast')) VIRTUAL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS facts_by_cast ON facts (cast_id, seq) WHERE cast_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS facts_lifecycle ON facts (seq) WHERE json_extract(line, '$.kind') LIKE 'cast.%';
  CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, digest TEXT NOT NULL, body TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS snapshots (through INTEGER PRIMARY KEY, digest TEXT NOT NULL, body TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`;

type Row = { seq: number; line: string };

export class SqliteLog implements Log {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #select: Record<
    'tail' | 'tailLimited' | 'ofCast' | 'lifecycle' | 'texts' | 'last' | 'version',
    StatementSync
  >;
  readonly #transact: Record<'begin' | 'commit', StatementSync>;
  readonly #insert: Record<'fact' | 'text', StatementSync>;
  /** The head as this connection last saw it, so that a commit with nothing new to read hashes nothing twice. */
  #head: Head & { readonly at: string } = { seq: 0, hash: NO_PREV, at: '' };

  constructor(file: string) {
    this.#file = file;
    this.#db = openDatabase(file);
    const db = this.#db;
    this.#select = {
      tail: db.prepare('SELECT seq, line FROM facts WHERE seq > ? ORDER BY seq'),
      tailLimited: db.prepare('SELECT seq, line FROM facts WHERE seq > ? ORDER BY seq LIMIT ?'),
      ofCast: db.prepare('SELECT seq, line FROM facts WHERE cast_id = ? AND seq > ? ORDER BY seq LIMIT ?'),
      lifecycle: db.prepare(
        `SELECT seq, line FROM facts WHERE json_extract(line, '$.kind') LIKE 'cast.%' AND seq > ? ORDER BY seq`,
      ),
      texts: db.prepare('SELECT digest, body FROM texts WHERE id BETWEEN ? AND ?'),
      last: db.prepare('SELECT seq, line FROM facts ORDER BY seq DESC LIMIT 1'),
      version: db.prepare('PRAGMA data_version'),
    };
    this.#transact = { begin: db.prepare('BEGIN IMMEDIATE'), commit: db.prepare('COMMIT') };
    this.#insert = {
      fact: db.prepare('INSERT INTO facts (seq, line) VALUES (?, ?)'),
      text: db.prepare('INSERT INTO texts (id, digest, body) VALUES (?, ?, ?)'),
    };
  }

  async commit(after: number, decide: (tail: readonly Entry[]) => readonly Append[]): Promise<readonly Entry[]> {
    return this.#transaction(() => {
      const tail = this.#rows(this.#select.tail.all(after));
      this.#refreshHead(tail.at(-1));
      const lines = this.#append(decide(tail.map(({ entry }) => entry)));
      const last = lines.at(-1);
      if (last) this.#head = { seq: last.entry.seq, hash: last.leaf, at: last.entry.at };
      return lines.map(({ entry }) => entry);
    });
  }

  async read({ after, limit, cast }: Query): Promise<readonly Entry[]> {
    const max = limit ?? -1;
    return this.#guarded(() => {
      const rows =
        cast === undefined ? this.#select.tailLimited.all(after, max) : this.#select.ofCast.all(cast, after, max);
      return this.#rows(rows).map(({ entry }) => entry);
    });
  }

  async lifecycle(after: number): Promise<readonly Entry[]> {
    return this.#guarded(() => this.#rows(this.#select.lifecycle.all(after)).map(({ entry }) => entry));
  }

  async head(): Promise<Head> {
    return this.#guarded(() => {
      const last = this.#select.last.get() as Row | undefined;
      return last ? { seq: last.seq, hash: leafHash(last.line) } : { seq: 0, hash: NO_PREV };
    });
  }

  async lines(after: number, limit: number): Promise<readonly Row[]> {
    return this.#guarded(() => this.#select.tailLimited.all(after, limit) as Row[]);
  }

  /** A file event is followed at once and once more shortly after it; where events do not arrive, a slow poll sees it. */
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
    return this.#guarded(() => {
      const row = this.#db.prepare('SELECT through, digest, body FROM snapshots ORDER BY through DESC LIMIT 1').get();
      return (row as Snapshot | undefined) ?? null;
    });
  }

  async saveSnapshot({ through, digest, body }: Snapshot): Promise<void> {
    this.#guarded(() => {
      this.#db
        .prepare('INSERT OR REPLACE INTO snapshots (through, digest, body) VALUES (?, ?, ?)')
        .run(through, digest, body);
      this.#db.prepare('DELETE FROM snapshots WHERE through < ?').run(through);
    });
  }

  async lease(name: string, change: (held: string | null) => string | null): Promise<string | null> {
    return this.#transaction(() => {
      const row = this.#db.prepare('SELECT value FROM leases WHERE name = ?').get(name);
      const held = row ? String(row.value) : null;
      const value = change(held);
      if (value === held) return value;
      if (value === null) this.#db.prepare('DELETE FROM leases WHERE name = ?').run(name);
      else this.#db.prepare('INSERT OR REPLACE INTO leases (name, value) VALUES (?, ?)').run(name, value);
      return value;
    });
  }

  async close(): Promise<void> {
    if (this.#db.isOpen) this.#db.close();
  }

  #append(appends: readonly Append[]): Line[] {
    let { seq, hash: prev, at } = this.#head;
    return appends.map((append) => {
      const line = chain(append, ++seq, prev, at);
      prev = line.leaf;
      at = line.entry.at;
      this.#insert.fact.run(seq, line.line);
      const first = seq * TEXTS_PER_FACT;
      for (const [index, { digest, text }] of line.blobs.entries()) this.#insert.text.run(first + index, digest, text);
      return line;
    });
  }

  /** Brings the known head up to the last row of the tail, or of the table where the tail says nothing of it. */
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

  #rows(rows: readonly unknown[]): { entry: Entry; line: string }[] {
    return (rows as Row[]).map(({ seq, line }) => {
      const entry = this.#entry(seq, line);
      if (entry.v > FACT_VERSION) throw newerLog(this.#file);
      return { entry, line };
    });
  }

  #entry(seq: number, line: string): Entry {
    let texts: Map<string, string> | null = null;
    try {
      return entryOf(line, (digest) => {
        texts ??= this.#textsOf(seq);
        return texts.get(digest) ?? null;
      });
    } catch (error) {
      throw error instanceof SyntaxError ? damagedEntry(this.#file, seq, error) : error;
    }
  }

  #textsOf(seq: number): Map<string, string> {
    const first = seq * TEXTS_PER_FACT;
    const rows = this.#select.texts.all(first, first + TEXTS_PER_FACT - 1) as { digest: string; body: string }[];
    return new Map(rows.map(({ digest, body }) => [digest, body]));
  }

  /** A number that another connection's commit changes. Where it cannot be told, whoever reads next learns why. */
  #version(): number {
    try {
      return this.#db.isOpen ? Number(this.#select.version.get()?.data_version) : 0;
    } catch {
      return -1;
    }
  }

  #transaction<T>(work: () => T): T {
    return this.#guarded(() => {
      this.#transact.begin.run();
      try {
        const result = work();
        this.#transact.commit.run();
        return result;
      } catch (error) {
        if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
        // What was appended is gone again; the head is read anew.
        this.#head = { seq: 0, hash: NO_PREV, at: '' };
        throw error;
      }
    });
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asStorageError(error, this.#file);
    }
  }
}

function openDatabase(file: string): DatabaseSync {
  const deadline = Date.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      return prepared(new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }), file);
    } catch (error) {
      // Several processes that make the file at the same moment get in each other's way without being made to wait.
      if (!isBusy(error) || Date.now() > deadline) throw asStorageError(error, file);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPEN_AGAIN_MS);
    }
  }
}

function prepared(db: DatabaseSync, file: string): DatabaseSync {
  try {
    const version = Number(db.prepare('PRAGMA user_version').get()?.user_version);
    if (version > FACT_VERSION) throw newerLog(file);
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 67108864;',
    );
    if (version === 0) db.exec(`BEGIN IMMEDIATE; ${SCHEMA} PRAGMA user_version = ${FACT_VERSION}; COMMIT;`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Some systems have no events to give, or none left; the poll is enough then. */
function onFileEvent(folder: string, changed: () => void): () => void {
  try {
    const watcher = watchFile(folder, { persistent: false }, changed);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => undefined;
  }
}

export function logFileIn(stateDir: string): string {
  return join(stateDir, 'log.sqlite');
}

export function hasLog(stateDir: string): boolean {
  return existsSync(logFileIn(stateDir));
}
