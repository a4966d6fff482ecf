// The programs that a line of shell runs, including those behind `sudo`, `env` or `xargs`, and lines for another shell. Only
// a line that is a single plain command becomes words.
import { readShell, type ShellCommand, type Word } from './read-line.ts';

export type Invocation = {
  /** The name of the program without its folder. */
  readonly program: string;
  /** As written. */
  readonly named: string;
  /** False if only the shell knows the program. */
  readonly isPlain: boolean;
  readonly args: readonly Word[];
};

/** One step of a line: programs, and files in redirections. */
export type ShellStep = {
  readonly runs: readonly Invocation[];
  readonly writes: readonly Word[];
  readonly reads: readonly Word[];
  /** The variables that it sets for itself or for later steps. */
  readonly assigns: readonly string[];
};
type ShellSteps =
  | {
      readonly ok: true;
      readonly steps: readonly ShellStep[];
      /** Why a shell may read it differently, or null. */
      readonly doubt: string | null;
    }
  | { readonly ok: false; readonly why: string };

export const SHELLS = ['sh', 'bash', 'zsh', 'dash', 'ksh', 'ash'];
/**
 * Programs that run a command in their arguments: the option letters that take a value, the options without a value that do
 * not change the command, and the number of operands before it. With any other option, the command is uncertain.
 */
type Wrapper = { readonly values: string; readonly alone: RegExp; readonly own: number };
const NONE = /^$/;
export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: { values: 'ug', alone: /^-[nEHS]$/, own: 0 },
  doas: { values: 'u', alone: /^-n$/, own: 0 },
  env: { values: 'u', alone: /^(?:-i|-|--ignore-environment)$/, own: 0 },
  command: { values: '', alone: /^-p$/, own: 0 },
  builtin: { values: '', alone: NONE, own: 0 },
  exec: { values: '', alone: NONE, own: 0 },
  nohup: { values: '', alone: NONE, own: 0 },
  nice: { values: 'n', alone: /^-n?-?[0-9]{1,3}$|^--adjustment=-?[0-9]{1,3}$/, own: 0 },
  ionice: { values: 'cn', alone: /^-c[0-3]$|^-n[0-7]$/, own: 0 },
  stdbuf: { values: 'ioe', alone: /^-[ioe][0-9L][0-9KM]{0,6}$/, own: 0 },
  timeout: {
    values: 'ks',
    alone: /^(?:-v|--verbose|--foreground|--preserve-status|--(?:signal|kill-after)=\w+|-k[0-9]+[smhd]?)$/,
    own: 1,
  },
  time: { values: '', alone: /^-[pv]$/, own: 0 },
  xargs: {
    values: 'nPLs',
    alone: /^(?:-0|--null|-r|--no-run-if-empty|-t|--verbose|-x|-[nPL][0-9]{1,6})$/,
    own: 0,
  },
  setsid: { values: '', alone: /^(?:-w|--wait)$/, own: 0 },
  busybox: { values: '', alone: NONE, own: 0 },
  watch: { values: 'n', alone: /^-[dtn][0-9]*$/, own: 0 },
  flock: { values: 'w', alone: /^(?:-n|-x|-s|--nonblock)$/, own: 1 },
  parallel: { values: 'j', alone: /^-j[0-9]+$/, own: 0 },
};
/** Option letters that take the next word, but with unknown effect on the command. */
const ALSO_VALUES: Readonly<Record<string, string>> = {
  sudo: 'hpCTUrtDR',
  doas: 'C',
  env: 'CSa',
  exec: 'a',
  ionice: 'pPu',
  time: 'fo',
  xargs: 'IdaE',
  flock: 'E',
  parallel: 'IaN',
};
/** Programs that add words from their input to the command. */
const FED = ['xargs', 'parallel'];
const UNSEEN: Word = { text: '', isPlain: false, isQuoted: false, isOpen: true, isHome: false };
/** An uncertain command. */
const HIDDEN: Invocation = { program: '', named: '', isPlain: false, args: [] };
const SETTERS = ['export', 'declare', 'typeset', 'readonly', 'local'];
const FIND_RUNS = ['-exec', '-execdir', '-ok', '-okdir'];
/** Nested programs in one command. */
const RUNS_MAX = 100;
/** Nested shells. */
const NESTED_MAX = 8;

