// The paths a tool call is about to write, as far as they can be seen: all of them for the tools that edit files, the obvious
// ones for a line of shell. Every path is absolute.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isString, type JsonObject } from '../kernel/json.ts';
import type { Invocation, Step } from './programs.ts';
import type { Word } from './shell.ts';
import { argumentsWritten, insideTarget } from './written-arguments.ts';

/** The member of a tool's input that names the file it writes. */
const FILE_MEMBERS: Readonly<Record<string, string>> = {
  Write: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
};

export function isFileTool(tool: string): boolean {
  return Object.hasOwn(FILE_MEMBERS, tool);
}

/** Null where the input does not say which file: such a call is not let through. */
export function fileWritten(tool: string, input: JsonObject, cwd: string): string | null {
  const path = input[FILE_MEMBERS[tool] ?? ''];
  return isString(path) && path.trim() !== '' ? resolve(cwd, path) : null;
}

export function pathsWritten(steps: readonly Step[], start: string, home: string | undefined): readonly string[] {
  return placesWritten(steps, start, home).paths;
}

export type Written = {
  readonly paths: readonly string[];
  /** Where they may lie as well, because it is not certain in which of the folders it goes to the shell stands. */
  readonly possible: readonly string[];
  /** Whether every word that names what is written could be understood. */
  readonly isClear: boolean;
  /** The folders that the shell may stand in at some time; null where that cannot be seen. */
  readonly folders: readonly string[] | null;
  readonly count: number;
};

export function placesWritten(steps: readonly Step[], start: string, home: string | undefined): Written {
  const [paths, possible] = [new Set<string>(), new Set<string>()];
  let [isClear, count] = [true, 0];
  const shell = new ShellFolder(start, home);
  const add = (word: Word) => {
    const path = placeOf(word, shell.cwd, home);
    count += 1;
    if (path !== null) paths.add(path);
    const isAbsolute = word.isHome || word.text.startsWith('/');
    if (path === null || word.isOpen || (shell.isLost && !isAbsolute)) isClear = false;
    guess(word);
  };
  const guess = (word: Word) => {
    for (const place of shell.placesOf(word)) possible.add(place);
  };
  for (const { runs, writes } of steps) {
    for (const word of writes) add(word);
    for (const run of runs) {
      shell.follow(run);
      for (const word of argumentsWritten(run)) {
        if (run.program === 'mkdir' && existsSync(placeOf(word, shell.cwd, home) ?? '')) continue;
        add(word);
      }
      for (const word of insideTarget(run)) guess(word);
    }
  }
  return { paths: [...paths], possible: [...possible], isClear, folders: shell.folders, count };
}

/** The folder a shell is in while its line runs. A change of folder may fail, so several are possible. */
export class ShellFolder {
  readonly #home: string | undefined;
  readonly #folders: Set<string>;
  /** Null once it cannot be seen any more. */
  cwd: string | null;
  /** Whether there may be folders that are not known here. */
  isLost = false;

  constructor(start: string, home: string | undefined) {
    this.#home = home;
    this.#folders = new Set([start]);
    this.cwd = start;
  }

  /** All folders it may be in; null where that cannot be seen. */
  get folders(): readonly string[] | null {
    return this.isLost ? null : [...this.#folders];
  }

  follow(run: Invocation): void {
    if (run.program !== 'cd' && run.program !== 'pushd') return;
    this.cwd = afterCd(run, this.cwd, this.#home);
    for (const folder of [...this.#folders]) {
      const place = afterCd(run, folder, this.#home);
      if (place === null || this.#folders.size > FOLDERS_MAX) this.isLost = true;
      else this.#folders.add(place);
    }
  }

  /** The place that the word names if every change of folder went well; null where only the shell knows it. */
  placeOf(word: Word): string | null {
    return placeOf(word, this.cwd, this.#home);
  }

  /** Every known place that the word may name; none where only the shell knows it. */
  placesOf(word: Word): readonly string[] {
    return [...this.#folders].flatMap((folder) => placeOf(word, folder, this.#home) ?? []);
  }
}

const FOLDERS_MAX = 24;

function afterCd({ args }: Invocation, cwd: string | null, home: string | undefined): string | null {
  const [to] = args.filter(({ text }) => !text.startsWith('-'));
  return to ? placeOf(to, cwd, home) : (home ?? null);
}

/** A pattern stands for something in the last folder that is named without one. */
function placeOf({ text, isPlain, isOpen, isHome }: Word, cwd: string | null, home: string | undefined): string | null {
  if (!isPlain || text === '') return null;
  // The home of another, or a folder that only the shell remembers.
  if (isHome && (home === undefined || !/^~(?:\/|$)/.test(text))) return null;
  const path = isHome ? `${home}${text.slice(1)}` : text;
  const star = !isOpen ? -1 : path.search(/[*?[{]/);
  const clear = star === -1 ? path : path.slice(0, path.lastIndexOf('/', star) + 1) || '.';
  if (!clear.startsWith('/') && cwd === null) return null;
  return resolve(cwd ?? '/', clear);
}
