// Runs an approved command in our place: without a shell, with our own output, with the signals we get. Its exit code becomes
// ours. What is fed to it was not approved, so it is fed nothing, unless a person sits at the terminal.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const PASSED = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
/** The terminal sends them to the command as well as to us. */
const SHARED = ['SIGINT', 'SIGQUIT'] as const;
const NOT_STARTED = 127;

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
    const child = spawn(file, args, { argv0: name, cwd, env, stdio: [stdin, 'inherit', 'inherit'] });
    const end = (ended: CommandEnd) => {
      for (const signal of PASSED) process.off(signal, pass);
      for (const signal of SHARED) process.off(signal, shared);
      resolve(ended);
    };
    child.once('error', ({ message }) =>
      end({ code: NOT_STARTED, exit: null, note: `it could not be started: ${message}` }),
    );
    child.once('exit', (code, signal) => {
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
