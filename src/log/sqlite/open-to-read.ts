// Opens a log to read it, also where nothing can be written: on a read-only medium, in a folder of somebody else, on a full disk.
// SQLite needs a file for shared memory beside a log. Where it cannot have one nobody writes to the log either, and it is
// opened as a file that does not change. That would leave out what only the write-ahead file holds, so with one the log is
// read from a copy.
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { StorageError } from '../../engine/storage-error.ts';
import { asStorageError, isUnwritable, refuseNoFile } from './fault.ts';

const TIMEOUT_MS = 5_000;

/** Throws a `StorageError` where the file cannot be opened; that says nothing about what it holds. */
export function openForReading(file: string): DatabaseSync {
  try {
    refuseNoFile(file);
    return opened(connect(file, { readOnly: true, timeout: TIMEOUT_MS }));
  } catch (error) {
    if (!isUnwritable(error) || !statSync(file, { throwIfNoEntry: false })) throw asStorageError(error, file);
    return hasRows(`${file}-wal`) ? openCopy(file) : openUnchanging(file);
  }
}

/** The file is not looked at before the first question. */
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
