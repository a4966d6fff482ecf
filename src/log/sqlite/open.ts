// Opening the file of the embedded log. To write: its tables and settings, for its owner alone. To read also where nothing can be
// written: on a read-only medium, in the folder of another user, on a full disk. SQLite needs a file for shared memory next to the
// log. If it cannot have one, no process can write to the log, and it is opened as an unchanging file. That leaves out entries that only
// the write-ahead file holds; then a copy of both is read.
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { StorageError } from '../../engine/ports.ts';
import { CASTS_SCHEMA, CastIndex, CastsTable, IS_LIFECYCLE } from './cast-index.ts';
import { asStorageError, isBusy, isUnwritable, linkInPlace, newerLog, refuseNoFile } from './fault.ts';

export function logFileIn(stateDir: string): string {
  return join(stateDir, 'log.sqlite');
}

/** To write, or only to read if it cannot be written. */
export function openLog(file: string): DatabaseSync {
  try {
    return openDatabase(file);
  } catch (error) {
    const { cause } = error as StorageError;
    const mayRead = error instanceof StorageError && (isUnwritable(cause) || isSystemFault(cause));
    if (!mayRead || !existsSync(file) || !statSync(file).isFile()) throw error;
    return openForReading(file);
  }
}

function isSystemFault(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  return ['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT'].includes(code);
}

/** The lines of one cast, without keeping the log open. None if there is no log. */
export function castLines(file: string, cast: string): readonly string[] {
  if (!existsSync(file)) return [];
  const db = openForReading(file);
  try {
    return new CastIndex(db).read(cast, 0, -1).map(({ line }) => line);
  } finally {
    db.close();
  }
}

const LATEST_AT_ONCE = 4_096;

/** The casts of the last lines, back to the first line that is earlier. Does not keep the log open. None if there is no log. */
export function latestCasts(file: string, isEarlier: (line: string) => boolean): readonly string[] {
  if (!existsSync(file)) return [];
  const db = openForReading(file);
  try {
    const casts = new Set<string>();
    const read = db.prepare('SELECT seq, line, cast_id FROM facts WHERE seq < ? ORDER BY seq DESC LIMIT ?');
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const rows = read.all(before, LATEST_AT_ONCE) as { seq: number; line: string; cast_id: string | null }[];
      for (const { seq, line, cast_id } of rows) {
        if (isEarlier(line)) return [...casts];
        if (cast_id !== null) casts.add(cast_id);
        before = seq;
      }
      if (rows.length < LATEST_AT_ONCE) return [...casts];
    }
  } finally {
    db.close();
  }
}

const BUSY_TIMEOUT_MS = 30_000;
const OPEN_AGAIN_MS = 10;

/**
 * The version of the tables. An earlier program refuses a file of a later version. Version 1 had no index of casts and no
 * parts of snapshots.
 */
const LAYOUT_VERSION = 2;

const PARTS = `CREATE TABLE IF NOT EXISTS snapshot_parts (
    digest TEXT PRIMARY KEY,
    refs INTEGER NOT NULL,
    children TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;`;

// `line` is the truth. The other columns of a fact, `by_cast`, `casts` and `once` repeat parts of the lines to find them quickly. The
// audit compares them.
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
      // Processes that create the file at the same moment get this error without waiting.
      if (!isBusy(error) || Date.now() > deadline) throw asStorageError(error, file);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPEN_AGAIN_MS);
    }
  }
}

const MEMORY = ':memory:';

/** The log is for its owner alone, even in a folder that others can read. */
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

/** Refuses a log that is not a plain file: a link leads elsewhere, and a pipe never answers. */
export function refuseStrange(file: string): void {
  for (const path of FILES.map((name) => `${file}${name}`)) {
    if (isLink(path)) throw linkInPlace(path);
    refuseNoFile(path);
  }
}

/** False for an inaccessible path: opening it reports why. */
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
    // The file system is read-only. The next write reports it.
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

const TIMEOUT_MS = 5_000;

/** Throws a `StorageError` if the file cannot be opened, which does not mean that it is damaged. */
export function openForReading(file: string): DatabaseSync {
  try {
    refuseNoFile(file);
    return opened(connect(file, { readOnly: true, timeout: TIMEOUT_MS }));
  } catch (error) {
    if (!isUnwritable(error) || !statSync(file, { throwIfNoEntry: false })) throw asStorageError(error, file);
    return hasRows(`${file}-wal`) ? openCopy(file) : openUnchanging(file);
  }
}

/** SQLite reads the file with the first query. */
function opened(db: DatabaseSync): DatabaseSync {
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function openUnchanging(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  try {
    return opened(connect(url, { readOnly: true }));
  } catch (error) {
    throw asStorageError(error, file);
  }
}

const WAL_HEADER_BYTES = 32;

function hasRows(wal: string): boolean {
  return (statSync(wal, { throwIfNoEntry: false })?.size ?? 0) > WAL_HEADER_BYTES;
}

function openCopy(file: string): DatabaseSync {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'baton-log-'));
    try {
      for (const name of ['', '-wal']) copyFileSync(`${file}${name}`, join(folder, `log.sqlite${name}`));
      return opened(connect(join(folder, 'log.sqlite'), { timeout: TIMEOUT_MS }));
    } finally {
      // An open file stays readable.
      rmSync(folder, { recursive: true, force: true });
    }
  } catch (error) {
    const why = (error as Error).message;
    const reason = `${file} cannot be read here: ${file}-wal holds entries that are not in it yet, and no copy of both could be made (${why}); copy the folder to a place where you can write, or free disk space`;
    throw new StorageError('STORAGE_FAILED', reason, { cause: error });
  }
}

/** Loaded here: a command that opens no log does without it. */
function connect(file: string | URL, options: DatabaseSyncOptions): DatabaseSync {
  return new (process.getBuiltinModule('node:sqlite').DatabaseSync)(file, options);
}
