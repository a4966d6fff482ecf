// The mark of a file: its content, and the numbers that show whether it changed. A file is read only if the numbers differ from
// an earlier mark. All files below a folder are marked without following links.

import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';

/** The changes cannot be determined, and why. */
export class ChangesError extends Error {}

export type FileMark = {
  /** `sha256:…`, with the prefix `run-` for an executable file; `link:…`; null if there is no file. */
  readonly content: string | null;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
};

export const FILES_MAX = 200_000;
/** A larger file is compared only by its size and times. */
const READ_BYTES_MAX = 64 * 1024 * 1024;
const TOTAL_BYTES_MAX = 4 * 1024 * 1024 * 1024;
/** File times are coarse: a file that changed this shortly before a snapshot may have changed again in the same tick. */
const TICK_MS = 100;
const BREATHE_EVERY = 500;
const CHUNK = 1024 * 1024;

export class FileReader {
  readonly root: string;
  readonly #known: { readonly taken: number; readonly files: Readonly<Record<string, FileMark>> } | null;
  readonly #buffer = Buffer.allocUnsafe(CHUNK);
  #files = 0;
  #bytes = 0;

  constructor(
    root: string,
    known: { readonly taken: number; readonly files: Readonly<Record<string, FileMark>> } | null,
  ) {
    this.root = root;
    this.#known = known;
  }

  /** The mark of a file by its name on disk. A folder has none. Yields now and then. */
  async mark(path: string, file: Buffer): Promise<FileMark | null> {
    this.#files += 1;
    if (this.#files > FILES_MAX) {
      throw new ChangesError(
        `${this.root} has more than ${FILES_MAX} files to look at; in a git repository only what differs from its last commit and is not ignored is: \`git init\` there if it is none, and let git ignore what is not worked on`,
      );
    }
    if (this.#files % BREATHE_EVERY === 0) await breathe();
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (!stat) return GONE;
    return stat.isDirectory() ? null : this.#markOf(path, file, stat);
  }

  #markOf(path: string, file: Buffer, stat: Stats): FileMark {
    const { size, mtimeMs, ctimeMs, ino } = stat;
    const numbers = { size, mtimeMs, ctimeMs, ino };
    if (stat.isSymbolicLink()) return { content: `link:${readlinkSync(file)}`, ...numbers };
    if (!stat.isFile()) return { content: 'special', ...numbers };
    const run = (stat.mode & 0o111) === 0 ? '' : 'run-';
    const known = this.#knownOf(path, numbers);
    if (known !== null && known.startsWith('run-') === (run !== '')) return { content: known, ...numbers };
    return { content: `${run}${this.#read(file, stat)}`, ...numbers };
  }

  #knownOf(path: string, numbers: Omit<FileMark, 'content'>): string | null {
    if (!this.#known || !Object.hasOwn(this.#known.files, path)) return null;
    const mark = this.#known.files[path];
    if (!mark || mark.ctimeMs > this.#known.taken - TICK_MS) return null;
    const isSame =
      mark.size === numbers.size &&
      mark.mtimeMs === numbers.mtimeMs &&
      mark.ctimeMs === numbers.ctimeMs &&
      mark.ino === numbers.ino;
    return isSame ? mark.content : null;
  }

  #read(file: Buffer, { size, mtimeMs, ctimeMs, ino }: Stats): string {
    // A program can set the modification time, but not the time of the entry.
    const numbers = `${size}:${mtimeMs}:${ctimeMs}:${ino}`;
    if (size > READ_BYTES_MAX) return `large:${numbers}`;
    this.#bytes += size;
    if (this.#bytes > TOTAL_BYTES_MAX) {
      throw new ChangesError(
        `${this.root} holds more than ${TOTAL_BYTES_MAX} bytes to read; let git ignore large files`,
      );
    }
    let handle: number;
    try {
      handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch {
      return `unreadable:${numbers}`;
    }
    try {
      const first = readSync(handle, this.#buffer, 0, CHUNK, null);
      if (first < CHUNK) return `sha256:${hash('sha256', this.#buffer.subarray(0, first), 'hex')}`;
      return `sha256:${hash('sha256', this.#rest(handle, first), 'hex')}`;
    } finally {
      closeSync(handle);
    }
  }

  #rest(handle: number, first: number): Buffer {
    const parts = [Buffer.from(this.#buffer.subarray(0, first))];
    for (;;) {
      const length = readSync(handle, this.#buffer, 0, CHUNK, null);
      if (length === 0) return Buffer.concat(parts);
      parts.push(Buffer.from(this.#buffer.subarray(0, length)));
    }
  }
}

const GONE: FileMark = { content: null, size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0 };

// Marks every file below a folder. Links count as files and are never followed.
/** Adds the marks of everything below `folder`, a path below the root or the root itself. */
export async function walkInto(
  files: Record<string, FileMark>,
  reader: FileReader,
  folder: string,
  skip: readonly string[],
): Promise<void> {
  const open: { readonly path: string; readonly file: Buffer }[] = [
    { path: folder, file: Buffer.from(folder === '' ? reader.root : `${reader.root}/${folder}`) },
  ];
  for (let at = open.pop(); at; at = open.pop()) {
    for (const entry of entriesOf(at.file)) {
      const name = nameOf(entry.name);
      const path = at.path === '' ? name : `${at.path}/${name}`;
      if (name === '.git' || skip.includes(path)) continue;
      const file = Buffer.concat([at.file, SLASH, entry.name]);
      if (entry.isDirectory()) open.push({ path, file });
      else {
        const mark = await reader.mark(path, file);
        if (mark?.content) files[path] = mark;
      }
    }
  }
}

export const SLASH = Buffer.of(0x2f);

/** What is in a folder; nothing where it is gone or unreadable. */
export function folderEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** A file name may be any bytes. A name that is no UTF-8 is shown byte by byte, so that all names differ. */
export function nameOf(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
}

function entriesOf(folder: Buffer): Dirent<Buffer>[] {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: 'buffer' });
  } catch {
    return []; // It is gone or unreadable.
  }
}
