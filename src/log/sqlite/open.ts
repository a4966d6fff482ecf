// Opening the file of the embedded log: its tables, and how it is written to disk.
import { chmodSync, closeSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { IS_LIFECYCLE } from './cast-index.ts';
import { CASTS_SCHEMA, CastsTable } from './casts-table.ts';
import { asStorageError, isBusy, linkInPlace, newerLog, refuseNoFile } from './fault.ts';

const BUSY_TIMEOUT_MS = 30_000;
const OPEN_AGAIN_MS = 10;

/**
 * The version of the tables. An earlier program refuses a file of a later version. Version 1 had no index of casts and no
 * parts of snapshots.
 */
const LAYOUT_VERSION = 2;

/** What a snapshot is made of. */
const PARTS = `CREATE TABLE IF NOT EXISTS snapshot_parts (
    digest TEXT PRIMARY KEY,
    refs INTEGER NOT NULL,
    children TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;`;

// `line` is the truth. Every other column of a fact, `by_cast`, `casts` and `once` say again what stands in the
// lines, so that it is found quickly. The audit compares them.
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
  ${PARTS}
  CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`;

export function openDatabase(file: string): DatabaseSync {
  const deadline = Date.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      if (file !== MEMORY) readyFile(file);
      // Loaded here: a command that opens no log does without it.
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
      return prepared(new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }), file);
    } catch (error) {
      // Several processes that make the file at the same moment get in each other's way without being made to wait.
      if (!isBusy(error) || Date.now() > deadline) throw asStorageError(error, file);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPEN_AGAIN_MS);
    }
  }
}

const MEMORY = ':memory:';

/** The log is for its owner alone, also in a folder that others can look into. A link in its place would write elsewhere. */
function readyFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  refuseStrange(file);
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  for (const name of FILES) close(`${file}${name}`);
}

const FILES = ['', '-wal', '-shm'];

/** Refuses what is in the place of the log and not a plain file: a link leads elsewhere, and a pipe never answers. */
export function refuseStrange(file: string): void {
  for (const path of FILES.map((name) => `${file}${name}`)) {
    if (isLink(path)) throw linkInPlace(path);
    refuseNoFile(path);
  }
}

/** Of a path that cannot be looked at, whoever opens it says why. */
export function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function close(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found || (found.mode & 0o077) === 0 || found.uid !== process.getuid?.()) return;
  try {
    chmodSync(file, found.mode & 0o700);
  } catch {
    // It lies where nothing can be changed; whoever writes next says so.
  }
}

function prepared(db: DatabaseSync, file: string): DatabaseSync {
  try {
    const version = Number(db.prepare('PRAGMA user_version').get()?.user_version);
    if (version > LAYOUT_VERSION) throw newerLog(file);
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 67108864;',
    );
    const casts = new CastsTable(db);
    if (version === 0) {
      db.exec(`BEGIN IMMEDIATE; ${SCHEMA} ${CASTS_SCHEMA} PRAGMA user_version = ${LAYOUT_VERSION}; COMMIT;`);
    } else if (version < LAYOUT_VERSION || !casts.isCurrent()) {
      db.exec(`BEGIN IMMEDIATE; ${PARTS}`);
      // Another process may have been faster.
      if (!casts.isCurrent()) casts.fill();
      db.exec(`PRAGMA user_version = ${LAYOUT_VERSION}; COMMIT`);
    }
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
