// Shares the packages that are installed in the main checkout with a worktree, so that tools find them there. The folder itself
// is a real one, because git often ignores folders of that name only. Each package in it is a link to the one of the main
// checkout. A link that leads to a package of the project itself is made again as it is, so that it leads to the worktree's.
import {
  copyFileSync,
  cpSync,
  type Dirent,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { records, tryGit } from './git.ts';

/** Folders of packages that tools look for in the folders above a file. */
const PACKAGES: readonly string[] = ['node_modules'];
const FOLDERS_MAX = 200;

/** Where packages are installed in a checkout and git ignores them, by paths from the folder. */
export async function packageFolders(folder: string): Promise<readonly string[]> {
  const list = ['ls-files', '-o', '-i', '--exclude-standard', '--directory', '-z', '--', '.'];
  const found = records((await tryGit(folder, list)).out).flatMap((path) =>
    path.endsWith('/') ? [path.slice(0, -1)] : [],
  );
  return found.filter((path) => PACKAGES.includes(basename(path))).slice(0, FOLDERS_MAX);
}

export function sharePackages(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true }))
    share(entry, join(from, entry.name), join(to, entry.name));
}

/** What tools keep in hidden folders for themselves is theirs, except the programs of packages and pnpm's store. */
function share(entry: Dirent, from: string, to: string): void {
  const { name } = entry;
  if (existsSync(to)) return;
  if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (name === '.bin') cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  else if (entry.isFile()) copyFileSync(from, to);
  else if (name.startsWith('@')) sharePackages(from, to);
  else if (entry.isDirectory() && (!name.startsWith('.') || name === '.pnpm')) symlinkSync(from, to);
}
