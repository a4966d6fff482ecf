// The paths a tool call is about to write, as far as they can be seen: all of them for the tools that edit files, the obvious
// ones for a line of shell. Every path is absolute.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isString, type JsonObject } from '../kernel/json.ts';
import type { Invocation, Step } from './programs.ts';
import type { Word } from './shell.ts';

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
  /** Null once it cannot be seen any more where the shell stands. */
  let cwd: string | null = start;
  /** All folders it may stand in: a change of folder may fail, or be taken back. */
  const folders = new Set([start]);
  let isLost = false;
  const add = (word: Word) => {
    const path = placeOf(word, cwd, home);
    count += 1;
    if (path !== null) paths.add(path);
    const isAbsolute = word.isHome || word.text.startsWith('/');
    if (path === null || word.isOpen || (isLost && !isAbsolute)) isClear = false;
    guess(word);
  };
  const guess = (word: Word) => {
    for (const folder of folders) {
      const place = placeOf(word, folder, home);
      if (place !== null) possible.add(place);
    }
  };
  const move = (run: Invocation) => {
    cwd = afterCd(run, cwd, home);
    for (const folder of [...folders]) {
      const place = afterCd(run, folder, home);
      if (place === null || folders.size > FOLDERS_MAX) isLost = true;
      else folders.add(place);
    }
  };
  for (const { runs, writes } of steps) {
    for (const word of writes) add(word);
    for (const run of runs) {
      if (run.program === 'cd' || run.program === 'pushd') move(run);
      for (const word of argumentsWritten(run)) {
        if (run.program === 'mkdir' && existsSync(placeOf(word, cwd, home) ?? '')) continue;
        add(word);
      }
      for (const word of insideTarget(run)) guess(word);
    }
  }
  return { paths: [...paths], possible: [...possible], isClear, folders: isLost ? null : [...folders], count };
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

/** Arguments that name what is written, by program. */
function argumentsWritten({ program, args }: Invocation): readonly Word[] {
  const plain = operands(args);
  switch (program) {
    case 'tee':
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
      return writtenByGit(plain);
    default:
      return (Object.hasOwn(OUTPUTS, program) ? (OUTPUTS[program] ?? []) : []).flatMap((output) =>
        outputsOf(program, args, output),
      );
  }
}

/** How a program says with options where it writes. */
type Output = {
  /** Letters of the options that name it, which may stand behind others in a word, and the long names. */
  readonly letters: string;
  readonly long: readonly string[];
  /** Letters that take a value and name nothing that is written: the rest of their word is that value. */
  readonly values: string;
  /** The mode in which it writes there, where it has several. */
  readonly when?: RegExp;
  /** The option with which, or without any of those above, it takes the name of the file from the address. */
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
  // A dash stands for the standard output.
  return [...named, ...files].filter(({ text }) => text !== '-');
}

/** What the option in the word names: the rest of the word, or the next one. */
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

/** `tar xfC a b` as `tar -x -f a -C b`: letters without a dash take their values from the words behind them, in order. */
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

function operands(args: readonly Word[]): readonly Word[] {
  const end = args.findIndex(({ text }) => text === '--');
  const before = end === -1 ? args : args.slice(0, end);
  return [...before.filter(({ text }) => !text.startsWith('-')), ...(end === -1 ? [] : args.slice(end + 1))];
}

function targetOf(args: readonly Word[], plain: readonly Word[]): readonly Word[] {
  const flag = args.findIndex(({ text }) => text === '-t' || text === '--target-directory');
  const [named] = flag === -1 ? [] : args.slice(flag + 1);
  const inOne = args.find(({ text }) => /^(?:-t.|--target-directory=)/s.test(text));
  if (inOne) return [{ ...inOne, text: inOne.text.replace(/^(?:-t|--target-directory=)/, '') }];
  return named ? [named] : plain.slice(-1);
}

/** What is written below the last operand, if that is a folder: each source under its own name. */
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

/** The first operand is the program of the editor, unless an option gave it. */
function edited(args: readonly Word[], plain: readonly Word[]): readonly Word[] {
  const scripts = args.filter((_, index) =>
    /^(?:-[a-zA-Z]*[ef]|--expression|--file)$/.test(args[index - 1]?.text ?? ''),
  );
  return scripts.length > 0 ? plain.filter((word) => !scripts.includes(word)) : plain.slice(1);
}

function writtenByGit(plain: readonly Word[]): readonly Word[] {
  const [command, ...rest] = plain;
  return ['rm', 'mv', 'restore'].includes(command?.text ?? '') ? rest : [];
}
