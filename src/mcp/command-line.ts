// The tools act through the commands of `baton`, each in a process of its own. So there is one way in for people, scripts
// and agents, with one set of rules, and a long-lived server holds neither the log nor an old view of it.
import { spawn } from 'node:child_process';
import { CODES, type Code } from '../kernel/codes.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';

const OUTPUT_BYTES_MAX = 32 * 1_048_576;

export type Said = {
  readonly exit: number | null;
  /** The one JSON value it printed, or undefined where it printed none. */
  readonly value: Json | undefined;
  readonly stderr: string;
  /** Everything it printed, where it was asked for. */
  readonly text?: string;
};

export type How = {
  readonly input?: string;
  /** Runs in this folder and prints in its own words: the command finds its workspace by itself. */
  readonly within?: string;
  /** Ends the command. */
  readonly signal?: AbortSignal;
  /** Ends the waiting only: the command goes on by itself. */
  readonly leave?: AbortSignal;
  /** Told each line of a command that prints many, as it comes; its value is the last of them then. */
  readonly hear?: (line: JsonObject) => void;
};
export type CommandLine = (args: readonly string[], how?: How) => Promise<Said>;

export type Program = {
  readonly file: string;
  /** The workspace in which every command acts. */
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;
};

/** One argument of a program may have 128 KiB on Linux. */
const ARGUMENT_BYTES_MAX = 131_071;

/** Why no program can be started with these arguments, or null. */
function refusalOfArguments(args: readonly string[]): Denied | null {
  if (args.some((arg) => arg.includes('\0'))) return deny('BAD_USAGE', 'an argument holds a NUL character; remove it');
  const long = args.find((arg) => Buffer.byteLength(arg) > ARGUMENT_BYTES_MAX);
  if (long === undefined) return null;
  const reason = `an argument has ${Buffer.byteLength(long)} bytes; at most ${ARGUMENT_BYTES_MAX} are allowed`;
  return deny('BAD_USAGE', reason);
}

/** Runs commands of the program with `--json`. What is printed before the end or the leave counts for nothing. */
export function commandLine({ file, dir, env }: Program): CommandLine {
  return (args, { input = '', within, signal, leave, hear } = {}) =>
    new Promise((resolve) => {
      const refusal = refusalOfArguments(args);
      if (refusal) {
        resolve({ exit: 2, value: refusal, stderr: '' });
        return;
      }
      const asked = ['-C', dir, ...withOption(args, hear ? '--jsonl' : '--json')];
      const child = spawn(file, within === undefined ? asked : args, {
        cwd: within ?? dir,
        env,
        stdio: 'pipe',
        // What is left alone must not go down with us.
        detached: leave !== undefined,
      });
      const printed = hear ? lastOf(hear) : wholeText();
      let stderr = '';
      const stop = () => child.kill('SIGTERM');
      const end = (exit: number | null, why = '') => {
        signal?.removeEventListener('abort', stop);
        leave?.removeEventListener('abort', left);
        const text = exit === null ? '' : printed.text();
        const own = within === undefined ? {} : { text };
        resolve({ exit, value: parsed(text), stderr: stderr + why, ...own });
      };
      const left = () => {
        child.unref();
        end(null);
      };
      child.stdout.on('data', (chunk: Buffer) => {
        if (!printed.take(chunk)) stop();
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr = (stderr + text).slice(-4_000);
      });
      child.stdin.on('error', () => undefined);
      child.once('error', (error) => end(null, error.message));
      child.once('close', (code) => end(code));
      child.stdin.end(input);
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop, { once: true });
      leave?.addEventListener('abort', left, { once: true });
    });
}

/** Behind `--` stands what the caller wrote, and nothing that is ours to read. */
function withOption(args: readonly string[], option: string): readonly string[] {
  const end = args.indexOf('--');
  return end === -1 ? [...args, option] : [...args.slice(0, end), option, ...args.slice(end)];
}

/** What is kept of the output; `take` answers false when it is more than can be kept. */
type Printed = { take(chunk: Buffer): boolean; text(): string };

function wholeText(): Printed {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    take(chunk) {
      bytes += chunk.length;
      if (bytes <= OUTPUT_BYTES_MAX) chunks.push(chunk);
      return bytes <= OUTPUT_BYTES_MAX;
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}

/** Hands every line on and keeps the last one. */
function lastOf(hear: (line: JsonObject) => void): Printed {
  let last = '';
  let begun: Buffer[] = [];
  let bytes = 0;
  const end = () => {
    last = Buffer.concat(begun).toString('utf8');
    begun = [];
    bytes = 0;
    const value = parsed(last);
    if (isObject(value)) hear(value);
  };
  return {
    take(chunk) {
      for (let from = 0; ; ) {
        const at = chunk.indexOf(0x0a, from);
        const piece = chunk.subarray(from, at === -1 ? undefined : at);
        bytes += piece.length;
        if (bytes > OUTPUT_BYTES_MAX) return false;
        begun.push(piece);
        if (at === -1) return true;
        end();
        from = at + 1;
      }
    },
    text: () => last,
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The verdict of a command that answers with one. */
export function verdictOf(said: Said): Verdict {
  const { value } = said;
  if (!isObject(value) || typeof value.allow !== 'boolean' || !isString(value.reason)) return refusalOf(said);
  const details = isObject(value.details) ? value.details : {};
  return value.allow ? allow(value.reason, details) : deny(known(value.code), value.reason, details);
}

/** Why a command that should have printed something else failed. */
export function refusalOf({ value, exit, stderr }: Said): Denied {
  if (isObject(value) && isString(value.code) && isString(value.reason)) {
    const { code, reason, issues, details } = value;
    const more = Array.isArray(issues) ? { issues } : {};
    return deny(known(code), reason, { ...(isObject(details) ? details : {}), ...more });
  }
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return deny('INTERNAL', line === '' ? `the command ended with ${exit ?? 'a signal'} and said nothing` : line, {
    exit,
  });
}

function known(code: Json | undefined): Code {
  return isString(code) && Object.hasOwn(CODES, code) ? (code as Code) : 'INTERNAL';
}
