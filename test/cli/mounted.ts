// Runs commands where a folder is on a read-only medium or on a full disk. The mount is seen by that command alone and goes
// with it. It needs the right to mount; a build must have it, elsewhere such tests are left out.
import { spawnSync } from 'node:child_process';

const CAN_MOUNT = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

/** For `test.skipIf`. Where `CI` is set the test runs, and fails without the right. */
export const CANNOT_MOUNT = !CAN_MOUNT && process.env.CI !== 'true';

const READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"';
const FULL = [
  'mkdir /tmp/full.$$ && mount -t tmpfs -o size=8m tmpfs /tmp/full.$$ && cp -a "$0/." /tmp/full.$$/',
  'mount --move /tmp/full.$$ "$0" && rmdir /tmp/full.$$ && cd "$0"',
  '(dd if=/dev/zero of=filler bs=4096 2>/dev/null; cat /dev/zero >> filler 2>/dev/null; true)',
  'exec "$@"',
].join(' && ');

/** The words before a command, for `how.program`. */
export function readOnly(dir: string): readonly string[] {
  return ['unshare', '-m', 'sh', '-c', READ_ONLY, dir];
}

export function fullDisk(dir: string): readonly string[] {
  return ['unshare', '-m', 'sh', '-c', FULL, dir];
}
