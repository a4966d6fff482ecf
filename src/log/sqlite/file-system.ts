// What the operating system knows about the file of a log: which process holds its write lock, when its folder changes, and whether
// several machines share its disk.
import { readFileSync, realpathSync, statfsSync, statSync, watch } from 'node:fs';
import { StorageError } from '../../engine/ports.ts';

type LockHolder = { readonly pid: number; readonly isStopped: boolean };

/** The one writing process locks this byte of the shared-memory file. */
const WRITE_LOCK_BYTE = 120;

/**
 * Null if the system does not tell, or if the process belongs to another process namespace. A process that was stopped in the middle
 * of a commit keeps the lock, and only a person can continue or end it.
 */
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

/** Why writers wait, and what a person can do about it. */
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

/** By the file system type of Linux. The numbers of other systems are not comparable. */
const SHARES: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  1397113167: 'AFS',
  12805120: 'Ceph',
  198183888: 'Lustre',
  16914839: '9p',
};

/** A program serves the files. Only the name of the mount tells whether they are on another machine. */
const FUSE = 1702057286;

const FUSE_SHARES: readonly string[] = [
  ...['sshfs', 'curlftpfs', 'smbnetfs', 'davfs', 'davfs2', 'gvfsd-fuse', 'glusterfs', 'ceph', 'ceph-fuse', 'cephfs'],
  ...[
    's3fs',
    'goofys',
    'mount-s3',
    'mountpoint-s3',
    'gcsfuse',
    'blobfuse',
    'blobfuse2',
    'rclone',
    'juicefs',
    'seaweedfs',
  ],
  ...['mfs', 'moosefs', 'lizardfs', 'fuse_dfs', 'google-drive-ocamlfuse', 'onedriver', 'ipfs', 'keybase'],
];

type SystemCalls = { typeOf?(folder: string): number; mounts?(): string };

/**
 * The kind of network share that a folder is on. Null on a local disk, or if it is unknown. SQLite needs memory that all writers share,
 * so its file is safe only on a disk of one machine.
 */
export function networkShareAt(
  folder: string,
  { typeOf = typeByStatfs, mounts = mountsOfSystem }: SystemCalls = {},
): string | null {
  if (process.platform !== 'linux') return null;
  try {
    // Some systems give the number with a sign.
    const type = typeOf(folder) >>> 0;
    return type === FUSE ? fuseShareAt(realOf(folder), mounts()) : (SHARES[type] ?? null);
  } catch {
    return null;
  }
}

/** By the name of the program, or by an address as the device. */
function fuseShareAt(folder: string, mounts: string): string | null {
  let [longest, share]: [number, string | null] = [0, null];
  for (const line of mounts.split('\n')) {
    const [before = '', after = ''] = line.split(' - ', 2);
    const point = plain(before.split(' ')[4] ?? '');
    const isAbove = point === '/' || folder === point || folder.startsWith(`${point}/`);
    if (point === '' || !isAbove || point.length < longest) continue;
    const [type = '', source = ''] = after.split(' ').map(plain);
    const program = type.replace(/^fuse\.?/, '') || source;
    longest = point.length;
    share = FUSE_SHARES.includes(program) || source.includes('://') ? program : null;
  }
  return share;
}

/** Spaces and control characters are octal numbers there. */
function plain(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

function typeByStatfs(folder: string): number {
  return statfsSync(folder).type;
}

function mountsOfSystem(): string {
  return readFileSync('/proc/self/mountinfo', 'utf8');
}

/** Without file events, polling is enough. */
export function onFileEvent(folder: string, changed: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, changed);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => undefined;
  }
}