export function stepsOf(line: string, nested = 0): ShellSteps {
  if (nested > NESTED_MAX) return { ok: false, why: 'it nests too many shells' };
  const read = readShell(line);
  if (!read.ok) return read;
  const steps: ShellStep[] = [];
  let { doubt } = read;
  for (const command of read.commands) {
    const budget: Budget = { left: RUNS_MAX, assigns: [] };
    const runs = invocationsOf(command.words, budget);
    if (budget.left <= 0) return { ok: false, why: 'it nests too many programs' };
    const { words, writes, reads } = command;
    steps.push({ runs, writes, reads, assigns: [...budget.assigns, ...setBy(words, runs)] });
    for (const inner of linesFor(command, runs)) {
      const within = stepsOf(inner, nested + 1);
      if (!within.ok) return within;
      doubt ??= within.doubt;
      steps.push(...within.steps);
    }
  }
  return { ok: true, steps, doubt };
}

/** How many programs may still be read, and the variables set so far. */
type Budget = { left: number; readonly assigns: string[] };

/** The program itself and those behind it. */
function invocationsOf(words: readonly Word[], budget: Budget): readonly Invocation[] {
  budget.left -= 1;
  if (budget.left <= 0) return [];
  const from = words.findIndex(({ text }) => !isAssignment(text));
  note(words.slice(0, from === -1 ? undefined : from), budget);
  if (from === -1) return [];
  const own = invocationAt(words, from);
  return [own, ...behind(own, words[from]?.isPlain === true, budget)];
}

function behind({ program, args }: Invocation, isPlain: boolean, budget: Budget): readonly Invocation[] {
  if (program === 'find') {
    return args.flatMap(({ text }, index) =>
      FIND_RUNS.includes(text) && budget.left > 0 ? invocationsOf(upToEnd(args.slice(index + 1)), budget) : [],
    );
  }
  // A word that only the shell knows may be any program, or nothing.
  const wrapper = isPlain ? (Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined) : WRAPPERS.command;
  if (!wrapper) return [];
  // This only prints what the word would start.
  if (program === 'command' && /^-[vV]$/.test(args[0]?.text ?? '')) return [];
  const { at, isCertain } = firstOperand(args, wrapper, ALSO_VALUES[program] ?? '');
  note(args.slice(0, at), budget);
  const inner = args.slice(at + wrapper.own);
  const found = invocationsOf(FED.includes(program) && inner.length > 0 ? [...inner, UNSEEN] : inner, budget);
  // The shell may split an unknown operand into several words, and so start another program.
  const isOwnSeen = args.slice(at, at + wrapper.own).every((word) => word.isPlain && !word.isOpen);
  return isCertain && isOwnSeen ? found : [...found, HIDDEN];
}

/** The words of the program that `find` runs. `{}` is an unknown path. */
function upToEnd(words: readonly Word[]): readonly Word[] {
  const end = words.findIndex(({ text }, at) => text === ';' || (text === '+' && words[at - 1]?.text === '{}'));
  return words
    .slice(0, end === -1 ? undefined : end)
    .map((word) => (word.text.includes('{}') ? { ...word, isPlain: false } : word));
}

function note(words: readonly Word[], { assigns }: Budget): void {
  for (const { text } of words) if (isAssignment(text)) assigns.push(nameIn(text));
}

function nameIn(text: string): string {
  return text.slice(0, text.indexOf('=')).replace(/\+$/, '');
}

/** The variables that a shell builtin sets, or the variable of a loop. */
function setBy(words: readonly Word[], runs: readonly Invocation[]): readonly string[] {
  const loop = words[0]?.text === 'for' && words[1] ? [words[1].text] : [];
  const set = runs
    .filter(({ program }) => SETTERS.includes(program))
    .flatMap(({ args }) => args.filter(({ text }) => isAssignment(text)).map(({ text }) => nameIn(text)));
  return [...loop, ...set];
}

/** Where options, their values and assignments end, and whether all of them are known. */
function firstOperand(
  args: readonly Word[],
  { values, alone }: Wrapper,
  more: string,
): { readonly at: number; readonly isCertain: boolean } {
  let isCertain = true;
  for (let at = 0; at < args.length; at += 1) {
    const { text = '', isPlain = false } = args[at] ?? {};
    if (text === '--') return { at: at + 1, isCertain };
    if (isAssignment(text)) continue;
    if (!text.startsWith('-')) return { at, isCertain };
    const letter = text.length === 2 ? (text[1] ?? '') : '';
    const isKnown = letter !== '' && values.includes(letter);
    isCertain &&= isPlain && (isKnown || alone.test(text));
    // The value may be in the same word. The shell may split an unknown value into several words.
    if (isKnown || (letter !== '' && more.includes(letter))) {
      at += 1;
      isCertain &&= args[at]?.isPlain !== false && args[at]?.isOpen !== true;
    }
  }
  return { at: args.length, isCertain };
}

