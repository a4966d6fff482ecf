// Who calls one of our servers: what a caller's token allows, as which actor a call runs, and how a refused caller appears in the log.
// A caller on this machine is also traced to its process: an agent that got hold of a token stays an agent. The last part is about
// page sessions. `baton ui` proves its user to a running server by the digest of a new token in the user's folder. The token itself
// is only in the address of the page.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInsideAttempt } from '../agents/inside-attempt.ts';
import { AGENT_TOKEN } from '../agents/process/attempt-folder.ts';
import { HAS_PROC, processVariables } from '../agents/process/process-identity.ts';
import type { Cast } from '../kernel/cast/state.ts';
import { isObject } from '../kernel/json.ts';
import { type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import type { Actor, PersonProof } from './actor.ts';
import { type Attempt, type AttemptAbove, attemptAbove, attemptWithKey } from './attempt.ts';
import { howPeopleDecide } from './person-proof.ts';
import { type Act, mayDo, proofFor, type Role, refusalToAgent, STARTED_BY_AGENT } from './rights.ts';
import { admitToken } from './tokens.ts';
import { userFolder, whyFolderUnsafe, whyOpen } from './user-folder.ts';
import { ACTS_FOR, NOBODY } from './who-acts.ts';

/** `token` is the name of the caller's token, or null for the server's own token and for a session of its page. */
export type ServerCaller = {
  readonly name: string;
  readonly token: string | null;
  readonly role: Role;
  /** For a session: the proof that a person opened it. */
  readonly proof?: PersonProof;
  /** For an agent: its attempt. It gets the tools of the attempt and nothing else. */
  readonly attempt?: Attempt;
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

/** Whether a token belongs to an agent. It counts for any caller, also after its attempt ended. */
export function isAgentToken(shown: string): boolean {
  return shown.startsWith(AGENT_TOKEN);
}

type AttemptPlace = {
  readonly stateDir: string;
  readonly castOf: (id: string) => Promise<Cast | null>;
};

/**
 * The agent with the token of its attempt, which is good while the attempt is the current one of its turn, under the fence that the
 * token is bound to. Another agent cannot use it, where the system tells who is at the other end of the connection.
 */
export async function agentCalling(
  { stateDir, castOf }: AttemptPlace,
  shown: string,
  connection: ConnectionEnds | null,
): Promise<ServerCaller | Denied> {
  const named = attemptWithKey(stateDir, shown);
  if (named === null)
    return deny(
      'TOKEN_UNKNOWN',
      'this token belongs to no attempt that runs here; the token of an agent ends with its attempt',
    );
  const { cast: id, turn: number, attempt, fence } = named;
  const others = connection === null ? [] : agentsAt(connection);
  const isOwn =
    others.length === 0 || others.some((one) => one?.cast === id && one.turn === number && one.attempt === attempt);
  if (!isOwn) return refusalToAgent('use a token of somebody else', { attempt: `${id}-${number}.${attempt}` });
  const cast = await castOf(id);
  const turn = cast?.turns[number];
  const isPresent = turn?.phase === 'running' && turn.attempt === attempt && turn.fence === fence;
  if (cast?.status !== 'running' || !isPresent) {
    const reason = `attempt ${number}.${attempt} of cast ${id} is over, and its token with it; its results are no longer accepted. Stop working.`;
    return deny('STALE_ATTEMPT', reason, { cast: id, turn: number, attempt });
  }
  const name = `agent:${turn.socket}@${id}-${number}.${attempt}`;
  return { name, token: null, role: 'operator', attempt: { ...named, task: turn.task } };
}

/** The caller acts under the name of its token. If an agent started the server, that agent acts. */
export function actorCalling({ name, token, role, proof, attempt }: ServerCaller, here: Actor): Actor {
  if (attempt) return { name, kind: 'agent', role: null, attempt, proof: () => STARTED_BY_AGENT };
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

/** An attempt, or null for an agent that names none: a checker, or an orphan that kept its mark. */
type AgentAtEnd = AttemptAbove | null;

/** The search through all open files is slow, and a connection serves many requests. */
const known = new WeakMap<ConnectionEnds, readonly AgentAtEnd[]>();

export function isAgentAt(connection: ConnectionEnds): boolean {
  return agentsAt(connection).length > 0;
}

/** Several processes may hold the other end of a connection. */
function agentsAt(connection: ConnectionEnds): readonly AgentAtEnd[] {
  const before = known.get(connection);
  if (before !== undefined) return before;
  const found = agentsBehind(connection);
  known.set(connection, found);
  return found;
}

function agentsBehind({ localPort, remotePort }: ConnectionEnds): readonly AgentAtEnd[] {
  if (!HAS_PROC || localPort === undefined || remotePort === undefined) return [];
  const inodes = ['tcp', 'tcp6'].flatMap((table) => inodesIn(textOf(`/proc/net/${table}`), remotePort, localPort));
  return inodes.length === 0 ? [] : holdersOf(inodes).flatMap(agentIn);
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
  const sockets = new Set(inodes.map((inode) => `socket:[${inode}]`));
  const pids = readdirSync('/proc').map(Number).filter(Number.isSafeInteger);
  return pids.filter((pid) => filesOf(pid).some((file) => sockets.has(file)));
}

function filesOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`));
  } catch {
    return []; // The process ended, or belongs to another user.
  }
}

function agentIn(pid: number): readonly AgentAtEnd[] {
  const above = attemptAbove(pid);
  return above !== null || isInsideAttempt(processVariables(pid) ?? {}, pid) ? [above] : [];
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

/** A working day. After it, the page must be opened again. */
const GOOD_FOR_MS = 16 * 3_600_000;
const TOKEN_CHARS_MAX = 200;
/** A decision that needs a terminal, about the whole workspace. */
const DECISION = 'approve';

type PageSession = {
  readonly workspace: string;
  readonly name: string;
  /** Whether a person gave the command, proved by a terminal that is older than every agent of the workspace. */
  readonly isPerson: boolean;
  readonly expires: string;
};

type SessionPlace = { readonly env: NodeJS.ProcessEnv; readonly stateDir: string; readonly program: string };

/** Opens a session for the actor of this process and returns its token. Null if the user's folder is not safe. */
export function openPageSession({ env, stateDir, program }: SessionPlace, actor: Actor, now: number): string | null {
  const folder = folderOf(env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (whyFolderUnsafe(userFolder(env)) ?? whyFolderUnsafe(folder)) return null;
  for (const name of readdirSync(folder))
    if (isOver(join(folder, name), now)) rmSync(join(folder, name), { force: true });
  const token = randomBytes(32).toString('base64url');
  const session: PageSession = {
    workspace: stateDir,
    name: actor.name,
    isPerson: actor.proof?.(DECISION, null, program) === null,
    expires: new Date(now + GOOD_FOR_MS).toISOString(),
  };
  writeFileSync(fileOf(folder, token), JSON.stringify(session), { mode: 0o600, flag: 'wx' });
  return token;
}

/** The caller with the token of a session of this workspace. Null for any other token. */
export function sessionCaller(
  { env, stateDir, program }: SessionPlace,
  shown: string,
  now: number,
): ServerCaller | null {
  if (shown === '' || shown.length > TOKEN_CHARS_MAX) return null;
  const folder = folderOf(env);
  const session = readSession(fileOf(folder, shown));
  if (!session || session.workspace !== stateDir || now >= Date.parse(session.expires)) return null;
  return { name: session.name, token: null, role: 'admin', proof: proofOf(session, program) };
}

function proofOf({ isPerson }: PageSession, program: string): PersonProof {
  return (form) => {
    if (isPerson || proofFor(form) === null) return null;
    return `nothing showed that a person opened this page; ${howPeopleDecide(program)}`;
  };
}

function folderOf(env: NodeJS.ProcessEnv): string {
  return join(userFolder(env), 'pages');
}

function fileOf(folder: string, token: string): string {
  return join(folder, `${hash('sha256', token, 'hex')}.json`);
}

function isOver(file: string, now: number): boolean {
  const session = readSession(file);
  return session === null || now >= Date.parse(session.expires);
}

function readSession(file: string): PageSession | null {
  try {
    if (whyOpen(statSync(file), 0o077) !== null) return null;
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isObject(value)) return null;
    const { workspace, name, isPerson, expires } = value;
    if (typeof workspace !== 'string' || typeof name !== 'string' || typeof isPerson !== 'boolean') return null;
    return typeof expires === 'string' ? { workspace, name, isPerson, expires } : null;
  } catch {
    return null; // There is no such session.
  }
}
