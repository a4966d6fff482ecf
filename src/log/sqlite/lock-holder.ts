// Which process holds the write lock of the log. A process that is stopped in the middle of a commit keeps the lock, and
// every other writer waits; only a person can continue it or end it.
import { readFileSync, statSync } from 'node:fs';
import { StorageError } from '../../engine/storage-error.ts';

export type LockHolder = { readonly pid: number; readonly isStopped: boolean };

/** In the index file of a write-ahead log this byte is locked by the one process that writes. */
const WRITE_LOCK_BYTE = 120;

/** Null where the system does not tell, and where the process belongs to another process namespace. */
export function lockHolder(file: string): LockHolder | null {
  try {
    const { ino } = statSync(`${file}-shm`);
    const pid = writerIn(readFileSync('/proc/locks', 'latin1'), ino);
    return pid === null ? null : { pid, isStopped: isStopped(pid) };
  } catch {
    return null;
  }
}

/** Reads lines such as `1: POSIX  ADVISORY  WRITE 4711 fe:00:2146883 120 120`. */
export function writerIn(locks: string, inode: number): number | null {
  for (const line of locks.split('\n')) {
    const [, type, , mode, pid, place = '', from, to] = line.replace(' -> ', ' ').trim().split(/\s+/);
    const isOurs = place.split(':')[2] === String(inode);
    const covers = Number(from) <= WRITE_LOCK_BYTE && (to === 'EOF' || Number(to) >= WRITE_LOCK_BYTE);
    if (type === 'POSIX' && mode === 'WRITE' && isOurs && covers && Number(pid) > 0 && !line.includes('->'))
      return Number(pid);
  }
  return null;
}

function isStopped(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return /^[Tt]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

/** What blocks the writers, and what a person can do about it. */
export function blockedBy(file: string, holder: LockHolder | null): string {
  if (holder === null)
    return `${file}: a process that cannot be seen from here holds the write lock; it may be stopped. Continue it or end it, then try again`;
  const { pid, isStopped } = holder;
  if (!isStopped) return `${file}: process ${pid} holds the write lock; try again when it is done`;
  return `${file}: process ${pid} is stopped and holds the write lock, so nothing can be written. Continue it: \`kill -CONT ${pid}\`, or end it: \`kill -KILL ${pid}\`; nothing is lost`;
}

export function blocked(file: string, holder: LockHolder | null, cause: unknown): StorageError {
  return new StorageError('STORAGE_FAILED', blockedBy(file, holder), { cause });
}