function isAssignment(text: string): boolean {
  return /^[A-Za-z_]\w*\+?=/.test(text);
}

function invocationAt(words: readonly Word[], index: number): Invocation {
  const { text = '', isPlain = false } = words[index] ?? {};
  return { program: text.slice(text.lastIndexOf('/') + 1), named: text, isPlain, args: words.slice(index + 1) };
}

/** The lines that the command gives to a shell. */
function linesFor({ input }: ShellCommand, runs: readonly Invocation[]): readonly string[] {
  return runs.flatMap(({ program, args }) => {
    if (program === 'eval') return [args.map(({ text }) => text).join(' ')];
    if (!SHELLS.includes(program)) return [];
    const flag = args.findIndex(({ text }) => /^-[a-z]*c[a-z]*$/.test(text));
    const line = flag === -1 ? undefined : args.slice(flag + 1).find(({ text }) => !text.startsWith('-'));
    return [...(line ? [line.text] : []), ...(input === null ? [] : [input])];
  });
}

/** The arguments that are not options, and all arguments after `--`. */
export function operands(args: readonly Word[]): readonly Word[] {
  const end = args.findIndex(({ text }) => text === '--');
  const before = end === -1 ? args : args.slice(0, end);
  return [...before.filter(({ text }) => !text.startsWith('-')), ...(end === -1 ? [] : args.slice(end + 1))];
}

/** Git options before the command that take the next word. */
const GIT_VALUES = ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--super-prefix', '--config-env'];

/** The command of git, its arguments, and the folders of `-C` before it. */
export function gitCommand(args: readonly Word[]): {
  readonly folders: readonly Word[];
  readonly command: string;
  readonly rest: readonly Word[];
} {
  let at = 0;
  const folders: Word[] = [];
  for (let word = args[at]; word?.text.startsWith('-'); word = args[at]) {
    const value = GIT_VALUES.includes(word.text) ? args[at + 1] : undefined;
    if (word.text === '-C' && value) folders.push(value);
    at += value ? 2 : 1;
  }
  const [command, ...rest] = args.slice(at);
  return { folders, command: command?.text ?? '', rest };
}

/** Keywords and builtins that only a shell can run. */
const SHELL_ONLY = new Set(
  'if then elif else fi for while until do done case esac in select function time coproc cd pushd popd export declare typeset local readonly alias unalias eval exec source . set unset shift trap ulimit umask wait read return exit break continue jobs fg bg let shopt hash getopts builtin command type'.split(
    ' ',
  ),
);
const PLAIN = /[A-Za-z0-9_@%+=:,./-]/;
const CHARS_MAX = 65_536;

/** The words of one plain command, split as a shell splits them. Null if the line needs a shell. */
export function plainWords(line: string): readonly string[] | null {
  if (line.length > CHARS_MAX) return null;
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? '';
    if (char === ' ' || char === '\t') {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === "'") {
      const end = line.indexOf("'", at + 1);
      if (end === -1) return null;
      word = (word ?? '') + line.slice(at + 1, end);
      at = end;
    } else if (char === '"') {
      const end = line.indexOf('"', at + 1);
      const inner = end === -1 ? '$' : line.slice(at + 1, end);
      // Expansions and escapes between double quotes need a shell.
      if (/[$`\\!]/.test(inner)) return null;
      word = (word ?? '') + inner;
      at = end;
    } else if (char === '\\') {
      const next = line[at + 1];
      if (next === undefined || next === '\n') return null;
      word = (word ?? '') + next;
      at += 1;
    } else if (PLAIN.test(char) || char > '\u007f') word = (word ?? '') + char;
    else return null;
  }
  if (word !== null) words.push(word);
  const [program] = words;
  if (program === undefined || program === '' || /^[A-Za-z_]\w*\+?=/.test(program) || SHELL_ONLY.has(program))
    return null;
  return words;
}

/** The program and arguments for a line: the command itself, or a shell with the line. */
export function argvOf(line: string): readonly string[] {
  return plainWords(line) ?? ['bash', '-c', line];
}

/** A line that a shell splits into exactly these words. */
export function shellLine(argv: readonly string[]): string {
  return argv.map(shellWord).join(' ');
}

/** Quotes one word for a shell. */
export function shellWord(word: string): string {
  return word !== '' && /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word)
    ? word
    : `'${word.replaceAll("'", "'\\''")}'`;
}
