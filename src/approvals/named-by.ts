// The programs and files that a command names, as far as its words show. A word that may be a file name counts as one, because
// an approved command must not read anything else later.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Invocation, type ShellStep, shellLine, stepsOf } from '../shell/programs.ts';
import type { Word } from '../shell/read-line.ts';
import { placesWritten } from '../shell/written-paths.ts';
import { filesRead, matchesOf } from './files-read.ts';

const NAMES_MAX = 512;
const NAME_CHARS_MAX = 4_096;
const PARTS_MAX = 24;
const FOLDERS_MAX = 24;
const MENTIONS_MAX = 5_000;
const LOOKS_MAX = 100_000;
const NESTED_MAX = 2;
const ENDS_MAX = 8;

type NamedFiles = {
  /** The words that name programs. */
  readonly programs: readonly string[];
  /** Absolute paths, as named, whose contents are bound. */
  readonly inputs: readonly string[];
  /** Paths that the command only writes. Their real paths are bound, not their contents. */
  readonly outputs: readonly string[];
  /** False if it names more than can be bound. */
  readonly isWhole: boolean;
};

/** `more` are paths from the request itself. */
export function filesNamedBy(
  argv: readonly string[],
  cwd: string,
  home: string | undefined,
  more: readonly string[],
): NamedFiles {
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
  const mentioned = mentionedIn(argv, home === undefined ? places : [...places, home]);
  for (const path of mentioned ?? []) if (!written.includes(path)) paths.add(path);
  const besides = filesRead(runs, places, home);
  for (const path of besides.paths) paths.add(path);
  isWhole &&= mentioned !== null && besides.isWhole && paths.size <= NAMES_MAX;
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

/** The arguments of a program, without those that it only writes. */
function readBy({ program, args }: Invocation): readonly Word[] {
  if (program === 'tee') return [];
  if (program === 'cp') return args.slice(0, -1);
  return args;
}

/** Everything that is written. The caller removes what is also read. */
function onlyWritten(steps: readonly ShellStep[], cwd: string, home: string | undefined): readonly string[] {
  const { paths, possible } = placesWritten(steps, cwd, home);
  return [...new Set([...paths, ...possible])];
}

/** The folders that the shell may be in: each target of `cd`, seen from each folder before it. */
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

/** The word itself and each part that may name a file: an option's value, an entry of a list. */
function partsOf(word: string): readonly string[] {
  const found = new Set([word]);
  if (/^-[A-Za-z]./.test(word)) found.add(word.slice(2));
  // A word with blanks is a text, not a list of names.
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

/** The existing files that any part of the words names, because programs have languages of their own. Null if there are too many. */
function mentionedIn(argv: readonly string[], folders: readonly string[]): readonly string[] | null {
  const words = argv.slice(1);
  // The shell may put an unknown text before a name. So any part of a path counts as a name, in any folder.
  const isExpanded = words.some((text) => /[$`~]/.test(text));
  const names = new Set<string>();
  for (const text of words) {
    for (const name of namesIn(text)) {
      if (name.length > NAME_CHARS_MAX) continue;
      for (const one of isExpanded ? partsOfPath(name) : [name]) names.add(one);
      if (/^-[A-Za-z]./.test(name)) names.add(name.slice(2));
      if (names.size > MENTIONS_MAX) return null;
    }
  }
  const pathsIn = (from: Iterable<string>) =>
    [...from].flatMap((folder) => [...names].map((name) => resolve(folder, name)));
  const places = new Set(folders);
  // A named folder may lie in another named folder.
  for (let round = 0; isExpanded && round < NESTED_MAX; round++) {
    for (const path of pathsIn(places)) if (kindOf(path) === 'folder') places.add(path);
    if (places.size > FOLDERS_MAX * 2 || places.size * names.size > LOOKS_MAX) return null;
  }
  return pathsIn(places).filter((path) => kindOf(path) === 'file');
}

/** File name characters, anything up to a blank or shell sign, and quoted text. */
const NAMES: readonly RegExp[] = [
  /[\p{L}\p{M}\p{N}_./-]+/gu,
  /[^\s"'`;|&<>()${}=]+/g,
  /(?<=")[^"\n]{1,255}(?=")/g,
  /(?<=')[^'\n]{1,255}(?=')/g,
];

function namesIn(text: string): readonly string[] {
  return NAMES.flatMap((names) => text.match(names) ?? []);
}

/** For `a/b/c`: the ends `b/c` and `c`, and the folders `a` and `a/b`. */
function partsOfPath(name: string): readonly string[] {
  const parts = name.split('/').slice(-ENDS_MAX);
  const ends = parts.map((_, index) => parts.slice(index).join('/'));
  const folders = parts.map((_, index) => parts.slice(0, index).join('/'));
  return [name, ...ends, ...folders].filter((part) => part !== '');
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
