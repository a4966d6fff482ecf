// Starts a TypeScript program as a process of its own and follows what it says, line by line.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export type Program = {
  readonly said: readonly string[];
  readonly complaints: () => string;
  /** Resolves when it has said the word, or, for a number, so many words; rejects when it ends without. */
  hears(what: string | number): Promise<void>;
  tell(word: string): void;
  kill(): Promise<void>;
  /** Resolves with its exit code when it has ended and everything it said was read. */
  ended: Promise<number | null>;
};

/** `wrapper` is what the program is run under, such as `strace` with its options. */
export function startProgram(file: string, args: readonly string[], wrapper: readonly string[] = []): Program {
  const command = [...wrapper, process.execPath, '--disable-warning=ExperimentalWarning', file, ...args];
  const child: ChildProcess = spawn(command[0] ?? '', command.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] });
  const said: string[] = [];
  const waiting = new Set<() => void>();
  let complaints = '';
  let over = false;
  const look = () => {
    for (const check of [...waiting]) check();
  };
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  lines.on('line', (line) => {
    said.push(line);
    look();
  });
  child.stderr?.on('data', (text) => {
    complaints += String(text);
  });
  child.stdin?.on('error', () => undefined);
  const read = once(lines, 'close');
  const ended = once(child, 'close').then(async ([code]) => {
    await read;
    over = true;
    look();
    return code as number | null;
  });
  const done = (what: string | number) => (typeof what === 'number' ? said.length >= what : said.includes(what));
  return {
    said,
    complaints: () => complaints,
    hears: (what) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!done(what) && !over) return;
          waiting.delete(check);
          if (done(what)) resolve();
          else reject(new Error(`it ended without saying ${what}: ${complaints}`));
        };
        waiting.add(check);
        check();
      }),
    tell: (word) => void child.stdin?.write(`${word}\n`),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    ended,
  };
}
