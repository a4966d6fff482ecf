// Who acts in this process, as a name for the log: `agent:<socket>@<attempt>` for a process below an attempt, whatever else it shows;
// `token:<name>` for the holder of a token; else the user of the operating system. The search is slow, so it runs on first use. The
// second half decides whether an agent is behind a process: by its environment, by the processes above it and, if those were cut
// off, by the time when it began. Every act that only a person may do asks this.
import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { isInsideAttempt, supervisedFolder } from '../agents/inside-attempt.ts';
import { filesIn, supervisorOf } from '../agents/process/first-attempt.ts';
import {
  ancestorsOf,
  commandOf,
  HAS_PROC,
  isAlive,
  type ProcessIdentity,
  type ProcessRow,
  processesRunning,
  processVariables,
  rowFromStat,
} from '../agents/process/process-identity.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { castLines, logFileIn } from '../log/sqlite/open.ts';
import { type Actor, type PersonProof, shownToken } from './actor.ts';
import { type AttemptAbove, attemptAbove, attemptIn } from './attempt.ts';
import { howPeopleDecide, isFromPerson } from './person-proof.ts';
import { isForTimers, proofFor, type Role, STARTED_BY_AGENT } from './rights.ts';
import { isReaper } from './terminal-origin.ts';
import { admitToken, type Token, tokenNamed, whyUnusable } from './tokens.ts';
import { userFolder } from './user-folder.ts';

/** The name of the token for which a server started this process. The server has checked the token itself. */
export const ACTS_FOR = 'BATON_ACTS_FOR';

/** A caller that claims to act for a token without showing one. */
export const NOBODY = 'token:unknown';

type CallerIdentity = Pick<Actor, 'name' | 'role'> & {
  /** What identifies the caller: its attempt, a valid token, or only the operating system's user. */
  readonly by: 'attempt' | 'token' | 'user';
};

const STRANGER: CallerIdentity = { name: NOBODY, role: 'viewer', by: 'user' };

export function callerIdentity(
  env: NodeJS.ProcessEnv,
  pid: number,
  now: number,
  served = isServed,
  shown: string | null = null,
): CallerIdentity {
  const attempt = attemptAbove(pid);
  if (attempt) return { name: `agent:${socketOf(attempt) ?? 'unknown'}@${nameOf(attempt)}`, role: null, by: 'attempt' };
  const name = env[ACTS_FOR];
  const isNamed = name !== undefined && name !== '';
  // An unknown agent is behind it. For a shown token, the age of the server does not count.
  if (isNamed || shown !== null ? isInsideAttempt(env, pid) : isAgent(env, null, pid))
    return { name: 'agent:unknown', role: null, by: 'attempt' };
  if (!isNamed && shown !== null) {
    const admitted = admitToken(env, shown, now);
    return admitted.ok ? holder(admitted.value) : STRANGER;
  }
  if (!isNamed) return { name: osUser(), role: 'admin', by: 'user' };
  // A process that no server started has shown no token.
  const token = served(pid) ? tokenNamed(env, name) : null;
  // An unknown or unusable token gives only the lowest rights.
  if (!token || whyUnusable(token, now)) return STRANGER;
  return holder(token);
}

function holder({ name, role }: Token): CallerIdentity {
  return { name: `token:${name}`, role, by: 'token' };
}

/** The operating system's user, by name or else by number. */
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

/** The socket of the attempt's turn, from the log of its workspace. */
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
    return null; // The log cannot be read now. A later write reports why.
  }
}

/**
 * Whether one of our listening servers started a process. Only such a server checks tokens, so only its children may act for a token.
 * `program` is the script of this process, which must be the server's too.
 */
export function isServed(pid = process.pid, program = process.argv[1] ?? ''): boolean {
  return ancestorsOf(pid).some((above) => runsOurNode(above.pid) && isServer(commandOf(above.pid), program));
}

/** The nearest of our servers above, listening or not, or null. */
function serverAbove(pid = process.pid, program = process.argv[1] ?? ''): number | null {
  const isOurs = (above: number) => runsOurNode(above) && isAnyServer(argsOf(commandOf(above), program) ?? []);
  return ancestorsOf(pid).find((above) => isOurs(above.pid))?.pid ?? null;
}

/** Whether a command line is that of a listening server. */
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

/** What `bin/baton` says to Node. Any other option could bring code of its own. */
const OWN_OPTION = /^--(?:disable-warning=\w+|no-warnings|max-semi-space-size=\d+)$/;

/** The arguments of our program in a command line, or null for another program. */
function argsOf(command: string, program: string): readonly string[] | null {
  const [, ...rest] = command.split(command.includes('\0') ? '\0' : ' ');
  const at = rest.findIndex((word) => !OWN_OPTION.test(word));
  return at !== -1 && isSameFile(rest[at] ?? '', program) ? rest.slice(at + 1) : null;
}

function runsOurNode(pid: number): boolean {
  if (!HAS_PROC) return true;
  try {
    return readlinkSync(`/proc/${pid}/exe`) === realpathSync(process.execPath);
  } catch {
    return false; // The process ended, or belongs to another user.
  }
}

