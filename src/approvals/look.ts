// What a command is made of besides its words: the programs it starts, where the paths that it names really lie, and what the
// files there hold.
import { createHash, hash } from 'node:crypto';
import { accessSync, closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { realPlace } from '../hooks/real-place.ts';
import type { ProgramSeal } from '../kernel/approval/request.ts';
import { matchesOf } from './patterns.ts';

/** A larger file is known by its size and time: to read it each time would take longer than anybody waits. */
const HASHED_BYTES_MAX = 512 * 1_048_576;
const CHUNK_BYTES = 1_048_576;

/** The program that a word would start in a folder with this search path. */
export function programFor(word: string, cwd: string, path: string): ProgramSeal | null {
  const candidates = word.includes('/')
    ? [resolve(cwd, word)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder), word));
  for (const candidate of candidates) {
    try {
      accessSync(candidate, constants.X_OK);
      if (!statSync(candidate).isFile()) continue;
      const real = realpathSync(candidate);
      return { path: real, digest: digestOf(real) };
    } catch {
      // Not there, or not to be run: the next folder is looked at.
    }
  }
  return null;
}

export function programsFor(
  words: readonly string[],
  cwd: string,
  path: string,
): Readonly<Record<string, ProgramSeal | null>> {
  return Object.fromEntries(words.map((word) => [word, programFor(word, cwd, path)]));
}

export function placesFor(paths: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(paths.map((path) => [path, realPlace(path)]));
}

export function digestsFor(places: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(places.map((place) => [place, digestOf(place)]));
}

/** What lies at a path. Nothing is opened that could make us wait. */
export function digestOf(path: string): string {
  const found = statOf(path);
  if (!found) {
    // What a pattern fits is bound as a list, so that a file that is put beside the others is a difference.
    const matches = matchesOf(path);
    return matches === null || matches.length === 0 ? 'absent' : `list:${sha256(matches.join('\0'))}`;
  }
  if (found.isDirectory()) return 'folder';
  if (!found.isFile()) return 'device';
  if (found.size > HASHED_BYTES_MAX) return `large:${found.size}:${found.mtimeMs}:${found.ino}`;
  let handle: number;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return 'unreadable';
  }
  try {
    if (!fstatSync(handle).isFile()) return 'device';
    return `sha256:${hashOf(handle)}`;
  } finally {
    closeSync(handle);
  }
}

/** A word that is too long for the name of a file names none. */
function statOf(path: string): ReturnType<typeof statSync> | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function hashOf(handle: number): string {
  const digest = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let read = -1; read !== 0; ) {
    read = readSync(handle, chunk, 0, CHUNK_BYTES, null);
    digest.update(chunk.subarray(0, read));
  }
  return digest.digest('hex');
}

export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
