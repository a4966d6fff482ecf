// Whether an agent is behind a process. Everything that only a person may do asks this: it looks at the marks in the
// environment, the processes above, and, where those were cut off, when the process began.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInsideAttempt, supervisedFolder } from '../agents/inside-attempt.ts';
import { claimIn, namesIn } from '../agents/process/first-attempt.ts';
import {
  ancestorsOf,
  commandOf,
  HAS_PROC,
  type Identity,
  isAlive,
  type ProcessRow,
  processTable,
  rowFromStat,
  variablesOf,
} from '../agents/process/process-identity.ts';
import { isReaper } from './terminal-origin.ts';
import { userFolder } from './user-folder.ts';

/** `stateDir` is the state folder that is acted on; null where it is none. */
export function isAgent(env: NodeJS.ProcessEnv, stateDir: string | null, pid = process.pid): boolean {
  return isInsideAttempt(env, pid) || isLeftBehind({ env, stateDir }, pid);
}

/** Where somebody acts: in the state folder of a workspace, where it is one, and as the user of an environment. */
export type Ground = { readonly env: NodeJS.ProcessEnv; readonly stateDir: string | null };

/**
 * Whether a process without a terminal was left to the system by something that began after an agent did. An agent can cut a
 * process off from everything above it, but cannot change when it began. The attempts of the workspace and those of the same
 * user count. Where the system does not tell starts and terminals, no process is suspected.
 */
export function isLeftBehind({ env, stateDir }: Ground, pid = process.pid): boolean {
  const stat = HAS_PROC ? statOf(pid) : null;
  const own = stat === null ? null : rowFromStat(pid, stat);
  if (stat === null || own === null || hasTerminal(stat)) return false;
  const top = topOf(own);
  if (top === null) return false;
  const isBefore = (supervisor: Identity) =>
    isLater(top, supervisor) && !isOfOlderSession(top, supervisor) && isAlive(supervisor);
  return (stateDir !== null && supervisorsIn(stateDir).some(isBefore)) || supervisorsOf(userFolder(env)).some(isBefore);
}

/** The seventh field of the line is the number of the terminal, or 0. */
export function hasTerminal(stat: string): boolean {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4] !== '0';
}

/** Whether one began after another. Starts are counted from when the machine was started, and that is in both. */
export function isLater(one: Pick<Identity, 'startTime'>, other: Pick<Identity, 'startTime'>): boolean {
  const [boot, ticks] = one.startTime.split('/');
  const [otherBoot, otherTicks] = other.startTime.split('/');
  return boot === otherBoot && Number(ticks) > Number(otherTicks);
}

/**
 * Whether a process belongs to a session that was there before an attempt. Every attempt begins a session of its own, and
 * nothing below it gets into an older one: such a process was not left behind but started where orphans are taken up too,
 * by the program of a container, say. A session without a number began outside of the container.
 */
function isOfOlderSession({ session }: ProcessRow, supervisor: Identity): boolean {
  if (session === null || session === 0) return session === 0;
  const leader = statOf(session);
  const row = leader === null ? null : rowFromStat(session, leader);
  return row !== null && isLater(supervisor, row);
}

/** The outermost process above, or itself, that something which takes up orphans has for a child; null where none is. */
function topOf(own: ProcessRow): ProcessRow | null {
  const chain = [own, ...ancestorsOf(own.pid)];
  return chain.find(({ ppid }) => ppid === 1 || isReaper(commandOf(ppid))) ?? null;
}

function supervisorsIn(stateDir: string): readonly Identity[] {
  const folder = join(stateDir, 'attempts');
  return namesIn(folder).flatMap((name) => claimIn(join(folder, name)) ?? []);
}

/** Those of the whole machine whose casts are driven with the same folder of the user. */
function supervisorsOf(user: string): readonly Identity[] {
  return processTable().flatMap((row) => {
    const folder = supervisedFolder(commandOf(row.pid));
    const claim = folder === null ? null : claimIn(folder);
    return claim?.pid === row.pid && isDrivenAs(user, row) ? [claim] : [];
  });
}

/** A supervisor whose driver is gone may be anybody's, and so it is taken for this user's. */
function isDrivenAs(user: string, { ppid }: ProcessRow): boolean {
  const env = ppid === 1 ? null : variablesOf(ppid);
  return env === null || userFolder(env) === user;
}

function statOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
}
