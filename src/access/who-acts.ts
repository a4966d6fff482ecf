// The actor name recorded in the log: `agent:<socket>@<attempt>` for what an attempt started, `token:<name>` for the holder of
// a token, else the user of the operating system. A process below an attempt is that attempt, whatever else it shows.
import { readlinkSync, realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isInsideAttempt } from '../agents/inside-attempt.ts';
import { ancestorsOf, commandOf, HAS_PROC } from '../agents/process/process-identity.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { castLines } from '../log/sqlite/cast-index.ts';
import { logFileIn } from '../log/sqlite/log.ts';
import type { Actor } from './actor.ts';
import { type AttemptAbove, attemptAbove } from './attempt.ts';
import { isAgent } from './is-agent.ts';
import { admitToken, type Token, tokenNamed, whyUnusable } from './tokens.ts';

/** Names the token for which the server started this process. Only its name: what a token proves was proved to the server. */
export const ACTS_FOR = 'BATON_ACTS_FOR';

/** Whoever says that he acts for a token and has shown none. */
export const NOBODY = 'token:unknown';

export type Identity = Pick<Actor, 'name' | 'role'> & {
  /** What identifies the caller: its attempt, a valid token, or only the user of the operating system. */
  readonly by: 'attempt' | 'token' | 'user';
};

const STRANGER: Identity = { name: NOBODY, role: 'viewer', by: 'user' };

export function lookUp(
  env: NodeJS.ProcessEnv,
  pid: number,
  now: number,
  served = isServed,
  shown: string | null = null,
): Identity {
  const attempt = attemptAbove(pid);
  if (attempt) return { name: `agent:${socketOf(attempt) ?? 'unknown'}@${nameOf(attempt)}`, role: null, by: 'attempt' };
  const name = env[ACTS_FOR];
  const isNamed = name !== undefined && name !== '';
  // Something says that an agent is behind it, and which one cannot be established. What a server does for whoever showed
  // it a token is not held against that server's age.
  if (isNamed || shown !== null ? isInsideAttempt(env, pid) : isAgent(env, null, pid))
    return { name: 'agent:unknown', role: null, by: 'attempt' };
  if (!isNamed && shown !== null) {
    const admitted = admitToken(env, shown, now);
    return admitted.ok ? holder(admitted.value) : STRANGER;
  }
  if (!isNamed) return { name: osUser(), role: 'admin', by: 'user' };
  // Whoever says it and was not started by a server has shown no token.
  const token = served(pid) ? tokenNamed(env, name) : null;
  // Nobody acts for a token that does not exist; what it was started for is then the least that anybody may do.
  if (!token || whyUnusable(token, now)) return STRANGER;
  return holder(token);
}

function holder({ name, role }: Token): Identity {
  return { name: `token:${name}`, role, by: 'token' };
}

/** The user as the operating system knows him; by number where it knows no name. */
function osUser(): string {
  try {
    return `user:${userInfo().username}`;
  } catch {
    return `user:${process.getuid?.() ?? 'unknown'}`;
  }
}

function nameOf({ cast, turn, attempt }: AttemptAbove): string {
  return `${cast}-${turn}.${attempt}`;
}

/** The socket of the attempt's turn, as the log of its workspace has it. */
function socketOf({ cast, turn, stateDir }: AttemptAbove): string | null {
  try {
    for (const line of castLines(logFileIn(stateDir), cast)) {
      if (!line.includes('"kind":"turn.started"')) continue;
      const { kind, body } = JSON.parse(line) as { kind?: Json; body?: Json };
      if (kind === 'turn.started' && isObject(body) && body.turn === turn && typeof body.socket === 'string')
        return body.socket;
    }
    return null;
  } catch {
    return null; // The log cannot be read now; whoever writes to it learns why.
  }
}

/**
 * Whether a server of ours that listens started a process. Only such a server asks for tokens, so only what it started may
 * act for the holder of one. `program` is the script that this process runs, which must be the server's, too.
 */
export function isServed(pid = process.pid, program = process.argv[1] ?? ''): boolean {
  return ancestorsOf(pid).some((above) => runsOurNode(above.pid) && isServer(commandOf(above.pid), program));
}

/** The nearest server of ours above, listening or not; null for none. */
export function serverAbove(pid = process.pid, program = process.argv[1] ?? ''): number | null {
  const isOurs = (above: number) => runsOurNode(above) && isAnyServer(argsOf(commandOf(above), program) ?? []);
  return ancestorsOf(pid).find((above) => isOurs(above.pid))?.pid ?? null;
}

/** Whether a command line is that of a server that listens. */
export function isServer(command: string, program: string): boolean {
  const args = argsOf(command, program) ?? [];
  if (!isAnyServer(args)) return false;
  return commandIn(args) !== 'mcp' || args.some((word) => word === '--http' || word.startsWith('--http='));
}

function isAnyServer(args: readonly string[]): boolean {
  const name = commandIn(args);
  if (name === 'cast' || name === 'demo') return args.includes('--ui');
  return name === 'mcp' || name === 'serve' || name === 'ui';
}

/** The name of the command among the arguments of our program. */
function commandIn(args: readonly string[]): string | undefined {
  return args.find((word, at) => word !== '' && !word.startsWith('-') && args[at - 1] !== '-C');
}

/** The arguments of our program in a command line; null for the command line of another program. */
function argsOf(command: string, program: string): readonly string[] | null {
  const [, ...rest] = command.split(command.includes('\0') ? '\0' : ' ');
  const at = rest.findIndex((word) => !word.startsWith('--disable-warning=') && word !== '--no-warnings');
  return at !== -1 && isSameFile(rest[at] ?? '', program) ? rest.slice(at + 1) : null;
}

function runsOurNode(pid: number): boolean {
  if (!HAS_PROC) return true;
  try {
    return readlinkSync(`/proc/${pid}/exe`) === realpathSync(process.execPath);
  } catch {
    return false; // It ended, or is another user's.
  }
}

function isSameFile(one: string, other: string): boolean {
  try {
    return one.startsWith('/') && realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
