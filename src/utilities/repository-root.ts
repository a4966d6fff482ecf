// Which repository a folder lies in, told by the marks that jj and git leave in its root.
import { existsSync } from 'node:fs';
import path from 'node:path';

export type Repository = { readonly kind: 'jj' | 'git'; readonly root: string };

/**
 * The nearest ancestor that is a repository, or null. A folder that is both counts as jj, which works on top of git.
 * The mark of git is a folder, or a file in a worktree.
 */
export function repositoryOf(cwd: string): Repository | null {
  for (let folder = path.resolve(cwd); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, '.jj'))) return { kind: 'jj', root: folder };
    if (existsSync(path.join(folder, '.git'))) return { kind: 'git', root: folder };
    if (folder === path.dirname(folder)) return null;
  }
}
