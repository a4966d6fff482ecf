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
/** Programs that run what stands in their arguments, behind options of their own. */
const WRAPPERS = [
  ...['sudo', 'doas', 'env', 'command', 'builtin', 'exec', 'nohup', 'nice', 'ionice', 'stdbuf', 'timeout', 'time'],
  ...['xargs', 'setsid', 'busybox', 'parallel', 'find', 'watch', 'unshare', 'chronic', 'script', 'flock'],
];
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

/** The program itself and, where it only passes on, everything behind it that could be one. */
function invocationsOf(words: readonly Word[]): readonly Invocation[] {
  const from = words.findIndex(({ text }) => !/^[A-Za-z_]\w*\+?=/.test(text));
  if (from === -1) return [];
  const own = invocationAt(words, from);
  // A first word that only the shell knows may be any program, or nothing at all.
  if (words[from]?.isPlain && !WRAPPERS.includes(own.program)) return [own];
  // Which of its words are values of options differs from program to program; any that names a program may be the one.
  const behind = words.flatMap((_, index) => (index > from ? [invocationAt(words, index)] : []));
  return [own, ...behind.filter(({ program }) => /^[a-z][\w.-]*$/.test(program)).slice(0, 50)];
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
