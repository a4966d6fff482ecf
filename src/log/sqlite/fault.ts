// The faults of the file as errors that say what a person can do.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageError } from '../../engine/ports.ts';

/** SQLite's primary result codes, as far as they matter here. */
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

const DAMAGED = 'the file is damaged; restore it from a copy';

/** A fault of the storage as a `StorageError`. Any other error, such as one thrown by a decision, stays unchanged. */
export function asStorageError(error: unknown, file: string): unknown {
  if (error instanceof StorageError) return error;
  const { code, message } = error as { code?: string; message?: string };
  const primary = primaryCode(error);
  if (primary === null && !isOfSystem(error)) return error;
  const reason = `${file}: ${message}; ${wayOut(primary, code ?? '', file)}`;
  return new StorageError('STORAGE_FAILED', reason, { cause: error });
}

/** Whether a log could not be opened because its place is not writable. Its content was not read. */
export function isUnwritable(error: unknown): boolean {
  const primary = primaryCode(error);
  return primary !== null && [READONLY, IOERR, FULL, CANTOPEN].includes(primary);
}

/** Whether the file is not a sound log. A file that cannot be opened, or not read because the disk is full, is not damaged. */
export function isDamage(error: unknown): boolean {
  if (error instanceof StorageError) return [CORRUPT, NOTADB].includes(primaryCode(error.cause ?? {}) ?? -1);
  const primary = primaryCode(error);
  if (primary === null) return !isOfSystem(error);
  return [CORRUPT, NOTADB, ERROR, IOERR].includes(primary);
}

/** Codes like ENOSPC are errors of the system. ERR_… are faults of a program. */
function isOfSystem(error: unknown): boolean {
  return /^E(?!RR_)[A-Z0-9]+$/.test((error as { code?: string }).code ?? '');
}

/** The log was deleted while it was in use. */
export function logGone(file: string): StorageError {
  const reason = `${file} was deleted or replaced while it was in use; nothing that was decided since is accepted, and the running agents are stopped. Put the file back from a copy, with its -wal, or begin with a new cast; \`git clean -ffdx\` and \`rm\` in the state folder do this`;
  return new StorageError('STORAGE_FAILED', reason);
}

export function linkInPlace(file: string): StorageError {
  const reason = `${file} is a link, and a log is never written through one; remove it, or point BATON_HOME to where the log shall be`;
  return new StorageError('STORAGE_FAILED', reason);
}

/** Opening a pipe would wait forever. */
export function refuseNoFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found || found.isFile()) return;
  throw new StorageError(
    'STORAGE_FAILED',
    `${file}: it is not a plain file; move it away, or point BATON_HOME elsewhere`,
  );
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY;
}

export function newerLog(file: string): StorageError {
  const reason = `${file} was written by a newer version of baton; install that version, nothing was changed`;
  return new StorageError('NEWER_LOG', reason);
}

export function damagedEntry(file: string, seq: number, cause: unknown): StorageError {
  return new StorageError('STORAGE_FAILED', `${file}: entry ${seq} cannot be read; ${DAMAGED}`, { cause });
}

function primaryCode(error: unknown): number | null {
  const { errcode } = (error ?? {}) as { errcode?: number };
  return errcode === undefined ? null : errcode & 0xff;
}

function wayOut(primary: number | null, code: string, file: string): string {
  const folder = dirname(file);
  if (primary === FULL || code === 'ENOSPC') return 'free some disk space and try again, nothing was lost';
  if (primary === BUSY || primary === LOCKED) return 'another process holds the log; try again';
  if (primary === CORRUPT || primary === NOTADB) return DAMAGED;
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return `${folder} must be a folder; move the file away that is in its place`;
  if (primary === READONLY || primary === CANTOPEN || code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return `make ${folder} writable for you, or point BATON_HOME elsewhere`;
  }
  return `check the disk and the folder ${folder}, then try again`;
}
