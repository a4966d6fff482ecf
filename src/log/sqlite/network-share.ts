// File systems that several machines share. SQLite needs memory that all its writers share, so its file is safe on the disks
// of one machine only.
import { readFileSync, realpathSync, statfsSync } from 'node:fs';

/** By the type that Linux gives to the file system. Other systems give numbers that mean nothing on their own. */
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

/** A program serves the files. Only the name under which it is mounted says whether they are elsewhere. */
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

type Look = { typeOf?(folder: string): number; mounts?(): string };

/** The kind of network share that a folder is on; null on a local disk, and where it cannot be told. */
export function networkShareAt(
  folder: string,
  { typeOf = typeByStatfs, mounts = mountsOfSystem }: Look = {},
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

/** By the name of the program, or by an address in the place of the device. */
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

/** Blanks and the like are written as octal numbers. */
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
