// Where git keeps what configures it, found without asking git: a planted configuration must not run before it is seen.
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export type GitFolders = {
  /** The folder with HEAD and index; a worktree has its own. */
  readonly own: string;
  /** The folder with config, hooks and info, which all worktrees of a repository share. */
  readonly common: string;
  /** The `.git` entry itself. */
  readonly entry: string;
};

/** Null where no folder above is a git repository. */
export function gitFoldersOf(folder: string): GitFolders | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const entry = join(at, '.git');
    const own = ownFolder(entry);
    if (own !== null) return { own, common: commonFolder(own), entry };
    if (dirname(at) === at) return null;
  }
}

/** A file of git that each worktree has for itself, such as `index`; null where no folder above is a git repository. */
export function ownGitFile(folder: string, name: string): string | null {
  const folders = gitFoldersOf(folder);
  return folders && join(folders.own, name);
}

function ownFolder(entry: string): string | null {
  const found = statSync(entry, { throwIfNoEntry: false });
  if (found?.isDirectory()) return real(entry);
  if (!found?.isFile()) return null;
  const [, target] = /^gitdir: (.+?)\s*$/s.exec(textOf(entry) ?? '') ?? [];
  return target === undefined ? null : real(resolve(dirname(entry), target));
}

function commonFolder(own: string): string {
  const target = textOf(join(own, 'commondir'))?.trim();
  return target ? real(resolve(own, target)) : own;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const TEXT_BYTES_MAX = 4 * 1024 * 1024;

/** The text of a small plain file; null where there is none. */
export function textOf(file: string): string | null {
  try {
    const { size } = statSync(file);
    return statSync(file).isFile() && size <= TEXT_BYTES_MAX ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  }
}
