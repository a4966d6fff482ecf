// Whether a process comes from a terminal that is older than an agent. An agent can start a process that outlives its attempt, clear
// its environment, and give it a session and even a pseudo-terminal. It cannot do these things:
//
// - enter an existing session. A session older than the first attempt contains no process of an attempt.
// - become the child of a running program. A process whose parent has ended becomes the child of a reaper: the first process, or
//   the user's `systemd --user`. A reaper's child proves nothing. The child of any other older program (a terminal, a
//   multiplexer, `sshd`) was started by that program.
// - pass a login. `sshd`, `login` or `su` as root, above a process of another user, has checked that user.
//
// A scheduler (`cron`, `at`) is an older program too and runs what an agent asks for. It gives no terminal, so the process that made
// the terminal must be the older program itself or its child. docs/security.md lists what this rule cannot see.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { HAS_PROC, startOrder } from '../agents/process/process-identity.ts';

/** One process. */
export type OriginProcess = {
  readonly pid: number;
  readonly ppid: number;
  /** The effective user. */
  readonly uid: number;
  readonly name: string;
  /** The leader of the session. */
  readonly session: number;
  /** The controlling terminal, or null. */
  readonly terminal: string | null;
  /** As `startOrder` gives it. */
  readonly start: number;
  /** Whether it adopts orphans. */
  readonly isReaper: boolean;
};

export type ProcessView = {
  process(pid: number): OriginProcess | null;
  /** Whether a process holds the other end of a pseudo-terminal. Null if unknown, or if it is no pseudo-terminal. */
  holdsTerminal(pid: number, terminal: string): boolean | null;
  /** The programs that prove a login when they run as root. */
  readonly logins: readonly string[];
};

type OriginQuestion = {
  readonly pid: number;
  /** The start of the first attempt, or infinity without attempts. */
  readonly before: number;
  /** Whether only a session with a terminal counts. */
  readonly needsTerminal: boolean;
  /** Whether the attempts ran in our process namespace. */
  readonly isSameNamespace: boolean;
};

/**
 * The session of a namespace's first process and of its children without their own session, as in build servers and containers.
 * Attempts have their own sessions, so none is in it. An attempt that made its own namespace is in session 0 there, but that is
 * another namespace.
 */
const NO_LEADER = 0;

/** Programs between a login or terminal and its shell. They start nothing for others. */
const LOGIN_PROGRAMS = ['sshd', 'sshd-session', 'login', 'su'];

export function isFromOlderTerminal(
  { pid, before, needsTerminal, isSameNamespace }: OriginQuestion,
  view: ProcessView,
) {
  const isOlder = (one: OriginProcess | null) => one !== null && one.start < before;
  const own = view.process(pid);
  if (own === null) return false;
  if (!needsTerminal && (isOlder(view.process(own.session)) || (own.session === NO_LEADER && isSameNamespace)))
    return true;
  // Without attempts there are no orphans.
  if (before === Number.POSITIVE_INFINITY) return !needsTerminal || own.terminal !== null;
  if (own.terminal === null) return false;
  return [own, ...parentsOf(own, view)].some((one) => {
    if (isLogin(one, own, view)) return true;
    if (one.terminal === null) return false;
    // In a container, a process without a parent was started from outside.
    if (one.ppid === 0 && one.pid !== 1 && isSameNamespace) return true;
    const leader = view.process(one.session);
    return isOlder(leader) || (leader !== null && isGivenByOlder(leader, isOlder, view));
  });
}

/** Whether an older program, or its direct child, made the terminal of a session. */
function isGivenByOlder(leader: OriginProcess, isOlder: (one: OriginProcess) => boolean, view: ProcessView): boolean {
  const terminal = leader.terminal;
  if (terminal === null) return false;
  const between: OriginProcess[] = [];
  for (const parent of parentsOf(leader, view)) {
    const programs = between.filter(({ name }) => !LOGIN_PROGRAMS.includes(name));
    if (isOlder(parent)) {
      if (programs.length === 0) return holdsAny([...between, parent]) !== false;
      return programs.length === 1 && holdsAny(programs) === true;
    }
    between.push(parent);
  }
  return false;

  function holdsAny(programs: readonly OriginProcess[]): boolean | null {
    const seen = programs.map(({ pid }) => view.holdsTerminal(pid, terminal ?? ''));
    return seen.includes(true) || (seen.includes(null) ? null : false);
  }
}

/** An agent that runs as root can start a login program itself, so root proves nothing to root. */
function isLogin(one: OriginProcess, { uid }: OriginProcess, { logins }: ProcessView): boolean {
  return uid !== 0 && one.uid === 0 && logins.includes(one.name);
}

/** The processes above, parent first, up to a reaper's child. */
function parentsOf(one: OriginProcess, view: ProcessView): readonly OriginProcess[] {
  const above: OriginProcess[] = [];
  const seen = new Set([one.pid]);
  for (let at = one.ppid; at > 1 && !seen.has(at); ) {
    const parent = view.process(at);
    if (parent === null || parent.isReaper) break;
    above.push(parent);
    seen.add(at);
    at = parent.ppid;
  }
  return above;
}

/** The processes of this machine, from `/proc` or else from `ps`. */
export function processView(): ProcessView {
  return HAS_PROC ? viewOfProc() : viewOfPs(askPs());
}

/** Whether a program adopts orphans, as a user's `systemd --user` does. */
export function isReaper(command: string): boolean {
  return /^(?:\S*\/)?systemd\0(?:[^\0]*\0)*--user\0/.test(command);
}

/** Reads `/proc/<pid>/stat`, and the user from `/proc/<pid>/status`. The program name may contain anything. */
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

/** The number of a pseudo-terminal from its device number, or null for another terminal. */
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
        return null; // Another user's process, or one that hides its files as `sshd` does.
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
 * The table that `ps` prints with `COLUMNS`. It lacks session leaders, so the outermost parent with the same terminal is taken.
 * `login` proves nothing here, because every user may start it without a password.
 */
export function viewOfPs(table: string): ProcessView {
  const rows = new Map<number, Omit<OriginProcess, 'session'>>();
  for (const line of table.split('\n')) {
    const [, pid, ppid, uid, tty, lstart = '', command = ''] =
      /^\s*(\d+)\s+(\d+)\s+(-?\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(line) ?? [];
    const start = startOrder(`/${lstart.replace(/\s+/g, ' ')}`);
    if (pid === undefined || start === null) continue;
    const terminal = tty === undefined || /^[?-]+$/.test(tty) ? null : tty;
    // A login shell begins with a dash, and `sshd` ends with its user.
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
