// The folder that holds the state of a workspace, before anything opens a file in it: whether it can be used at all, and
// what to tell a person when it cannot.
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StorageError } from '../engine/storage-error.ts';
import { logFileIn } from '../log/sqlite.ts';
import type { Workspace } from '../workspace/locate.ts';

/** Whether a cast was ever started here. A state folder that cannot be looked into is a fault, not an absence. */
export function hasLog({ stateDir }: Workspace): boolean {
  try {
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
export function makeStateFolder(workspace: Workspace): void {
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
  hideFromGit(workspace.stateDir);
}

/** Whatever is committed or checked out in the project, the state stays where it is: git does not look at it. */
function hideFromGit(stateDir: string): void {
  try {
    writeFileSync(join(stateDir, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already, or the folder cannot be written; whoever opens the log next says so.
  }
}

/** A log that lacks one of its tables was cut or half restored: a person can mend that, and no program did wrong. */
export function asDamage(error: unknown, { stateDir }: Workspace): unknown {
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
