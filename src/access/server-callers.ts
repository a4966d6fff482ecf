// Who calls one of our servers: what a caller's token allows, as which actor a call runs, and how a refused caller appears in the
// log. A caller on this machine is also traced to its process: an agent that got hold of a token stays an agent.
import { hash, timingSafeEqual } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isInsideAttempt } from '../agents/inside-attempt.ts';
import { HAS_PROC, processVariables } from '../agents/process/process-identity.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import type { Actor, PersonProof } from './actor.ts';
import { attemptAbove } from './attempt.ts';
import { type Act, mayDo, type Role } from './rights.ts';
import { admitToken } from './tokens.ts';
import { ACTS_FOR, NOBODY } from './who-acts.ts';

/** `token` is the name of the caller's token, or null for the server's own token and for a session of its page. */
export type ServerCaller = {
  readonly name: string;
  readonly token: string | null;
  readonly role: Role;
  /** For a session: the proof that a person opened it. */
  readonly proof?: PersonProof;
};

/** Why a server cannot start with the token in its environment, or null. An agent has no role, but limited tools. */
export function refusalOfStart(env: NodeJS.ProcessEnv, shown: string | null, here: Actor, act: Act): Denied | null {
  if (shown !== null && here.kind !== 'agent') {
    const admitted = admitToken(env, shown, Date.now());
    if (!admitted.ok) return admitted.verdict;
  }
  const may = here.role === null ? null : mayDo(here.role, act, '`mcp`');
  return may === null || may.allow ? null : may;
}

/** Whether the server's token still allows a decision. It may expire or be revoked at any time. */
export function mayDecideBy(env: NodeJS.ProcessEnv, shown: string): Verdict {
  const admitted = admitToken(env, shown, Date.now());
  return admitted.ok ? mayDo(admitted.value.role, 'decide', 'a decision') : admitted.verdict;
}

/** The caller with a token. The server's own token means the actor who started it. */
export function callerWith(env: NodeJS.ProcessEnv, here: Actor, own: string, shown: string): ServerCaller | Denied {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  // Constant time, for right and wrong tokens.
  if (timingSafeEqual(digest(shown), digest(own))) return { name: here.name, token: null, role: 'admin' };
  const admitted = admitToken(env, shown, Date.now());
  if (!admitted.ok) return admitted.verdict;
  const { name: token, role } = admitted.value;
  return { name: `token:${token}`, token, role };
}

/** The caller acts under the name of its token. If an agent started the server, that agent acts. */
export function actorCalling({ name, token, role, proof }: ServerCaller, here: Actor): Actor {
  if (proof) return { name, kind: 'person', role, attempt: null, proof };
  if (here.kind === 'agent' || here.name === name) return here;
  // A process started for the caller acts for the same token.
  const env = token === null ? {} : { [ACTS_FOR]: token };
  return { name, kind: 'person', role, attempt: null, env };
}

/** Who was refused a tool. For an agent, also which tool. */
export function refusedCaller({ code, details }: Denied, { name: who, kind }: Actor) {
  if (code !== 'APPROVER_IS_AGENT') return { who };
  const what = typeof details.tool === 'string' ? { what: details.tool } : {};
  return { who: kind === 'agent' ? who : 'agent:unknown', ...what };
}

/** Who was refused a connection, named by the token if it ever existed. */
export function refusedStranger({ code, details }: Denied): string {
  if (code === 'APPROVER_IS_AGENT') return 'agent:unknown';
  return typeof details.token === 'string' ? `token:${details.token}` : NOBODY;
}

/** The ports of a connection, as the server sees them. */
type ConnectionEnds = { readonly localPort?: number | undefined; readonly remotePort?: number | undefined };

/** The search through all open files is slow, and a connection serves many requests. */
const known = new WeakMap<ConnectionEnds, boolean>();

export function isAgentAt(connection: ConnectionEnds): boolean {
  const told = known.get(connection);
  if (told !== undefined) return told;
  const isAgent = isAgentBehind(connection);
  known.set(connection, isAgent);
  return isAgent;
}

function isAgentBehind({ localPort, remotePort }: ConnectionEnds): boolean {
  if (!HAS_PROC || localPort === undefined || remotePort === undefined) return false;
  const inodes = ['tcp', 'tcp6'].flatMap((table) => inodesIn(textOf(`/proc/net/${table}`), remotePort, localPort));
  return inodes.length > 0 && holdersOf(inodes).some(isOfAttempt);
}

/** The sockets in a system table that connect two ports. */
export function inodesIn(table: string, from: number, to: number): readonly string[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', remote = '', , , , , , , inode = '0'] = line.trim().split(/\s+/);
    return portOf(local) === from && portOf(remote) === to && inode !== '0' ? [inode] : [];
  });
}

function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16);
}

/** Several processes may share a socket. */
function holdersOf(inodes: readonly string[]): readonly number[] {
  const wanted = new Set(inodes.map((inode) => `socket:[${inode}]`));
  const pids = readdirSync('/proc').map(Number).filter(Number.isSafeInteger);
  return pids.filter((pid) => filesOf(pid).some((file) => wanted.has(file)));
}

function filesOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`));
  } catch {
    return []; // The process ended, or belongs to another user.
  }
}

function isOfAttempt(pid: number): boolean {
  return attemptAbove(pid) !== null || isInsideAttempt(processVariables(pid) ?? {}, pid);
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
