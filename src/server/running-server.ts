// Which server runs for a workspace: it says so in the folder of its user, by its address and its process. Agents may write
// in the workspace, and must not lead a person's page to a server of theirs; so it is not noted there. No secret is noted.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { userFolder, whyFolderUnsafe, whyOpen } from '../access/user-folder.ts';
import { isAlive, ownIdentity, type ProcessIdentity } from '../agents/process/process-identity.ts';
import type { Workspace } from '../app/workspace.ts';
import { isObject } from '../kernel/json.ts';
import { workspaceName } from '../workspace/locate.ts';

const FOLDER = 'servers';
const ANSWER_MS_MAX = 2_000;

type Where = Pick<Workspace, 'env' | 'stateDir'>;

/** Answers the function that takes the note away again. In a folder that is not safe nothing is noted. */
export function noteServer({ env, stateDir }: Where, url: string): () => void {
  const folder = join(userFolder(env), FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (whyFolderUnsafe(userFolder(env)) ?? whyFolderUnsafe(folder)) return () => undefined;
  const file = fileFor({ env, stateDir });
  const text = JSON.stringify({ url, stateDir, ...ownIdentity() });
  rmSync(file, { force: true });
  writeFileSync(file, text, { mode: 0o600 });
  return () => {
    // Another server may have begun since.
    if (readText(file) === text) rmSync(file, { force: true });
  };
}

/** The address of the server that runs for the workspace; null for none. */
export async function runningServer({ env, stateDir }: Where): Promise<string | null> {
  const noted = parse(readText(fileFor({ env, stateDir })));
  if (noted?.stateDir !== stateDir || !isAlive(noted)) return null;
  try {
    const { ok } = await fetch(`${noted.url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return ok ? noted.url : null;
  } catch {
    return null; // It is beginning or ending.
  }
}

function fileFor({ env, stateDir }: Where): string {
  return join(userFolder(env), FOLDER, `${workspaceName(stateDir)}.json`);
}

function readText(file: string): string {
  try {
    if (whyOpen(statSync(file), 0o022) !== null) return '';
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function parse(text: string): (ProcessIdentity & { readonly url: string; readonly stateDir: string }) | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return null;
    const { url, stateDir, pid, startTime } = value;
    if (typeof url !== 'string' || !/^https?:\/\/[^/]+$/.test(url)) return null;
    if (typeof stateDir !== 'string' || typeof pid !== 'number' || typeof startTime !== 'string') return null;
    return { url, stateDir, pid, startTime };
  } catch {
    return null;
  }
}
