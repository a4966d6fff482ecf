// What a command is made of besides its words: the programs it starts, where the paths that it names really lie, and what the
// files there hold.
import { createHash, hash } from 'node:crypto';
import { accessSync, closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import type { ProgramSeal } from '../kernel/approval/request.ts';
import { realPlace } from '../shell/real-place.ts';
import { matchesOf } from './files-read.ts';

/** To read more each time would take longer than anybody waits: what names a larger file cannot be approved. */
const HASHED_BYTES_MAX = 8 * 1_073_741_824;
export const TOO_LARGE = 'too large';
const CHUNK_BYTES = 1_048_576;
const FIRST_LINE_BYTES = 512;
const INTERPRETERS_MAX = 32;

/** The program that a word would start in a folder with this search path. */
export function programFor(word: string, cwd: string, path: string): ProgramSeal | null {
  const file = fileFor(word, cwd, path);
  return file === null ? null : { path: file, digest: digestOf(file) };
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

/** The words, and the interpreters that scripts among the programs and files name in their first lines. */
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

/** `#!/bin/sh` names one program, `#!/usr/bin/env -S A=1 node` two. */
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
