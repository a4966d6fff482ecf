// The paths that a line of shell writes, as far as they are visible: redirections, and arguments that name what a program writes.
// Every path is absolute.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { gitCommand, type Invocation, operands, type ShellStep } from './programs.ts';
import type { Word } from './read-line.ts';

type WrittenPaths = {
  readonly paths: readonly string[];
  /** Other possible paths, because the current folder after a `cd` is uncertain. */
  readonly possible: readonly string[];
  /** Whether every written path is known. */
  readonly isClear: boolean;
  /** The folders the shell may be in, or null if unknown. */
  readonly folders: readonly string[] | null;
  readonly count: number;
};

export function placesWritten(steps: readonly ShellStep[], start: string, home: string | undefined): WrittenPaths {
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

/** The folder of a shell while its line runs. A `cd` may fail, so several are possible. */
export class ShellFolder {
  readonly #home: string | undefined;
  readonly #folders: Set<string>;
  /** Null once it is unknown. */
  cwd: string | null;
  /** Whether it may be in an unknown folder. */
  isLost = false;

  constructor(start: string, home: string | undefined) {
    this.#home = home;
    this.#folders = new Set([start]);
    this.cwd = start;
  }

  /** All folders it may be in, or null if unknown. */
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

  /** The path of the word if every `cd` succeeded. Null if only the shell knows it. */
  placeOf(word: Word): string | null {
    return placeOf(word, this.cwd, this.#home);
  }

  /** Every path the word may name. Empty if only the shell knows it. */
  placesOf(word: Word): readonly string[] {
    return [...this.#folders].flatMap((folder) => placeOf(word, folder, this.#home) ?? []);
  }
}

const FOLDERS_MAX = 24;

function afterCd({ args }: Invocation, cwd: string | null, home: string | undefined): string | null {
  const [to] = args.filter(({ text }) => !text.startsWith('-'));
  return to ? placeOf(to, cwd, home) : (home ?? null);
}

/** A pattern means a file in the last folder before the pattern. */
function placeOf({ text, isPlain, isOpen, isHome }: Word, cwd: string | null, home: string | undefined): string | null {
  if (!isPlain || text === '') return null;
  // Another user's home, or a folder that only the shell remembers.
  if (isHome && (home === undefined || !/^~(?:\/|$)/.test(text))) return null;
  const path = isHome ? `${home}${text.slice(1)}` : text;
  const star = !isOpen ? -1 : path.search(/[*?[{]/);
  const clear = star === -1 ? path : path.slice(0, path.lastIndexOf('/', star) + 1) || '.';
  if (!clear.startsWith('/') && cwd === null) return null;
  return resolve(cwd ?? '/', clear);
}

/** Arguments that name what is written, by program. */
function argumentsWritten({ program, args }: Invocation): readonly Word[] {
  const plain = operands(args);
  switch (program) {
    case 'tee':
    case 'sponge':
    case 'touch':
    case 'mkdir':
    case 'rmdir':
    case 'rm':
    case 'unlink':
    case 'truncate':
    case 'shred':
    case 'mv':
      return plain;
    case 'cp':
    case 'ln':
      return targetOf(args, plain);
    case 'install':
      return args.some(({ text }) => /^(?:-[a-zA-Z]*d|--directory$)/.test(text)) ? plain : targetOf(args, plain);
    case 'rsync':
      return plain.slice(-1);
    case 'chmod':
    case 'chown':
      return plain.slice(1);
    case 'sed':
    case 'perl':
      return args.some(({ text }) => /^(?:-[a-zA-Z]*i|--in-place)/.test(text)) ? edited(args, plain) : [];
    case 'dd':
      return args.filter(({ text }) => text.startsWith('of=')).map((word) => ({ ...word, text: word.text.slice(3) }));
    case 'git':
      return writtenByGit(args);
    case 'patch':
      return patched(args);
    default:
      return (Object.hasOwn(OUTPUTS, program) ? (OUTPUTS[program] ?? []) : []).flatMap((output) =>
        outputsOf(program, args, output),
      );
  }
}

/** The options that name what a program writes. */
type Output = {
  /** Option letters that name it, also after other letters, and the long names. */
  readonly letters: string;
  readonly long: readonly string[];
  /** Letters that take another value. The rest of their word is that value. */
  readonly values: string;
  /** The mode in which it writes, if it has several. */
  readonly when?: RegExp;
  /** The option with which the file name comes from the address. `else`: whenever no option names a file. */
  readonly byAddress?: RegExp | 'else';
};
const OUTPUTS: Readonly<Record<string, readonly Output[]>> = {
  curl: [
    {
      letters: 'oDc',
      long: ['--output', '--output-dir', '--dump-header', '--cookie-jar', '--trace', '--trace-ascii', '--stderr'],
      values: 'AbCdeEFHKmPQrtTuUwxXyYz',
      byAddress: /^(?:-[a-zA-Z#]*O|--remote-name(?:-all)?$)/,
    },
  ],
  wget: [
    {
      letters: 'OPoa',
      long: ['--output-document', '--directory-prefix', '--output-file', '--append-output'],
      values: 'eiBtTwQUlARDIX',
      byAddress: 'else',
    },
  ],
  tar: [
    { letters: 'C', long: ['--directory'], values: 'fTXbIVLNgH', when: /^(?:-[a-zA-Z]*x|--extract$|--get$)/ },
    {
      letters: 'f',
      long: ['--file'],
      values: 'CTXbIVLNgH',
      when: /^(?:-[a-zA-Z]*[cruA]|--create$|--append$|--update$)/,
    },
  ],
  unzip: [{ letters: 'd', long: [], values: 'xP' }],
  sort: [{ letters: 'o', long: ['--output'], values: 'kStT' }],
};

function outputsOf(program: string, written: readonly Word[], output: Output): readonly Word[] {
  const args = program === 'tar' ? dashed(written, output) : written;
  if (output.when && !args.some(({ text }) => output.when?.test(text))) return [];
  const named = args.flatMap((word, at) => valueIn(word, args[at + 1], output));
  const { byAddress } = output;
  const isByAddress = byAddress === 'else' ? named.length === 0 : args.some(({ text }) => byAddress?.test(text));
  const addresses = isByAddress ? operands(args).filter(({ text }) => text.includes('/')) : [];
  const files = addresses.map((word) => ({ ...word, text: nameInAddress(word.text) }));
  // A dash is standard output.
  return [...named, ...files].filter(({ text }) => text !== '-');
}

/** The value of the option in the word: the rest of the word, or the next word. */
function valueIn(word: Word, next: Word | undefined, { letters, long, values }: Output): readonly Word[] {
  const { text } = word;
  const following = next ? [next] : [];
  if (text.startsWith('--')) {
    const equals = text.indexOf('=');
    if (!long.includes(equals === -1 ? text : text.slice(0, equals))) return [];
    return equals === -1 ? following : [{ ...word, text: text.slice(equals + 1) }];
  }
  if (!text.startsWith('-')) return [];
  for (let at = 1; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (letters.includes(letter)) return at + 1 < text.length ? [{ ...word, text: text.slice(at + 1) }] : following;
    if (values.includes(letter)) return [];
  }
  return [];
}

/** Reads `tar xfC a b` as `tar -x -f a -C b`: letters without a dash take their values from the next words, in order. */
function dashed([first, ...rest]: readonly Word[], { letters, values }: Output): readonly Word[] {
  if (!first || !/^[a-zA-Z]+$/.test(first.text)) return first ? [first, ...rest] : rest;
  const options = [...first.text].flatMap((letter) => {
    const value = `${letters}${values}`.includes(letter) ? rest.shift() : undefined;
    return [{ ...first, text: `-${letter}` }, ...(value ? [value] : [])];
  });
  return [...options, ...rest];
}

function nameInAddress(address: string): string {
  const path = address.replace(/[?#].*$/s, '').replace(/^[a-z]+:\/\/[^/]*/, '');
  return path.slice(path.lastIndexOf('/') + 1) || 'index.html';
}

function targetOf(args: readonly Word[], plain: readonly Word[]): readonly Word[] {
  const flag = args.findIndex(({ text }) => text === '-t' || text === '--target-directory');
  const [named] = flag === -1 ? [] : args.slice(flag + 1);
  const inOne = args.find(({ text }) => /^(?:-t.|--target-directory=)/s.test(text));
  if (inOne) return [{ ...inOne, text: inOne.text.replace(/^(?:-t|--target-directory=)/, '') }];
  return named ? [named] : plain.slice(-1);
}

/** If the last operand is a folder, each source is written into it under its own name. */
function insideTarget({ program, args }: Invocation): readonly Word[] {
  if (!['cp', 'mv', 'ln', 'install', 'rsync'].includes(program)) return [];
  const plain = operands(args);
  const target = plain.at(-1);
  if (!target) return [];
  return plain
    .slice(0, -1)
    .filter(({ isPlain, isOpen }) => isPlain && !isOpen)
    .map(({ text }) => ({ ...target, text: `${target.text}/${text.slice(text.lastIndexOf('/') + 1)}` }));
}

/** The first operand is the editing script, unless an option gives the script. */
function edited(args: readonly Word[], plain: readonly Word[]): readonly Word[] {
  const scripts = args.filter((_, index) =>
    /^(?:-[a-zA-Z]*[ef]|--expression|--file)$/.test(args[index - 1]?.text ?? ''),
  );
  return scripts.length > 0 ? plain.filter((word) => !scripts.includes(word)) : plain.slice(1);
}

function writtenByGit(args: readonly Word[]): readonly Word[] {
  const { folders, command, rest } = gitCommand(args);
  return below(folders, namedToGit(command, rest));
}

function namedToGit(command: string, args: readonly Word[]): readonly Word[] {
  if (command === 'rm' || command === 'mv') return operands(args);
  if (command === 'restore') return operands(withoutValues(args, ['-s', '--source']));
  if (command !== 'checkout') return [];
  const end = args.findIndex(({ text }) => text === '--');
  if (end !== -1) return args.slice(end + 1);
  if (args.some(({ text }) => /^(?:-[a-zA-Z]*[bBt]|--orphan|--track)/.test(text))) return [];
  // The first operand may be a branch or commit, unless it begins like a path.
  return operands(args).filter(({ text }, index) => index > 0 || /^[./~]/.test(text));
}

const PATCH: Output = {
  ...{ letters: 'or', long: ['--output', '--reject-file'], values: 'BDFVYdgipz' },
};
const PATCH_FOLDER: Output = { letters: 'd', long: ['--directory'], values: 'BDFVYgioprz' };

/** The named file. Without one, only the patch says what changes, somewhere in the folder. */
function patched(args: readonly Word[]): readonly Word[] {
  if (args.some(({ text }) => text === '--dry-run' || text === '-C' || text === '--check')) return [];
  const folders = outputsOf('patch', args, PATCH_FOLDER);
  const outputs = outputsOf('patch', args, PATCH);
  const [file] = operands(withoutValues(args, PATCH_OPTIONS));
  const named = [...outputs, ...(file ? [file] : [])];
  return named.length > 0 ? below(folders, named) : folders;
}

const PATCH_OPTIONS = [
  ...[...'BDFVYdgioprz'].map((letter) => `-${letter}`),
  ...['--output', '--reject-file', '--directory', '--input', '--strip', '--fuzz', '--ifdef', '--prefix', '--suffix'],
];

/** Without the separate values of these options. */
function withoutValues(args: readonly Word[], options: readonly string[]): readonly Word[] {
  const end = args.findIndex(({ text }) => text === '--');
  return args.filter((_, at) => (end !== -1 && at > end) || !options.includes(args[at - 1]?.text ?? ''));
}

/** Paths relative to the folders that the program enters first, in order. */
function below(folders: readonly Word[], words: readonly Word[]): readonly Word[] {
  if (folders.length === 0) return words;
  const from = folders.findLastIndex(isWhole);
  const way = folders.slice(Math.max(0, from));
  const folder = way.map(({ text }) => text).join('/');
  // Longer than any path, so nothing is there.
  const isPlain = way.every((word) => word.isPlain) && folder.length <= PATH_CHARS_MAX;
  const isOpen = way.some((word) => word.isOpen);
  const isHome = way[0]?.isHome === true;
  return words.map((word) => {
    if (isWhole(word)) return word;
    if (!isPlain) return { ...word, isPlain };
    return { ...word, text: `${folder}/${word.text}`, isOpen: isOpen || word.isOpen, isHome };
  });
}

const PATH_CHARS_MAX = 4_096;

/** Whether the word is absolute or begins with a home. */
function isWhole({ text, isHome }: Word): boolean {
  return isHome || text.startsWith('/');
}
