// What a command names, as far as its words show it: programs, files it reads, files it only writes. A word that may name a
// file is taken for one, because what was approved must not read anything else by then.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Invocation, type Step, stepsOf } from '../hooks/programs.ts';
import type { Word } from '../hooks/shell.ts';
import { placesWritten } from '../hooks/written-paths.ts';
import { matchesOf } from './patterns.ts';
import { shellLine } from './shell-words.ts';

const NAMES_MAX = 512;
const NAME_CHARS_MAX = 4_096;
const PARTS_MAX = 24;
const FOLDERS_MAX = 24;
const MENTIONS_MAX = 400;
const ENDS_MAX = 8;
const MENTIONS_CHARS_MAX = 65_536;

export type Named = {
  /** The words that name programs. */
  readonly programs: readonly string[];
  /** Paths, absolute and as they are named, of which what lies there is bound. */
  readonly inputs: readonly string[];
  /** Paths that the command writes: where they lead is bound, and not what is there. */
  readonly outputs: readonly string[];
  /** False where it names more than can be bound. */
  readonly isWhole: boolean;
};

/** `more` are paths that the request names besides. */
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
  const folders = foldersOf(runs, cwd, home);
  const isCertain = read.ok && read.doubt === null;
  const words = [
    ...(isCertain ? [] : argv.slice(1).map(unquoted)),
    ...runs.flatMap((run) => [...(run.named.includes('/') ? [unquoted(run.named)] : []), ...readBy(run)]),
    ...steps.flatMap(({ reads }) => reads),
    ...more.map(unquoted),
  ];
  let isWhole = folders.length <= FOLDERS_MAX;
  const paths = new Set<string>();
  for (const word of words) {
    const parts = partsOf(word.text);
    isWhole &&= parts.length <= PARTS_MAX;
    for (const part of parts.slice(0, PARTS_MAX)) {
      for (const folder of folders.slice(0, FOLDERS_MAX)) {
        const path = resolve(folder, withHome(part, home));
        paths.add(path);
        const matches = word.isOpen ? matchesOf(path) : [];
        isWhole &&= matches !== null || !word.isOpen || !/[*?[{]/.test(path);
        for (const match of matches ?? []) paths.add(match);
      }
      if (paths.size > NAMES_MAX) isWhole = false;
      if (!isWhole) break;
    }
    if (!isWhole) break;
  }
  const places = folders.slice(0, FOLDERS_MAX);
  const written = onlyWritten(steps, cwd, home);
  for (const path of mentionedIn(argv, home === undefined ? places : [...places, home]))
    if (!written.includes(path)) paths.add(path);
  isWhole &&= paths.size <= NAMES_MAX;
  const outputs = written.filter((path) => !paths.has(path));
  return {
    programs: [...new Set([program, ...runs.filter((run) => run.isPlain).map((run) => run.named)])],
    inputs: [...paths].slice(0, NAMES_MAX),
    outputs: outputs.slice(0, NAMES_MAX),
    isWhole: isWhole && outputs.length <= NAMES_MAX,
  };
}

function unquoted(text: string): Word {
  return { text, isPlain: true, isQuoted: false, isOpen: false, isHome: false };
}

/** The arguments of a program without those that it does nothing with but write. */
function readBy({ program, args }: Invocation): readonly Word[] {
  if (program === 'tee') return [];
  if (program === 'cp') return args.slice(0, -1);
  return args;
}

/** Everything that is written; what something else names as well is taken out by whoever asks. */
function onlyWritten(steps: readonly Step[], cwd: string, home: string | undefined): readonly string[] {
  const { paths, possible } = placesWritten(steps, cwd, home);
  return [...new Set([...paths, ...possible])];
}

/** Where the shell may stand by the time it comes to a word: every folder it goes to, from every one it may be in. */
function foldersOf(runs: readonly Invocation[], cwd: string, home: string | undefined): readonly string[] {
  const folders = new Set([cwd]);
  for (const { program, args } of runs) {
    const to = movesTo(program, args);
    if (to === null) continue;
    for (const folder of [...folders]) {
      if (folders.size > FOLDERS_MAX) break;
      folders.add(resolve(folder, withHome(to, home)));
    }
  }
  return [...folders];
}

function movesTo(program: string, args: readonly Word[]): string | null {
  if (program === 'cd' || program === 'pushd') return args.find(({ text }) => !text.startsWith('-'))?.text ?? null;
  const at = args.findIndex(({ text }) => /^(?:-C|--chdir|--directory|-chdir)$/.test(text));
  if (at !== -1) return args[at + 1]?.text ?? null;
  const inOne = args.find(({ text }) => /^(?:-C|--chdir=|--directory=|-chdir=)./.test(text))?.text;
  return inOne === undefined ? null : inOne.replace(/^(?:-C|--chdir=|--directory=|-chdir=)/, '');
}

/** The word itself and everything in it that may name a file: a value in the word of its option, a part of a list. */
function partsOf(word: string): readonly string[] {
  const found = new Set([word]);
  if (/^-[A-Za-z]./.test(word)) found.add(word.slice(2));
  // What holds blanks is a text rather than a list of names.
  if (!/\s/.test(word) && word.length <= NAME_CHARS_MAX) {
    for (const match of word.matchAll(/[=,:@]/g)) found.add(word.slice(match.index + 1));
    for (const part of word.split(/[=,:@]/)) found.add(part);
  }
  const file = /^(?:[\w.-]{1,100}=)?(?:@|fileb?:\/\/)(.+)$/s.exec(word)?.[1];
  if (file !== undefined) found.add(file);
  for (const part of [...found]) {
    const inUrl = /^\/\/(.+)$/.exec(part)?.[1];
    if (inUrl !== undefined) found.add(inUrl);
  }
  return [...found].filter((part) => part !== '' && part.length <= NAME_CHARS_MAX && !part.includes('\0'));
}

/**
 * The files that are there and named anywhere in the words, whatever stands around their names: programs have languages of
 * their own for that. What is not there is no file by its name alone.
 */
function mentionedIn(argv: readonly string[], folders: readonly string[]): readonly string[] {
  const words = argv.slice(1).map((word) => word.slice(0, MENTIONS_CHARS_MAX));
  // What the shell puts before a name cannot be seen here, so that any end of a path may be the name, in any folder.
  const isExpanded = words.some((text) => /[$`~]/.test(text));
  const names = new Set<string>();
  for (const text of words) {
    for (const [quoted] of text.matchAll(QUOTED)) if (quoted.includes(' ')) names.add(quoted);
    for (const [name] of text.matchAll(NAME)) {
      for (const one of isExpanded ? endsOf(name) : [name]) names.add(one);
      if (/^-[A-Za-z]./.test(name)) names.add(name.slice(2));
      if (names.size > MENTIONS_MAX) break;
    }
  }
  const paths = (from: readonly string[]) => from.flatMap((folder) => [...names].map((name) => resolve(folder, name)));
  const below = isExpanded ? paths(folders).filter((path) => kindOf(path) === 'folder') : [];
  const places = new Set([...folders, ...below.slice(0, FOLDERS_MAX)]);
  return paths([...places]).filter((path) => kindOf(path) === 'file');
}

/** What stands in quotes within a word: a name may hold blanks there. */
const QUOTED = /(?<=(["']))([^"'\n]{1,255})(?=\1)/g;
/** A run of what names of files are made of. */
const NAME = /[\p{L}\p{M}\p{N}_./-]+/gu;

/** `a/b/c`, `b/c` and `c`. */
function endsOf(name: string): readonly string[] {
  const parts = name.split('/').slice(-ENDS_MAX);
  return [name, ...parts.map((_, index) => parts.slice(index).join('/'))].filter((end) => end !== '');
}

function kindOf(path: string): 'file' | 'folder' | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() ? 'file' : found?.isDirectory() ? 'folder' : null;
  } catch {
    return null;
  }
}

function withHome(path: string, home: string | undefined): string {
  return home !== undefined && /^~(?:\/|$)/.test(path) ? `${home}${path.slice(1)}` : path;
}
