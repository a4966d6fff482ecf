// File systems that several machines share. SQLite needs memory that all its writers share, so its file is safe on the disks
// of one machine only.
import { statfsSync } from 'node:fs';

/** By the type that Linux gives to the file system. Other systems give numbers that mean nothing on their own. */
const SHARES: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  1397113167: 'AFS',
  12805120: 'Ceph',
  198183888: 'Lustre',
};

type TypeOf = (folder: string) => number;

/** The kind of network share that a folder is on; null on a local disk, and where it cannot be told. */
export function networkShareAt(folder: string, typeOf: TypeOf = typeByStatfs): string | null {
  if (process.platform !== 'linux') return null;
  try {
    // Some systems give the number with a sign.
    return SHARES[typeOf(folder) >>> 0] ?? null;
  } catch {
    return null;
  }
}

function typeByStatfs(folder: string): number {
  return statfsSync(folder).type;
}
