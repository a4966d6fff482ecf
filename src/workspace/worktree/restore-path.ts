// Brings a path of a worktree back to what a commit has there, which may be nothing. Git leaves repositories that lie there
// alone; they are moved away beside the worktree, because nobody else has what is in them.
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { git, tryGit } from './git.ts';
import type { WorktreeRecord } from './record.ts';
import { strangersIn } from './repositories.ts';

type Place = Pick<WorktreeRecord, 'folder'>;

/** `cwd` is the folder from which the path is named. Answers the folders in which repositories are now. */
export async function restorePath(
  place: Place,
  cwd: string,
  path: string,
  commit = 'HEAD',
): Promise<readonly string[]> {
  const isThere = path === '.' || (await tryGit(cwd, ['cat-file', '-e', `${commit}:./${path}`])).code === 0;
  if (isThere) {
    await git(cwd, ['--literal-pathspecs', 'restore', `--source=${commit}`, '--staged', '--worktree', '--', path]);
  } else await git(cwd, ['--literal-pathspecs', 'rm', '-rq', '--cached', '--ignore-unmatch', '--', path]);
  return cleanPath(place, cwd, path);
}

/** Takes away what git does not know below a path, and does not ignore. */
export async function cleanPath(place: Place, cwd: string, path = '.'): Promise<readonly string[]> {
  await git(cwd, ['--literal-pathspecs', 'clean', '-qfd', '--', path]);
  const moved: string[] = [];
  for (const repository of await strangersIn(cwd, path)) {
    const to = freePlace(place, repository);
    renameSync(join(cwd, repository), to);
    moved.push(to);
  }
  return moved;
}

/** Where repositories of a worktree were moved that were in the way, in words; empty where none were. */
export function saidOfMoved({ folder }: Place): string {
  const apart = apartFolder(folder);
  return existsSync(apart) ? `; repositories that were in the way of a turn are kept in ${apart}` : '';
}

function apartFolder(folder: string): string {
  return `${folder}.apart`;
}

/** Beside the worktree, where nothing clears it away. */
function freePlace({ folder }: Place, repository: string): string {
  const apart = apartFolder(folder);
  mkdirSync(apart, { recursive: true, mode: 0o700 });
  const name = basename(repository);
  for (let count = 1; ; count += 1) {
    const to = join(apart, count === 1 ? name : `${name}-${count}`);
    if (!existsSync(to)) return to;
  }
}
