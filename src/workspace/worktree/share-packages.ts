// Shares the installed packages of the main checkout with a worktree, and what `init` proposes for worktrees. The shared folder
// is a real one, because git often ignores only folders of that name; each package in it is a link.
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
import type { JsonObject } from '../../kernel/json.ts';
import type { Project } from '../detect-project.ts';
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

// What `init` proposes for the worktrees of casts: files of the user's own that the project needs and git does not have, and the
// installed packages, which are shared where they are there and installed where they are not.
type ProposedWorktree = { readonly worktree?: JsonObject };

/** Packages that worktrees share with the checkout. */
const SHARED = 'node_modules';
const ENV_FILE = /^\.env(?:\.[\w-]+)*$/;

/** Nothing where no worktree can be made, or where it needs nothing. */
export async function proposedWorktree(dir: string, { installs }: Project): Promise<ProposedWorktree> {
  const isIgnored = async (path: string) => (await tryGit(dir, ['check-ignore', '-q', '--', path])).code === 0;
  if ((await tryGit(dir, ['rev-parse', '--is-inside-work-tree'])).code !== 0) return {};
  const copy: string[] = [];
  for (const name of readdirSync(dir)
    .filter((each) => ENV_FILE.test(each))
    .sort())
    if (await isIgnored(name)) copy.push(name);
  const link = existsSync(join(dir, SHARED)) ? await packageFolders(dir) : [];
  const setup: (readonly string[])[] = [];
  for (const { steps, folder } of installs) {
    if (folder === SHARED && link.length > 0) continue;
    // A folder that git does not ignore would become part of the branch.
    if (folder === null || (await isIgnored(`${folder}/`))) setup.push(...steps);
  }
  const worktree = {
    ...(setup.length > 0 ? { setup } : {}),
    ...(link.length > 0 ? { link } : {}),
    ...(copy.length > 0 ? { copy } : {}),
  };
  return Object.keys(worktree).length === 0 ? {} : { worktree };
}
