// Who is at the other end of a connection within this machine. A token says as whom somebody wants to act; that an agent of a
// cast got hold of it must not make a person of the agent. Where the system does not tell which process holds a connection,
// nobody is taken for an agent.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isInsideAttempt } from '../agents/inside-attempt.ts';
import { HAS_PROC, variablesOf } from '../agents/process/process-identity.ts';
import { attemptAbove } from './attempt.ts';

/** The ports of a connection, as the one who was called sees them. */
export type Ends = { readonly localPort?: number | undefined; readonly remotePort?: number | undefined };

/** Looking through the open files of all processes takes its time, and a connection serves many requests. */
const known = new WeakMap<Ends, boolean>();

export function isAgentAt(connection: Ends): boolean {
  const told = known.get(connection);
  if (told !== undefined) return told;
  const isAgent = lookUp(connection);
  known.set(connection, isAgent);
  return isAgent;
}

function lookUp({ localPort, remotePort }: Ends): boolean {
  if (!HAS_PROC || localPort === undefined || remotePort === undefined) return false;
  const inodes = ['tcp', 'tcp6'].flatMap((table) => inodesIn(textOf(`/proc/net/${table}`), remotePort, localPort));
  return inodes.length > 0 && holdersOf(inodes).some(isOfAttempt);
}

/** The sockets in a table of the system that lead from one port to another. */
export function inodesIn(table: string, from: number, to: number): readonly string[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', remote = '', , , , , , , inode = '0'] = line.trim().split(/\s+/);
    return portOf(local) === from && portOf(remote) === to && inode !== '0' ? [inode] : [];
  });
}

function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16);
}

/** A socket may have been handed down to several processes. */
function holdersOf(inodes: readonly string[]): readonly number[] {
  const wanted = new Set(inodes.map((inode) => `socket:[${inode}]`));
  const pids = readdirSync('/proc').map(Number).filter(Number.isSafeInteger);
  return pids.filter((pid) => filesOf(pid).some((file) => wanted.has(file)));
}

function filesOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`));
  } catch {
    return []; // It ended, or is another user's.
  }
}

function isOfAttempt(pid: number): boolean {
  return attemptAbove(pid) !== null || isInsideAttempt(variablesOf(pid) ?? {}, pid);
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // It was closed.
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
