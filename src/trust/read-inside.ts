// Reads one file of a registry folder, and nothing outside the folder: not through a symbolic link, and no pipe or device.
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';

const FILE_BYTES_MAX = 16 * 1_048_576;

/** Null for what is missing, unreadable, too large, no plain file, or outside the folder. `path` has no `..` in it. */
export function readInside(dir: string, path: string): Uint8Array | null {
  try {
    const root = realpathSync(dir);
    const file = realpathSync(join(root, path));
    return file.startsWith(root.endsWith(sep) ? root : root + sep) ? readPlainFile(file) : null;
  } catch {
    return null;
  }
}

/** Whether the path is a link, or leads through one, to something outside the folder. */
export function leavesFolder(dir: string, path: string): boolean {
  try {
    const root = realpathSync(dir);
    const file = realpathSync(join(root, path));
    return !file.startsWith(root.endsWith(sep) ? root : root + sep);
  } catch {
    return false; // There is nothing it could lead to.
  }
}

// Opened without waiting: a named pipe in place of a file must not hold up the verifier.
function readPlainFile(file: string): Uint8Array | null {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const status = fstatSync(handle);
    return status.isFile() && status.size <= FILE_BYTES_MAX ? readFileSync(handle) : null;
  } finally {
    closeSync(handle);
  }
}