function isSameFile(one: string, other: string): boolean {
  try {
    return one.startsWith('/') && realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

type Where = { readonly env: NodeJS.ProcessEnv; readonly stateDir: string };

type How = {
  /** The token given to this process, if any. */
  readonly shown?: string | null;
  /** This process is a server. Its clients have no terminal, so its own age counts. */
  readonly isServer?: true;
};

export function actorHere({ env, stateDir }: Where, { shown = shownToken(), isServer }: How = {}): Actor {
  let identity: CallerIdentity | null = null;
  let kind: Actor['kind'] | null = null;
  const known = () => {
    identity ??= callerIdentity(env, process.pid, Date.now(), isServed, shown);
    return identity;
  };
  const proof: PersonProof = (form, cast, program) => {
    if (isForTimers(form)) return isInsideAttempt(env) ? STARTED_BY_AGENT : null;
    if (actor.kind === 'agent') return STARTED_BY_AGENT;
    const needed = proofFor(form);
    if (needed === null || known().by === 'token') return null;
    const user = form.startsWith('token ') ? userFolder(env) : null;
    // A client of our server has no terminal. It counts as a person if the server is older than the agents.
    const server = isServer ? process.pid : serverAbove();
    const decision = { stateDir, cast, user, needsTerminal: needed.needsTerminal && server === null };
    if (isFromPerson(decision, server ?? process.pid)) return null;
    return `nothing proves that a person decides here; ${howPeopleDecide(program)}`;
  };
  const actor: Actor = {
    get name(): string {
      return known().name;
    },
    get kind(): Actor['kind'] {
      kind ??= kindOf(known(), env, stateDir);
      return kind;
    },
    get role(): Role | null {
      return known().role;
    },
    attempt: attemptIn(env, stateDir),
    proof,
  };
  return actor;
}

/** The holder of a token counts as the person for whom it was made. */
function kindOf(identity: CallerIdentity, env: NodeJS.ProcessEnv, stateDir: string): Actor['kind'] {
  if (identity.by === 'attempt') return 'agent';
  if (identity.by === 'token') return 'person';
  // Except for a stranger, the attempts of this user were searched to identify the caller.
  return isAgent(env, stateDir, process.pid, identity !== STRANGER) ? 'agent' : 'person';
}

/** `stateDir` is the state folder in use, or null. `isSearched`: no attempt of this user on the machine is behind the process. */
export function isAgent(
  env: NodeJS.ProcessEnv,
  stateDir: string | null,
  pid = process.pid,
  isSearched = false,
): boolean {
  return isInsideAttempt(env, pid) || isLeftBehind({ env, stateDir }, pid, isSearched);
}

/** Where an act happens: the state folder of the workspace, if any, and the environment. */
type ActionContext = { readonly env: NodeJS.ProcessEnv; readonly stateDir: string | null };

/**
 * Whether a process without a terminal is an orphan of something that began after an agent. An agent can cut a process off from its
 * parents, but cannot change its start. Attempts of the workspace and of the same user count. If the system does not show starts
 * and terminals, no process is suspected.
 */
export function isLeftBehind({ env, stateDir }: ActionContext, pid = process.pid, isSearched = false): boolean {
  const stat = HAS_PROC ? statOf(pid) : null;
  const own = stat === null ? null : rowFromStat(pid, stat);
  if (stat === null || own === null || hasTerminal(stat)) return false;
  const top = topOf(own);
  if (top === null) return false;
  const isBefore = (supervisor: ProcessIdentity) =>
    isLater(top, supervisor) && !isOfOlderSession(top, supervisor) && isAlive(supervisor);
  if (stateDir !== null && supervisorsIn(stateDir).some(isBefore)) return true;
  return !isSearched && supervisorsOf(userFolder(env)).some(isBefore);
}

/** The seventh field of the line is the terminal's number, or 0. */
export function hasTerminal(stat: string): boolean {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4] !== '0';
}

/** Whether one process began after another in the same boot. */
export function isLater(one: Pick<ProcessIdentity, 'startTime'>, other: Pick<ProcessIdentity, 'startTime'>): boolean {
  const [boot, ticks] = one.startTime.split('/');
  const [otherBoot, otherTicks] = other.startTime.split('/');
  return boot === otherBoot && Number(ticks) > Number(otherTicks);
}

/**
 * Whether a process is in a session that is older than an attempt. Every attempt has its own session, and nothing below it can enter
 * an older one. So such a process is not an orphan; the main program of a container may have started it. A session without a
 * number began outside the container.
 */
function isOfOlderSession({ session }: ProcessRow, supervisor: ProcessIdentity): boolean {
  if (session === null || session === 0) return session === 0;
  const leader = statOf(session);
  const row = leader === null ? null : rowFromStat(session, leader);
  return row !== null && isLater(supervisor, row);
}

/** The nearest process, itself or above, whose parent adopts orphans. Null if there is none. */
function topOf(own: ProcessRow): ProcessRow | null {
  const chain = [own, ...ancestorsOf(own.pid)];
  return chain.find(({ ppid }) => ppid === 1 || isReaper(commandOf(ppid))) ?? null;
}

function supervisorsIn(stateDir: string): readonly ProcessIdentity[] {
  const folder = join(stateDir, 'attempts');
  return filesIn(folder).flatMap((name) => supervisorOf(join(folder, name)) ?? []);
}

/** The supervisors of this user's casts on the whole machine. */
function supervisorsOf(user: string): readonly ProcessIdentity[] {
  return processesRunning((command) => supervisedFolder(command) !== null).flatMap((row) => {
    const folder = supervisedFolder(commandOf(row.pid));
    const claim = folder === null ? null : supervisorOf(folder);
    return claim?.pid === row.pid && isDrivenAs(user, row) ? [claim] : [];
  });
}

/** A supervisor without a driver may be anyone's, so it counts as this user's. */
function isDrivenAs(user: string, { ppid }: ProcessRow): boolean {
  const env = ppid === 1 ? null : processVariables(ppid);
  return env === null || userFolder(env) === user;
}

function statOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
}
