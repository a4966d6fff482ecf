// What a command is made of besides its words: the programs it names, where the paths among its arguments really lie, and
// what the files there hold.
import { createHash, hash } from 'node:crypto';
import { accessSync, closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { stepsOf } from '../hooks/programs.ts';
import { realPlace } from '../hooks/real-place.ts';
import { placesWritten } from '../hooks/written-paths.ts';
import type { ProgramSeal } from '../kernel/approval/request.ts';
import { shellLine } from './shell-words.ts';

const NAMES_MAX = 512;
const NAME_CHARS_MAX = 4_096;
/** A larger file is known by its size and time: to read it each time would take longer than anybody waits. */
const HASHED_BYTES_MAX = 512 * 1_048_576;
const CHUNK_BYTES = 1_048_576;

export type Named = {
  /** The words that name programs. */
  readonly programs: readonly string[];
  /** Paths, absolute and as they are named, of which what lies there is bound. */
  readonly inputs: readonly string[];
  /** Paths that the command writes: where they lead is bound, and not what is there. */
  readonly outputs: readonly string[];
};

/** What a command names, as far as it can be seen. `more` are paths that the request names besides. */
export function namedBy(
  argv: readonly string[],
  cwd: string,
  home: string | undefined,
  more: readonly string[],
): Named {
  const [program = ''] = argv;
  const read = stepsOf(shellLine(argv));
  const steps = read.ok ? read.steps : [];
  const runs = steps.flatMap((step) => step.runs);
  const outputs = new Set(placesWritten(steps, cwd, home).paths);
  const folders = [
    cwd,
    ...runs.flatMap((run) => (run.program === 'cd' ? run.args.slice(0, 1) : [])).map(({ text }) => resolve(cwd, text)),
  ];
  const words = [
    ...argv.slice(1),
    ...runs.flatMap((run) => [...(run.named.includes('/') ? [run.named] : []), ...run.args.map(({ text }) => text)]),
    ...steps.flatMap(({ reads }) => reads.map(({ text }) => text)),
    ...more,
  ];
  const paths = words
    .flatMap(pathsIn)
    .flatMap((path) => folders.map((folder) => resolve(folder, withHome(path, home))));
  return {
    programs: [...new Set([program, ...runs.filter((run) => run.isPlain).map((run) => run.named)])],
    inputs: [...new Set(paths)].filter((path) => !outputs.has(path)).slice(0, NAMES_MAX),
    outputs: [...outputs].slice(0, NAMES_MAX),
  };
}

/** The word itself, and what stands behind the equals sign or the mark of a file in it. */
function pathsIn(word: string): readonly string[] {
  const value = word.startsWith('-') ? word.slice(word.indexOf('=') + 1 || word.length) : word;
  const file = /^(?:[\w.-]{1,100}=)?(?:@|fileb?:\/\/)(.+)$/s.exec(value)?.[1];
  return [value, file ?? ''].filter((path) => isName(path));
}

function isName(path: string): boolean {
  return (
    path !== '' &&
    path.length <= NAME_CHARS_MAX &&
    !path.includes('\0') &&
    !path.includes('\n') &&
    !/^\w+:\/\//.test(path)
  );
}

function withHome(path: string, home: string | undefined): string {
  return home !== undefined && /^~(?:\/|$)/.test(path) ? `${home}${path.slice(1)}` : path;
}

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
  const found = statSync(path, { throwIfNoEntry: false, bigint: false });
  if (!found) return 'absent';
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
