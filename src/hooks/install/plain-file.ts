// Files of a project, read and written only where no link leads elsewhere: what is written here is run by other programs, so
// that it must land where it was shown.
import { lstatSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Denied, deny } from '../../kernel/verdict.ts';

/** Why the file may not be touched, or null. Every folder on the way to it within the project is looked at. */
export function refusalOfPlace(dir: string, file: string): Denied | null {
  const parts = file.split('/');
  for (let count = 1; count <= parts.length; count += 1) {
    const name = parts.slice(0, count).join('/');
    const stat = lstatSync(join(dir, name), { throwIfNoEntry: false });
    if (!stat) return null;
    if (stat.isSymbolicLink()) {
      return deny('LINK_REFUSED', `${name} is a link; put a real file or folder there first`, { path: name });
    }
    const isRight = count === parts.length ? stat.isFile() : stat.isDirectory();
    if (!isRight) return deny('LINK_REFUSED', `${name} is neither a file nor a folder as it should be`, { path: name });
  }
  return null;
}

export function readPlain(dir: string, file: string): string | null {
  try {
    return readFileSync(join(dir, file), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Whole or not at all, with the permissions it had. Null removes it, and the folders that are empty then. */
export function writePlain(dir: string, file: string, text: string | null): void {
  const target = join(dir, file);
  if (text === null) {
    rmSync(target, { force: true });
    removeEmpty(dir, dirname(file));
    return;
  }
  mkdirSync(dirname(target), { recursive: true });
  const mode = lstatSync(target, { throwIfNoEntry: false })?.mode ?? 0o644;
  const draft = `${target}.baton-${process.pid}`;
  try {
    writeFileSync(draft, text, { mode: mode & 0o777, flag: 'wx' });
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
}

function removeEmpty(dir: string, folder: string): void {
  for (let at = folder; at !== '.' && at !== ''; at = dirname(at)) {
    try {
      rmdirSync(join(dir, at));
    } catch {
      return; // Somebody has something in it.
    }
  }
}
