// Who opened the page of a server that was running already. `baton ui` shows who it is to nobody but the folder of its user:
// it keeps the digest of a new token there, and the server finds it. The token itself is in the address of the page alone.
import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../kernel/json.ts';
import type { Actor, PersonProof } from './actor.ts';
import { howPeopleDecide } from './person-proof.ts';
import { proofFor } from './rights.ts';
import type { ServerCaller } from './server-callers.ts';
import { userFolder, whyFolderUnsafe, whyOpen } from './user-folder.ts';

/** A working day; then the page is opened again. */
const GOOD_FOR_MS = 16 * 3_600_000;
const TOKEN_CHARS_MAX = 200;
/** A decision that needs a terminal, about the whole workspace. */
const DECISION = 'approve';

type Session = {
  readonly workspace: string;
  readonly name: string;
  /** Whether the command showed that a person gave it, by a terminal that is older than every agent of the workspace. */
  readonly isPerson: boolean;
  readonly expires: string;
};

type Where = { readonly env: NodeJS.ProcessEnv; readonly stateDir: string; readonly program: string };

/** Opens the page for whoever runs this process; answers the token. Null where the user's folder is not safe. */
export function openSession({ env, stateDir, program }: Where, actor: Actor, now: number): string | null {
  const folder = folderOf(env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (whyFolderUnsafe(userFolder(env)) ?? whyFolderUnsafe(folder)) return null;
  for (const name of readdirSync(folder))
    if (isOver(join(folder, name), now)) rmSync(join(folder, name), { force: true });
  const token = randomBytes(32).toString('base64url');
  const session: Session = {
    workspace: stateDir,
    name: actor.name,
    isPerson: actor.proof?.(DECISION, null, program) === null,
    expires: new Date(now + GOOD_FOR_MS).toISOString(),
  };
  writeFileSync(fileOf(folder, token), JSON.stringify(session), { mode: 0o600, flag: 'wx' });
  return token;
}

/** The caller that shows the token of a session of this workspace; null for any other token. */
export function sessionCaller({ env, stateDir, program }: Where, shown: string, now: number): ServerCaller | null {
  if (shown === '' || shown.length > TOKEN_CHARS_MAX) return null;
  const folder = folderOf(env);
  const session = readSession(fileOf(folder, shown));
  if (!session || session.workspace !== stateDir || now >= Date.parse(session.expires)) return null;
  return { name: session.name, token: null, role: 'admin', proof: proofOf(session, program) };
}

function proofOf({ isPerson }: Session, program: string): PersonProof {
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

function readSession(file: string): Session | null {
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
