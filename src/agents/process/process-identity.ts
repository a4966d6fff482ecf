// What the system says about processes. A process is its pid together with its start, because pids are reused. A zombie has ended
// and counts as gone.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

export type ProcessIdentity = { readonly pid: number; readonly startTime: string };

/** One line of the process table. */
export type ProcessRow = ProcessIdentity & {
  readonly ended: boolean;
  readonly ppid: number;
  readonly pgid: number;
  /** The id of the session, or null if unknown. */
  readonly session: number | null;
};

export const HAS_PROC = existsSync('/proc/self/stat');

/** When a process started, in a form that is only good for comparing; null when there is no such process any more. */
export function startTimeOf(pid: number): string | null {
  const row = rowOf(pid);
  return row === null || row.ended ? null : row.startTime;
}

/** The identity of a child just started, even if it has ended since: then its group may still have members. */
export function identityOfChild(pid: number): ProcessIdentity {
  return { pid, startTime: rowOf(pid)?.startTime ?? `${bootId()}/` };
}

/** What this process is called by others. */
export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTime: startTimeOf(process.pid) ?? '' };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return startTimeOf(identity.pid) === identity.startTime;
}

/** False means that the machine was restarted since: the process with this identity is gone. */
export function isOfThisBoot(identity: ProcessIdentity): boolean {
  return identity.startTime.startsWith(`${bootId()}/`);
}

/** A number that orders the starts of one boot, in hundredths of a second; null for a text that is no start. */
export function startOrder(startTime: string): number | null {
  const text = startTime.slice(startTime.indexOf('/') + 1);
  if (/^[0-9]+$/.test(text)) return Number(text);
  // `ps` tells the start by the calendar, in whole seconds.
  const at = Date.parse(`${text} UTC`);
  return Number.isFinite(at) ? at / 10 : null;
}

/** Signals every process of a group. False when there is none left that could be signalled. */
export function killGroup(pgid: number, signal: NodeJS.Signals): boolean {
  // Group 0 would be our own and 1 everybody's.
  return Number.isSafeInteger(pgid) && pgid > 1 && send(-pgid, signal);
}

/** Signals one process, if it is still the one that is meant. */
export function killProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  return isAlive(identity) && send(identity.pid, signal);
}

/** Every process that has not ended. */
export function processTable(): ProcessRow[] {
  if (isBlind()) return [];
  return (HAS_PROC ? tableFromProc() : tableFromPs()).filter((row) => !row.ended);
}

/** Every process that runs such a command line. The rest of a process is read only then, which takes half the time. */
export function processesRunning(isMeant: (command: string) => boolean): readonly ProcessRow[] {
  if (!HAS_PROC) return processTable().filter(({ pid }) => isMeant(commandOf(pid)));
  if (isBlind()) return [];
  const rows = pidsInProc().filter((pid) => isMeant(commandOf(pid)));
  return rows.map(rowFromProc).filter((row) => row !== null && !row.ended) as ProcessRow[];
}

/** The processes above one, its parent first. On a system without `/proc` that takes a look at the whole table. */
export function ancestorsOf(pid: number): readonly ProcessRow[] {
  const table = HAS_PROC ? null : new Map(processTable().map((row) => [row.pid, row]));
  const rowAt = (at: number) => (table ? (table.get(at) ?? null) : rowFromProc(at));
  const above: ProcessRow[] = [];
  const first = pid === process.pid ? ownNumber() : pid;
  const seen = new Set([first]);
  for (let at = rowAt(first)?.ppid ?? 0; at > 1 && !seen.has(at); ) {
    const row = rowAt(at);
    if (row === null) break;
    above.push(row);
    seen.add(at);
    at = row.ppid;
  }
  return above;
}

/** The number of this process as `/proc` counts, which may belong to another namespace. */
function ownNumber(): number {
  try {
    return HAS_PROC ? Number(readlinkSync('/proc/self')) : process.pid;
  } catch {
    return process.pid;
  }
}

/** The command line of a process, its words parted by NUL where the system tells them apart; empty where it tells nothing. */
export function commandOf(pid: number): string {
  if (!HAS_PROC) return ask('ps', ['-p', String(pid), '-o', 'command=']).trimEnd();
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // It ended.
  }
}

/** The variables that a process was started with; null if unknown, or if it ended. */
export function processVariables(pid: number): Readonly<Record<string, string>> | null {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return Object.fromEntries(variables.map((pair) => pair.split(/=(.*)/s, 2)));
  } catch {
    return null;
  }
}

/** Reads a line of `/proc/<pid>/stat`. The name of the program is in parentheses and may contain anything. */
export function rowFromStat(pid: number, stat: string): ProcessRow | null {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, pgid, session] = fields;
  const ticks = fields[19];
  if (state === undefined || ticks === undefined) return null;
  const startTime = `${bootId()}/${ticks}`;
  return { pid, ppid: Number(ppid), pgid: Number(pgid), session: Number(session), startTime, ended: isEnd(state) };
}

