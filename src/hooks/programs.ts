// What a line of shell really runs: the programs behind `sudo`, `env`, `xargs` and their like, and the lines that are given
// to another shell.
import { readShell, type ShellCommand, type Word } from './shell.ts';

export type Invocation = {
  /** The name of the program without its folder. */
  readonly program: string;
  /** As it is written. */
  readonly named: string;
  /** False where only the shell knows which program it is. */
  readonly isPlain: boolean;
  readonly args: readonly Word[];
};

/** A step of a line, in order: a program, or files that are written by redirection. */
export type Step = {
  readonly runs: readonly Invocation[];
  readonly writes: readonly Word[];
  readonly reads: readonly Word[];
  /** Names of the variables that are set for it or for what comes after it. */
  readonly assigns: readonly string[];
};
export type Steps =
  | { readonly ok: true; readonly steps: readonly Step[] }
  | { readonly ok: false; readonly why: string };

export const SHELLS = ['sh', 'bash', 'zsh', 'dash', 'ksh', 'ash'];
/**
 * Programs that run what stands in their arguments: the letters of their options that take a value, and how many operands
 * of their own come before the program.
 */
export const WRAPPERS: Readonly<Record<string, { readonly values: string; readonly own: number }>> = {
  sudo: { values: 'ughpCTUrtDR', own: 0 },
  doas: { values: 'uC', own: 0 },
  env: { values: 'uC', own: 0 },
  command: { values: '', own: 0 },
  builtin: { values: '', own: 0 },
  exec: { values: 'a', own: 0 },
  nohup: { values: '', own: 0 },
  nice: { values: 'n', own: 0 },
  ionice: { values: 'cnpPu', own: 0 },
  stdbuf: { values: 'ioe', own: 0 },
  timeout: { values: 'ks', own: 1 },
  time: { values: 'fo', own: 0 },
  xargs: { values: 'InPLdaEs', own: 0 },
  setsid: { values: '', own: 0 },
  busybox: { values: '', own: 0 },
  watch: { values: 'n', own: 0 },
  flock: { values: 'wE', own: 1 },
  parallel: { values: 'jIaN', own: 0 },
};
/** Programs that add words from their input to those of the program they run. */
const FED = ['xargs', 'parallel'];
const UNSEEN: Word = { text: '', isPlain: false, isQuoted: false };
const SETTERS = ['export', 'declare', 'typeset', 'readonly', 'local', 'sudo', 'nohup', 'exec', 'command'];
const FIND_RUNS = ['-exec', '-execdir', '-ok', '-okdir'];
/** Programs behind programs, in one command. */
const RUNS_MAX = 100;
/** A shell that is given a line that gives a line to a shell … */
const NESTED_MAX = 8;

export function stepsOf(line: string, nested = 0): Steps {
  if (nested > NESTED_MAX) return { ok: false, why: 'it starts a shell in a shell too often' };
  const read = readShell(line);
  if (!read.ok) return read;
  const steps: Step[] = [];
  for (const command of read.commands) {
    const budget = { left: RUNS_MAX };
    const runs = invocationsOf(command.words, budget);
    if (budget.left <= 0) return { ok: false, why: 'one program passes on to another too often' };
    const { words, writes, reads } = command;
    steps.push({ runs, writes, reads, assigns: assignmentsIn(words) });
    for (const inner of linesFor(command, runs)) {
      const within = stepsOf(inner, nested + 1);
      if (!within.ok) return within;
      steps.push(...within.steps);
    }
  }
  return { ok: true, steps };
}

type Budget = { left: number };

/** The program itself and those it only passes on to. */
function invocationsOf(words: readonly Word[], budget: Budget): readonly Invocation[] {
  budget.left -= 1;
  if (budget.left <= 0) return [];
  const from = words.findIndex(({ text }) => !isAssignment(text));
  if (from === -1) return [];
  const own = invocationAt(words, from);
  return [own, ...behind(own, words[from]?.isPlain === true, budget)];
}

function behind({ program, args }: Invocation, isPlain: boolean, budget: Budget): readonly Invocation[] {
  if (program === 'find') {
    return args.flatMap(({ text }, index) =>
      FIND_RUNS.includes(text) && budget.left > 0 ? invocationsOf(args.slice(index + 1), budget) : [],
    );
  }
  // A word that only the shell knows may be any program, or nothing at all.
  const wrapper = isPlain ? (Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined) : WRAPPERS.command;
  if (!wrapper) return [];
  const inner = args.slice(firstOperand(args, wrapper.values) + wrapper.own);
  return invocationsOf(FED.includes(program) && inner.length > 0 ? [...inner, UNSEEN] : inner, budget);
}

/** What is set before the program, or with `env`. Names behind a program are arguments of it. */
function assignmentsIn(words: readonly Word[]): readonly string[] {
  const names: string[] = [];
  for (const { text } of words) {
    if (isAssignment(text)) names.push(text.slice(0, text.indexOf('=')).replace(/\+$/, ''));
    else if (!/^(?:.*\/)?env$/.test(text) && !text.startsWith('-') && !SETTERS.includes(text)) break;
  }
  return names;
}

/** Where the options, their values and assignments end. */
function firstOperand(args: readonly Word[], values: string): number {
  for (let at = 0; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    if (text === '--') return at + 1;
    if (isAssignment(text)) continue;
    if (!text.startsWith('-')) return at;
    // A value may stand in the same word.
    if (text.length === 2 && values.includes(text[1] ?? '')) at += 1;
  }
  return args.length;
}

function isAssignment(text: string): boolean {
  return /^[A-Za-z_]\w*\+?=/.test(text);
}

function invocationAt(words: readonly Word[], index: number): Invocation {
  const { text = '', isPlain = false } = words[index] ?? {};
  return { program: text.slice(text.lastIndexOf('/') + 1), named: text, isPlain, args: words.slice(index + 1) };
}

/** Lines that the command hands to a shell. */
function linesFor({ input }: ShellCommand, runs: readonly Invocation[]): readonly string[] {
  return runs.flatMap(({ program, args }) => {
    if (program === 'eval') return [args.map(({ text }) => text).join(' ')];
    if (!SHELLS.includes(program)) return [];
    const flag = args.findIndex(({ text }) => /^-[a-z]*c[a-z]*$/.test(text));
    const line = flag === -1 ? undefined : args.slice(flag + 1).find(({ text }) => !text.startsWith('-'));
    return [...(line ? [line.text] : []), ...(input === null ? [] : [input])];
  });
}
