// Runs an approved command in our place: without a shell, with our own output, with the signals we get. Its exit code becomes
// ours. What is fed to it was not approved, so it is fed nothing, unless a person sits at the terminal.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { knownValues, ValueFilter } from '../kernel/known-values.ts';

const PASSED = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
/** The terminal sends them to the command as well as to us. */
const SHARED = ['SIGINT', 'SIGQUIT'] as const;
const NOT_STARTED = 127;
const PIPES_OPEN_MS_MAX = 2_000;

export type CommandRun = {
  /** The real path of the program. */
  readonly file: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
};

export type CommandEnd = {
  /** What we end with. */
  readonly code: number;
  /** Null where a signal ended it or it never began. */
  readonly exit: number | null;
  readonly note?: string;
  /** Somebody ended it before it was done: how far it came is not known. */
  readonly isCut?: true;
};

export function runCommand({ file, argv, cwd, env }: CommandRun): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const [name = file, ...args] = argv;
    const stdin = process.stdin.isTTY ? 'inherit' : 'ignore';
    let isCut = false;
    const pass = (signal: NodeJS.Signals) => {
      isCut = true;
      child.kill(signal);
    };
    const shared = (signal: NodeJS.Signals) => {
      isCut = true;
      if (!process.stdin.isTTY) child.kill(signal);
    };
    // Before it begins: a signal that came between would end us, and leave the command without anybody above it.
    for (const signal of PASSED) process.on(signal, pass);
    for (const signal of SHARED) process.on(signal, shared);
    const values = knownValues(env);
    // A person at a terminal sees what the command prints. Anything else may store it, and gets it without secrets.
    // Only what has a descriptor can be handed on.
    const how = (stream: NodeJS.WriteStream) =>
      'fd' in stream && (stream.isTTY || values.length === 0) ? 'inherit' : 'pipe';
    const stdio = [stdin, how(process.stdout), how(process.stderr)] as const;
    const child = spawn(file, args, { argv0: name, cwd, env, stdio: [...stdio] });
    const printed = Promise.all([
      passOn(child.stdout, process.stdout, values),
      passOn(child.stderr, process.stderr, values),
    ]);
    const end = (ended: CommandEnd) => {
      for (const signal of PASSED) process.off(signal, pass);
      for (const signal of SHARED) process.off(signal, shared);
      resolve(ended);
    };
    child.once('error', ({ message }) =>
      end({ code: NOT_STARTED, exit: null, note: `it could not be started: ${message}` }),
    );
    child.once('exit', async (code, signal) => {
      // A program that it left in the background may keep its output open.
      await Promise.race([printed, sleep(PIPES_OPEN_MS_MAX, undefined, { ref: false })]);
      if (code !== null) end({ code, exit: code });
      else {
        const ended = {
          code: 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 0),
          exit: null,
          note: `ended by ${signal}`,
        };
        end({ ...ended, ...(isCut ? { isCut } : {}) });
      }
    });
  });
}

/** Byte for byte, but for the values. Resolves when everything is passed on. */
async function passOn(from: Readable | null, to: Writable, values: readonly string[]): Promise<void> {
  if (!from) return;
  // One character for each byte, so that a character that is cut in two stays whole.
  const filter = new ValueFilter(values.map((value) => Buffer.from(value).toString('latin1')));
  const write = async (text: string) => {
    if (text !== '' && !to.write(text, 'latin1')) await new Promise((resolve) => to.once('drain', resolve));
  };
  try {
    for await (const chunk of from) await write(filter.take((chunk as Buffer).toString('latin1')));
  } catch {
    // The pipe broke with the program; what came before is passed on.
  }
  await write(filter.end());
}