/** The process table as `ps` tells it, for systems without `/proc`. */
export function tableFromPs(selection: readonly string[] = ['-A']): ProcessRow[] {
  const columns = ['pid', 'ppid', 'pgid', 'stat', 'lstart'].flatMap((column) => ['-o', `${column}=`]);
  const rows: ProcessRow[] = [];
  for (const line of ask('ps', [...selection, ...columns]).split('\n')) {
    const [pid, ppid, pgid, state, ...started] = line.trim().split(/\s+/);
    if (state === undefined || started.length === 0) continue;
    const startTime = `${bootId()}/${started.join(' ')}`;
    const ended = isEnd(state);
    rows.push({ pid: Number(pid), ppid: Number(ppid), pgid: Number(pgid), session: null, startTime, ended });
  }
  return rows;
}

function rowOf(pid: number): ProcessRow | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  if (isBlind()) return rowBySignal(pid);
  return HAS_PROC ? rowFromProc(pid) : (tableFromPs(['-p', String(pid)])[0] ?? null);
}

/** Without a table of processes a signal tells whether there is one of this number. */
function rowBySignal(pid: number): ProcessRow | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return null;
  }
  return { pid, ppid: 0, pgid: pid, session: null, startTime: `${bootId()}/unknown`, ended: false };
}

function rowFromProc(pid: number): ProcessRow | null {
  try {
    return rowFromStat(pid, readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return null; // It ended.
  }
}

function tableFromProc(): ProcessRow[] {
  return pidsInProc()
    .map(rowFromProc)
    .filter((row) => row !== null);
}

function pidsInProc(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isSafeInteger);
}

function isEnd(state: string): boolean {
  return state.startsWith('Z') || state.startsWith('X');
}

function send(target: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    return false; // Gone already, or not ours to signal.
  }
}

/** The boot of the machine that a start time belongs to; null where the system has no id for it. */
export function bootOf({ startTime }: Pick<ProcessIdentity, 'startTime'>): string | null {
  const [boot = '', ticks] = startTime.split('/');
  return boot === '' || ticks === undefined ? null : boot;
}

/** Linux gives this number to the process namespace that the machine starts with. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

/**
 * The namespace in which process ids are counted: a container or a sandbox has its own. The system reuses the number of a
 * namespace that is gone, so the start of its first process is part of the name. Null where it cannot be determined, and
 * where `/proc` belongs to another namespace: then no process can be inspected.
 */
export function processNamespace(): string | null {
  namespace ??= { value: readNamespace() };
  return namespace.value;
}

let namespace: { readonly value: string | null } | null = null;

/** Whether `/proc` shows the processes of another namespace: then a number here means another process there. */
function isBlind(): boolean {
  return HAS_PROC && processNamespace() === null;
}

function readNamespace(): string | null {
  if (!HAS_PROC) return process.platform === 'linux' ? null : 'host';
  try {
    if (readlinkSync('/proc/self') !== String(process.pid)) return null;
    const number = readlinkSync('/proc/self/ns/pid');
    const first = number === FIRST_NAMESPACE ? null : rowFromProc(1);
    return first === null ? number : `${number} ${first.startTime}`;
  } catch {
    return null;
  }
}

/**
 * An id that a machine keeps when it starts again. Null in a container: containers of one image may share
 * `/etc/machine-id`, and a restart there is found out by the lease.
 */
export function machineId(): string | null {
  if (!HAS_PROC)
    return /"IOPlatformUUID" = "([^"]+)"/.exec(ask('ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']))?.[1] ?? null;
  if (processNamespace() !== FIRST_NAMESPACE) return null;
  try {
    return readFileSync('/etc/machine-id', 'latin1').trim() || null;
  } catch {
    return null;
  }
}

let boot: string | null = null;

function bootId(): string {
  boot ??= (HAS_PROC ? readBootId() : ask('sysctl', ['-n', 'kern.bootsessionuuid'])).trim();
  return boot;
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1');
  } catch {
    return '';
  }
}

// A fixed language and time zone, so that two processes with different settings read the same start time.
function ask(program: string, args: readonly string[]): string {
  try {
    const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };
    return execFileSync(program, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

type ProcessState = {
  readonly letter: string;
  readonly cpuS: number;
  /** What it has written to files. */
  readonly fileBytes: number;
};

const TICKS_PER_SECOND = 100;

/** Null for an ended process, or if unknown. */
export function processState(pid: number): ProcessState | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const cpuS = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    return { letter: fields[0] ?? '', cpuS, fileBytes: fileBytesOf(pid) };
  } catch {
    return null;
  }
}

/** 0 if unknown. */
function fileBytesOf(pid: number): number {
  try {
    return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

const STATE_WORDS: Readonly<Record<string, string>> = {
  R: 'running',
  S: 'waiting',
  D: 'waiting for a disk',
  T: 'stopped',
  t: 'stopped by a debugger',
  I: 'idle',
  Z: 'dead',
};

export function stateInWords(letter: string): string {
  return STATE_WORDS[letter] ?? letter;
}
