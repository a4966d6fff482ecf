// The folders that a person trusts: their content may run commands. The record is in the user's folder. A folder counts by its real
// path and with everything below it. A repository's git configuration counts only in the state that the person trusted.
import { mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { userFolder, whyOpen } from '../access/user-folder.ts';
import { isObject, isString } from '../kernel/json.ts';
import { gitFoldersOf, localConfigOf } from './repository-files.ts';

type Trusted = {
  readonly at: string;
  /** The folder's repository and the digest of its configuration. */
  readonly git?: { readonly folder: string; readonly config: string };
};

type Folders = Readonly<Record<string, Trusted>>;

const FILE = 'trusted-folders.json';

/** `withGit`: the person has also seen the commands in the git configuration. */
export function trustFolder(dir: string, env: NodeJS.ProcessEnv, at: string, withGit = true): void {
  const folders = withGit ? gitFoldersOf(dir) : null;
  const git = folders && { folder: folders.common, config: localConfigOf(folders).digest };
  const all = { ...readTrusted(env), [realpathSync(dir)]: { at, ...(git ? { git } : {}) } };
  const folder = userFolder(env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, FILE);
  writeFileSync(`${file}.${process.pid}.new`, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.${process.pid}.new`, file);
}

/** Whether the folder, or one above it, is trusted. */
export function isTrusted(dir: string, env: NodeJS.ProcessEnv): boolean {
  const trusted = readTrusted(env);
  for (let at = realpathSync(dir); ; at = dirname(at)) {
    if (Object.hasOwn(trusted, at)) return true;
    if (dirname(at) === at) return false;
  }
}

/** Whether the repository's configuration is unchanged since a person trusted a folder in it. */
export function isConfigTrusted(common: string, digest: string, env: NodeJS.ProcessEnv): boolean {
  return Object.values(readTrusted(env)).some(({ git }) => git?.folder === common && git.config === digest);
}

/** A record that others could have written does not count. */
function readTrusted(env: NodeJS.ProcessEnv): Folders {
  const file = join(userFolder(env), FILE);
  try {
    if (whyOpen(statSync(file), 0o022) !== null) return {};
    const read = JSON.parse(readFileSync(file, 'utf8')) as unknown;
    if (!isObject(read)) return {};
    const sound = Object.entries(read).filter(([, one]) => isObject(one) && isString(one.at));
    return Object.fromEntries(sound) as unknown as Folders;
  } catch {
    return {};
  }
}
