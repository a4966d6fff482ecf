// Cast ids sort by time, are safe in file and branch names, and differ even when made in the same second.
import { randomBytes } from 'node:crypto';

export function newCastId(now: number): string {
  const stamp = new Date(now).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `${stamp}-${randomBytes(3).toString('hex')}`;
}
