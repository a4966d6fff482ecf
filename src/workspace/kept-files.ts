// What files held before a turn that works in the folder itself, kept by digest, so that `undo` can put them back. In a git
// repository only what differs from the last commit is kept; elsewhere it is every file, until the cast is over.

import { hash } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Mark } from './changes-mark.ts';

/** What lies beyond is not kept, so that a folder of large files does not fill the disk. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024 * 1024;
const BREATHE_EVERY = 200;
const CONTENT = /^(?:run-)?sha256:([0-9a-f]{64})$/;

/** Answers how many files were left out. A file that is kept already costs nothing. */
export async function keepContents(
  stateDir: string,
  dir: string,
  files: Readonly<Record<string, Mark>>,
): Promise<number> {
  const folder = folderIn(stateDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const known = new Set(readdirSync(folder));
  let [bytes, count, leftOut] = [0, 0, 0];
  for (const [path, { content, size }] of Object.entries(files)) {
    const digest = CONTENT.exec(content ?? '')?.[1];
    if (digest === undefined || known.has(digest)) continue;
    bytes += size;
    if (bytes > KEPT_BYTES_MAX) leftOut += 1;
    else if (keepOne(join(dir, path), join(folder, digest))) known.add(digest);
    count += 1;
    if (count % BREATHE_EVERY === 0) await breathe();
  }
  return leftOut;
}

function keepOne(file: string, to: string): boolean {
  try {
    copyFileSync(file, `${to}.new`, constants.COPYFILE_FICLONE);
    chmodSync(`${to}.new`, 0o600);
    renameSync(`${to}.new`, to);
    return true;
  } catch {
    return false; // It is gone again, or not for us to read. Then `undo` says that nobody kept it.
  }
}

/** Whether the content that a mark names can be put back. */
export function isKept(stateDir: string, content: string): boolean {
  return content.startsWith('link:') || keptFile(stateDir, content) !== null;
}

/** The kept copy, or null where there is none or it is not what it is called. */
function keptFile(stateDir: string, content: string): string | null {
  const digest = CONTENT.exec(content)?.[1];
  const file = digest === undefined ? null : join(folderIn(stateDir), digest);
  return file !== null && existsSync(file) ? file : null;
}

/** Answers whether the file is now what the mark says. */
export function putKeptBack(stateDir: string, content: string, file: string): boolean {
  if (content.startsWith('link:')) {
    rmSync(file, { force: true });
    mkdirSync(dirname(file), { recursive: true });
    symlinkSync(content.slice('link:'.length), file);
    return true;
  }
  const kept = keptFile(stateDir, content);
  // The file may have been changed between the look at it and its copy.
  if (kept === null || !content.endsWith(hash('sha256', readFileSync(kept), 'hex'))) return false;
  mkdirSync(dirname(file), { recursive: true });
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? (content.startsWith('run-') ? 0o755 : 0o644);
  rmSync(file, { force: true });
  copyFileSync(kept, file);
  chmodSync(file, content.startsWith('run-') ? mode | 0o100 : mode & 0o666);
  return true;
}

/** Drops what no cast has changed and no turn under way may change; `needed` are the contents that stay. */
export function dropUnneeded(stateDir: string, needed: ReadonlySet<string>): void {
  const folder = folderIn(stateDir);
  if (!existsSync(folder)) return;
  const digests = new Set([...needed].flatMap((content) => CONTENT.exec(content)?.[1] ?? []));
  for (const name of readdirSync(folder)) if (!digests.has(name)) rmSync(join(folder, name), { force: true });
}

function folderIn(stateDir: string): string {
  return join(stateDir, 'before', 'files');
}
