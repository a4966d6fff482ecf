// The processes of this machine as the rule about terminals needs them: from `/proc`, or from `ps` where there is none.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { HAS_PROC, startOrder } from '../agents/process/process-identity.ts';
import type { OriginProcess, ProcessView } from './terminal-origin.ts';

export function processView(): ProcessView {
  return HAS_PROC ? viewOfProc() : viewOfPs(askPs());
}

/** Whether a program adopts orphans, as the first process does. A user's `systemd --user` does. */
export function isReaper(command: string): boolean {
  return /^(?:\S*\/)?systemd\0(?:[^\0]*\0)*--user\0/.test(command);
}

/** Reads `/proc/<pid>/stat`, and the user from `/proc/<pid>/status`. The name of the program may hold anything. */
export function processFromProc(pid: number, stat: string, status: string): Omit<OriginProcess, 'isReaper'> | null {
  const end = stat.lastIndexOf(')');
  const [, ppid, , session, terminal, ...rest] = stat.slice(end + 2).split(' ');
  const start = startOrder(`/${rest[14] ?? ''}`);
  const uid = /^Uid:\s+\d+\s+(\d+)/m.exec(status)?.[1];
  if (start === null || terminal === undefined || uid === undefined) return null;
  return {
    pid,
    ppid: Number(ppid),
    uid: Number(uid),
    name: stat.slice(stat.indexOf('(') + 1, end),
    session: Number(session),
    terminal: terminal === '0' ? null : terminal,
    start,
  };
}

/** The number of a pseudo-terminal, from the number of its device; null for any other terminal. */
export function pseudoTerminal(device: string): number | null {
  const number = Number(device);
  const major = (number >> 8) & 0xfff;
  return major === 136 ? (number & 0xff) | ((number >> 12) & 0xfff00) : null;
}

function viewOfProc(): ProcessView {
  return {
    logins: ['sshd', 'sshd-session', 'login', 'su'],
    process(pid) {
      const row = processFromProc(pid, textOf(`/proc/${pid}/stat`), textOf(`/proc/${pid}/status`));
      return row && { ...row, isReaper: pid === 1 || isReaper(textOf(`/proc/${pid}/cmdline`)) };
    },
    holdsTerminal(pid, terminal) {
      const index = pseudoTerminal(terminal);
      if (index === null) return null;
      try {
        const files = readdirSync(`/proc/${pid}/fd`);
        return files.some((file) => isMaster(pid, file, index));
      } catch {
        return null; // Another user's, or a program that hides its files as `sshd` does.
      }
    },
  };
}

function isMaster(pid: number, file: string, index: number): boolean {
  try {
    if (!/^\/dev\/(?:pts\/)?ptmx$/.test(readlinkSync(`/proc/${pid}/fd/${file}`))) return false;
  } catch {
    return false; // It was closed.
  }
  return new RegExp(`^tty-index:\\s*${index}$`, 'm').test(textOf(`/proc/${pid}/fdinfo/${file}`));
}

const COLUMNS = ['pid', 'ppid', 'uid', 'tty', 'lstart', 'comm'];

/**
 * The table that `ps` prints with `COLUMNS`. It does not tell the leader of a session, so the outermost process above that
 * has the same terminal takes its place. `login` proves nothing here: every user may start it without a password.
 */
export function viewOfPs(table: string): ProcessView {
  const rows = new Map<number, Omit<OriginProcess, 'session'>>();
  for (const line of table.split('\n')) {
    const [, pid, ppid, uid, tty, lstart = '', command = ''] =
      /^\s*(\d+)\s+(\d+)\s+(-?\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(line) ?? [];
    const start = startOrder(`/${lstart.replace(/\s+/g, ' ')}`);
    if (pid === undefined || start === null) continue;
    const terminal = tty === undefined || /^[?-]+$/.test(tty) ? null : tty;
    // A login shell has a dash in front, and `sshd` its user behind.
    const name = basename(command.replace(/^-/, '').replace(/:.*$/, '').trim());
    const isFirst = Number(pid) === 1;
    rows.set(Number(pid), {
      pid: Number(pid),
      ppid: Number(ppid),
      uid: Number(uid),
      name,
      terminal,
      start,
      isReaper: isFirst,
    });
  }
  const leaderOf = (row: Omit<OriginProcess, 'session'>): number => {
    const parent = rows.get(row.ppid);
    return row.terminal !== null && parent?.terminal === row.terminal ? leaderOf(parent) : row.pid;
  };
  return {
    logins: ['sshd', 'sshd-session', 'su'],
    process(pid) {
      const row = rows.get(pid);
      return row ? { ...row, session: leaderOf(row) } : null;
    },
    holdsTerminal: () => null,
  };
}

function askPs(): string {
  try {
    const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };
    const args = ['-A', ...COLUMNS.flatMap((column) => ['-o', `${column}=`])];
    return execFileSync('ps', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // It ended.
  }
}
