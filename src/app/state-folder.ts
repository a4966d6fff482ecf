// The folder that holds the state of a workspace, before anything opens a file in it: whether it can be used at all, and
// what to tell a person when it cannot.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StorageError } from '../engine/ports.ts';
import { gitFoldersOf } from '../git/repository-files.ts';
import { networkShareAt } from '../log/sqlite/file-system.ts';
import { isLink, logFileIn, refuseStrange } from '../log/sqlite/open.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';

/** Whether a cast was ever started here. A state folder that cannot be looked into is a fault, not an absence. */
export function hasLog({ dir, stateDir }: LocatedWorkspace): boolean {
  try {
    refuseLink(join(dir, '.baton'));
    refuseLink(stateDir);
    refuseStrange(logFileIn(stateDir));
    if (statSync(logFileIn(stateDir), { throwIfNoEntry: false })) return true;
    const blocking = blockingFile(stateDir);
    if (blocking === null) return false;
    throw unusable(`${blocking} is a file where a folder is needed; move it away`);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw unusable(`${stateDir} cannot be looked into; make it readable and writable for you`);
  }
}

/**
 * Makes the state folder, for its owner only. Folder by folder: asked to make a whole path at once where none can be
 * made, such as below `/proc`, Node never answers.
 */
export function makeStateFolder(workspace: LocatedWorkspace): void {
  hasLog(workspace);
  for (const folder of missingFolders(workspace.stateDir)) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // Another process may have been faster.
      if (code === 'EEXIST' && statSync(folder, { throwIfNoEntry: false })) continue;
      if (code === 'EEXIST') throw unusable(`${folder} is a link that leads nowhere; remove it`);
      throw unusable(`${folder} cannot be made (${code}); make ${dirname(folder)} writable for you`);
    }
  }
  const share = networkShareAt(workspace.stateDir);
  if (share !== null)
    throw unusable(
      `${workspace.stateDir} is on a network share (${share}), where SQLite is not safe; use a folder of a local disk`,
    );
  for (const folder of FIXED_NAMES.map((name) => join(workspace.stateDir, name))) refuseStrangers(folder);
  hideFromGit(workspace.stateDir);
  keepFromCleaning(workspace);
}

/** The folders in which we write under names that are known before. Others have the ids of casts in their names. */
const FIXED_NAMES = ['.', 'checkpoints', 'install'];

/** A project could bring a link along in the place of what we write, or a pipe in the place of what we read. */
function refuseStrangers(folder: string): void {
  if (!existsSync(folder)) return;
  for (const one of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, one.name);
    refuseLink(path);
    if (!one.isFile() && !one.isDirectory()) throw unusable(`${path} is not a plain file; move it away`);
  }
}

function refuseLink(path: string): void {
  if (!isLink(path)) return;
  if (!statSync(path, { throwIfNoEntry: false })) throw unusable(`${path} is a link that leads nowhere; remove it`);
  throw unusable(`${path} is a link, and nothing is read or written through one; put a folder in its place`);
}

/** Written where `.baton` has no `.gitignore`; it is no file of the project. */
export const IGNORES_ITSELF = 'state/\n/.gitignore\n';

const IGNORES_STATE = /^\/?(?:state\/?|\*)\s*$/m;

/**
 * `git clean -fdx` takes everything away that git ignores, except what is a repository of its own. So the state folder is one,
 * an empty one. Git then asks the folders above whether to ignore it, and they have to say so.
 */
function keepFromCleaning({ dir, stateDir }: LocatedWorkspace): void {
  if (stateDir !== join(dir, '.baton', 'state') || !gitFoldersOf(dir)) return;
  const rules = join(dir, '.baton', '.gitignore');
  try {
    writeFileSync(rules, IGNORES_ITSELF, { flag: 'wx' });
  } catch {
    // There is one already, which says what its owner wants.
  }
  if (existsSync(join(stateDir, '.git'))) return;
  try {
    // Where git does not ignore an empty repository, `git add` fails because of it.
    if (!IGNORES_STATE.test(readFileSync(rules, 'utf8'))) return;
    const ready = join(stateDir, `.git.${process.pid}`);
    for (const name of ['objects', 'refs']) mkdirSync(join(ready, name), { recursive: true, mode: 0o700 });
    writeFileSync(join(ready, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');
    writeFileSync(join(ready, 'HEAD'), 'ref: refs/heads/state\n');
    renameSync(ready, join(stateDir, '.git'));
  } catch {
    // Another process was faster, or the folder cannot be written, which opening the log reports.
  }
}

/** Keeps git from looking at the state, so that a commit or a checkout of the project does not touch it. */
function hideFromGit(stateDir: string): void {
  try {
    writeFileSync(join(stateDir, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already, or the folder cannot be written, which opening the log reports.
  }
}

/** A missing table means a cut or half restored file, which a person can repair. Other errors stay as they are. */
export function asDamage(error: unknown, { stateDir }: LocatedWorkspace): unknown {
  const { message = '' } = (error ?? {}) as Error;
  const missing = /no such (?:table|column): \w+/.exec(message)?.[0];
  if (missing === undefined) return error;
  const reason = `${logFileIn(stateDir)}: ${missing}; the file is damaged; restore it from a copy`;
  return new StorageError('STORAGE_FAILED', reason, { cause: error });
}

function unusable(why: string): StorageError {
  return new StorageError('STORAGE_FAILED', `${why}, or point BATON_HOME elsewhere`);
}

/** The file that stands where the state folder, or a folder above it, would have to be. */
function blockingFile(stateDir: string): string | null {
  for (let at = stateDir; ; at = dirname(at)) {
    const found = statSync(at, { throwIfNoEntry: false });
    if (found) return found.isDirectory() ? null : at;
  }
}

/** From the outside to the inside. */
function missingFolders(folder: string): readonly string[] {
  return statSync(folder, { throwIfNoEntry: false }) ? [] : [...missingFolders(dirname(folder)), folder];
}
