// What an approval binds a command to besides its words: the programs it starts, the real paths of the files it names, their
// contents, and its environment. The environment starts empty, because no list of dangerous names is complete. It gets the
// approved search path, and language, terminal and time zone from the request. The home and the variables that are passed by
// name must have the same values when the command runs.
import { createHash, hash } from 'node:crypto';
import { accessSync, closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import { userVariables } from '../agents/environment.ts';
import type { ProgramSeal, SealedRequest } from '../kernel/approval/request.ts';
import type { Variables } from '../kernel/credential.ts';
import { scrub } from '../kernel/secrets.ts';
import { realPath } from '../shell/dangerous.ts';
import { matchesOf } from './files-read.ts';
import type { SealKey } from './seal.ts';

/** Reading more would take too long. A command that names a larger file cannot be approved. */
const HASHED_BYTES_MAX = 8 * 1_073_741_824;
export const TOO_LARGE = 'too large';
const CHUNK_BYTES = 1_048_576;
const FIRST_LINE_BYTES = 512;
const INTERPRETERS_MAX = 32;

/** The program that a word starts in a folder with this search path. */
export function programFor(word: string, cwd: string, path: string): ProgramSeal | null {
  const file = fileFor(word, cwd, path);
  return file === null ? null : { path: file, digest: digestAt(file) };
}

/** The real path of the program. */
function fileFor(word: string, cwd: string, path: string): string | null {
  const candidates = word.includes('/')
    ? [resolve(cwd, word)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder), word));
  for (const candidate of candidates) {
    try {
      accessSync(candidate, constants.X_OK);
      if (!statSync(candidate).isFile()) continue;
      return realpathSync(candidate);
    } catch {
      // Missing or not executable: try the next folder.
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

/** The words, and the interpreters in the first lines of scripts. */
export function withInterpreters(
  words: readonly string[],
  files: readonly string[],
  cwd: string,
  path: string,
): readonly string[] {
  const all = new Set([...words, ...files.filter(isExecutable).flatMap(interpretersOf)]);
  for (const word of all) {
    const file = fileFor(word, cwd, path);
    for (const interpreter of file === null ? [] : interpretersOf(file)) all.add(interpreter);
    if (all.size > words.length + INTERPRETERS_MAX) break;
  }
  return [...all];
}

/** `#!/bin/sh` names one program, and `#!/usr/bin/env -S A=1 node` two. */
function interpretersOf(file: string): readonly string[] {
  const [, line = ''] = /^#![ \t]*([^\n]+)/.exec(startOf(file)) ?? [];
  const [interpreter, ...rest] = line.trim().split(/[ \t]+/);
  if (!interpreter) return [];
  if (basename(interpreter) !== 'env') return [interpreter];
  const started = rest.find((word) => !word.startsWith('-') && !/^\w+=/.test(word));
  return started === undefined ? [interpreter] : [interpreter, started];
}

function startOf(file: string): string {
  let handle: number | null = null;
  try {
    if (!statSync(file).isFile()) return '';
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(FIRST_LINE_BYTES);
    return bytes.toString('utf8', 0, readSync(handle, bytes, 0, FIRST_LINE_BYTES, 0));
  } catch {
    return '';
  } finally {
    if (handle !== null) closeSync(handle);
  }
}

function isExecutable(path: string): boolean {
  const found = statOf(path);
  return found?.isFile() === true && (Number(found.mode) & 0o111) !== 0;
}

export function placesFor(paths: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(paths.map((path) => [path, realPath(path)]));
}

export function digestsFor(places: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(places.map((place) => [place, digestAt(place)]));
}

/** The content at a path. It never opens a file that could block. */
export function digestAt(path: string): string {
  const found = statOf(path);
  if (!found) {
    // A pattern is bound as the list of its matches, so that an added file is a difference.
    const matches = matchesOf(path);
    return matches === null || matches.length === 0 ? 'absent' : `list:${hash('sha256', matches.join('\0'))}`;
  }
  if (found.isDirectory()) return 'folder';
  if (!found.isFile()) return 'device';
  if (found.size > HASHED_BYTES_MAX) return TOO_LARGE;
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

/** A word that is too long for a file name names no file. */
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

/** Variables that are stored in clear with the request. The command runs with those stored values. */
const PLAIN = /^(?:LANG|LC_[A-Z]{1,30}|TERM|TZ)$/;
const PLAIN_CHARS_MAX = 200;
/** The home leads to the settings of many programs, so its value is bound as well. */
const HOME = 'HOME';

/** Language, terminal and time zone, without values that look like secrets. */
export function plainVariables(env: Variables): Readonly<Record<string, string>> {
  const plain: Record<string, string> = {};
  for (const name of Object.keys(env).sort()) {
    const value = env[name];
    if (value === undefined || !PLAIN.test(name) || value.length > PLAIN_CHARS_MAX) continue;
    if (scrub(value).found.length === 0) plain[name] = value;
  }
  return plain;
}

/** The names of the variables whose values are bound, in order: the home, and those passed by name. */
export function boundNames(handed: readonly string[]): readonly string[] {
  const named = handed.filter((name) => name !== 'PATH' && !PLAIN.test(name));
  return [...new Set([HOME, ...named])].sort();
}

/** The mark of each variable's value, or null if it is not set. */
export function marksOf(
  names: readonly string[],
  env: Variables,
  key: SealKey,
): Readonly<Record<string, string | null>> {
  const values = userVariables(env);
  return Object.fromEntries(
    names.map((name) => {
      const value = values[name];
      return [name, value === undefined ? null : key.mark(`env:${name}`, value)];
    }),
  );
}

/** The whole environment of a command, after its variables were compared. */
export function environmentOf(
  { path, plainEnv, envMarks }: Pick<SealedRequest, 'path' | 'plainEnv' | 'envMarks'>,
  env: Variables,
): Record<string, string> {
  const given: Record<string, string> = { ...plainEnv, PATH: path };
  const values = userVariables(env);
  for (const [name, mark] of Object.entries(envMarks)) {
    const value = values[name];
    if (mark !== null && value !== undefined) given[name] = value;
  }
  return given;
}
