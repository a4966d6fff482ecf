// Whether an agent is behind a process. Every act that only a person may do asks this. It checks the environment, the processes
// above, and, if those were cut off, when the process began.
import { readFileSync } from 'node:fs';
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
  processTable,
  processVariables,
  rowFromStat,
} from '../agents/process/process-identity.ts';
import { isReaper } from './terminal-origin.ts';
import { userFolder } from './user-folder.ts';

/** `stateDir` is the state folder in use, or null. */
export function isAgent(env: NodeJS.ProcessEnv, stateDir: string | null, pid = process.pid): boolean {
  return isInsideAttempt(env, pid) || isLeftBehind({ env, stateDir }, pid);
}

/** Where an act happens: the state folder of the workspace, if any, and the environment. */
type ActionContext = { readonly env: NodeJS.ProcessEnv; readonly stateDir: string | null };

/**
 * Whether a process without a terminal is an orphan of something that began after an agent. An agent can cut a process off from its
 * parents, but cannot change its start. Attempts of the workspace and of the same user count. If the system does not show starts
 * and terminals, no process is suspected.
 */
export function isLeftBehind({ env, stateDir }: ActionContext, pid = process.pid): boolean {
  const stat = HAS_PROC ? statOf(pid) : null;
  const own = stat === null ? null : rowFromStat(pid, stat);
  if (stat === null || own === null || hasTerminal(stat)) return false;
  const top = topOf(own);
  if (top === null) return false;
  const isBefore = (supervisor: ProcessIdentity) =>
    isLater(top, supervisor) && !isOfOlderSession(top, supervisor) && isAlive(supervisor);
  return (stateDir !== null && supervisorsIn(stateDir).some(isBefore)) || supervisorsOf(userFolder(env)).some(isBefore);
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
  return processTable().flatMap((row) => {
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
