// What a line of shell really runs: the programs behind `sudo`, `env`, `xargs` and their like, and the lines that are given
// to another shell.
import { readShell, type ShellCommand, type Word } from './shell.ts';

export type Invocation = {
  /** The name of the program without its folder. */
  readonly program: string;
  readonly args: readonly Word[];
};

/** A step of a line, in order: a program, or files that are written by redirection. */
export type Step = { readonly runs: readonly Invocation[]; readonly writes: readonly Word[] };
export type Steps =
  | { readonly ok: true; readonly steps: readonly Step[] }
  | { readonly ok: false; readonly why: string };

const SHELLS = ['sh', 'bash', 'zsh', 'dash', 'ksh', 'ash'];
/**
 * Programs that run what stands in their arguments: the letters of their options that take a value, and how many operands
 * of their own come before the program.
 */
const WRAPPERS: Readonly<Record<string, { readonly values: string; readonly own: number }>> = {
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
const FIND_RUNS = ['-exec', '-execdir', '-ok', '-okdir'];
/** A shell that is given a line that gives a line to a shell … */
const NESTED_MAX = 8;

export function stepsOf(line: string, nested = 0): Steps {
  if (nested > NESTED_MAX) return { ok: false, why: 'it starts a shell in a shell too often' };
  const read = readShell(line);
  if (!read.ok) return read;
  const steps: Step[] = [];
  for (const command of read.commands) {
    const runs = invocationsOf(command.words);
    steps.push({ runs, writes: command.writes });
    for (const inner of linesFor(command, runs)) {
      const within = stepsOf(inner, nested + 1);
      if (!within.ok) return within;
      steps.push(...within.steps);
    }
  }
  return { ok: true, steps };
}

/** The program itself and those it only passes on to. */
function invocationsOf(words: readonly Word[]): readonly Invocation[] {
  const from = words.findIndex(({ text }) => !isAssignment(text));
  if (from === -1) return [];
  const own = invocationAt(words, from);
  return [own, ...behind(own, words[from]?.isPlain === true)];
}

function behind({ program, args }: Invocation, isPlain: boolean): readonly Invocation[] {
  if (program === 'find') {
    return args.flatMap(({ text }, index) => (FIND_RUNS.includes(text) ? invocationsOf(args.slice(index + 1)) : []));
  }
  // A word that only the shell knows may be any program, or nothing at all.
  const wrapper = isPlain ? (Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined) : WRAPPERS.command;
  return wrapper ? invocationsOf(args.slice(firstOperand(args, wrapper.values) + wrapper.own)) : [];
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
  const text = words[index]?.text ?? '';
  return { program: text.slice(text.lastIndexOf('/') + 1), args: words.slice(index + 1) };
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
