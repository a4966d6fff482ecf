// Registries from a folder on disk. Reads nothing outside the folder: not through `..`, not through a symbolic link.
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { fatal } from '../kernel/trust/problem.ts';
import type { Registry } from './agent.ts';
import type { Sha256 } from './canonical.ts';
import { type ReadFile, safePath } from './lock.ts';
import { loadRegistry, unusable } from './registry.ts';
import type { RegistryLoader } from './validate.ts';

/** Loaded when something is hashed: a short command that only reads a manifest starts faster without it. */
export const hashBytes: Sha256 = (content) => process.getBuiltinModule('node:crypto').hash('sha256', content, 'hex');

export function loadRegistryFolder(dir: string): Registry {
  return loadRegistry('', readerOf(dir), hashBytes);
}

/** Answers null for what is missing, unreadable, too large, not a plain file, or outside the folder. */
export function readerOf(dir: string): ReadFile {
  const read = (path: string) => {
    const inside = safePath(path);
    return inside === null ? null : readInside(dir, inside);
  };
  return Object.assign(read, { leaves: (path: string) => leavesFolder(dir, path) });
}

/**
 * Loads each folder once. Relative folders resolve against `base`, which is also the registry of those who name none.
 * What was loaded stays as it was; a new loader sees the changes.
 */
export function registryLoader(base: string | null): RegistryLoader {
  const loaded = new Map<string, Registry>();
  return (dir) => {
    const folder = dir === null ? base : resolve(base ?? '.', dir);
    if (folder === null)
      return unusable(
        [fatal('REGISTRY_MISSING', 'no registry folder was named; name it with --registry DIR')],
        hashBytes,
      );
    const known = loaded.get(folder) ?? loadRegistryFolder(folder);
    loaded.set(folder, known);
    return known;
  };
}

/** Reads one file of the folder. A pipe or a device is no file. */
const FILE_BYTES_MAX = 16 * 1_048_576;

/** Null for what is missing, unreadable, too large, not a plain file, or outside the folder. `path` has no `..` in it. */
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
function leavesFolder(dir: string, path: string): boolean {
  try {
    const root = realpathSync(dir);
    const file = realpathSync(join(root, path));
    return !file.startsWith(root.endsWith(sep) ? root : root + sep);
  } catch {
    return false; // There is nothing it could lead to.
  }
}

/** Opened without waiting: a named pipe in place of a file must not hold up the verifier. */
function readPlainFile(file: string): Uint8Array | null {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const status = fstatSync(handle);
    return status.isFile() && status.size <= FILE_BYTES_MAX ? readFileSync(handle) : null;
  } finally {
    closeSync(handle);
  }
}
