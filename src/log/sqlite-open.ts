// Opening the file of the embedded log: its tables, and how it is written to disk.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FACT_VERSION } from '../kernel/fact.ts';
import { asStorageError, isBusy, newerLog } from './sqlite-fault.ts';

const BUSY_TIMEOUT_MS = 30_000;
const OPEN_AGAIN_MS = 10;

/** The kinds that the lifecycle of casts consists of. A query must say it in the same words to be served by the index. */
export const IS_LIFECYCLE = `kind >= 'cast.' AND kind < 'cast/'`;

// `line` is the truth. Every other column of a fact, `by_cast` and `once` say again what stands in the lines, so that it is
// found quickly: `indexFaults` compares them.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS facts (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    cast_id TEXT,
    task_id TEXT,
    line TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS facts_lifecycle ON facts (seq) WHERE ${IS_LIFECYCLE};
  CREATE INDEX IF NOT EXISTS facts_by_task ON facts (task_id, seq) WHERE task_id IS NOT NULL;
  CREATE TABLE IF NOT EXISTS by_cast (
    cast_id TEXT NOT NULL,
    block INTEGER NOT NULL,
    seqs TEXT NOT NULL,
    PRIMARY KEY (cast_id, block)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS once (key TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, digest TEXT NOT NULL, body TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS snapshots (through INTEGER PRIMARY KEY, digest TEXT NOT NULL, body TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`;

export function openDatabase(file: string): DatabaseSync {
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
