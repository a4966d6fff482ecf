// What a repository offers for a cast: whether it can have a worktree and what would not be in it; the installed packages that it shares
// with the worktree; and the worktree settings that `init` proposes. The shared folder is a real one, because git often ignores only
// folders of that name. Each package in it is a link.
import {
  copyFileSync,
  cpSync,
  type Dirent,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { JsonObject } from '../../kernel/json.ts';
import type { Project } from '../../utilities/detect-project.ts';
import { records, tryGit, WorktreeError } from '../git.ts';
import { BRANCHES } from './record.ts';

export type Repository = {
  /** The top folder of the working tree. */
  readonly top: string;
  /** The path of the workspace below it. Empty for the top itself. */
  readonly prefix: string;
  /** The last commit, and its branch. Null for a detached HEAD. */
  readonly head: string;
  readonly branch: string | null;
  /** The number of files that differ from the last commit, without `.baton`. */
  readonly uncommitted: number;
  readonly hasSubmodules: boolean;
};

export type RepositoryReading =
  | { readonly ok: true; readonly repository: Repository }
  /** Why a cast works in the directory itself. Null if there is no repository. */
  | { readonly ok: false; readonly why: string | null };

/** `counts: false` leaves out `branch` and `uncommitted`, which are only shown to people. */
export async function readRepository(dir: string, counts = true): Promise<RepositoryReading> {
  const inside = await tryGit(dir, ['rev-parse', '--is-inside-work-tree', '--show-toplevel']);
  if (inside.code === null) return { ok: false, why: null };
  const [isInside = '', named = ''] = inside.out.split('\n');
  // Every call of git refuses a bare repository that it only finds.
  if (/cannot use bare repository/.test(inside.error)) {
    return { ok: false, why: 'the repository is bare and has no files to work on' };
  }
  if (isInside === '') return { ok: false, why: isNone(inside.error) ? null : firstLine(inside.error) };
  if (isInside !== 'true') return { ok: false, why: 'the folder lies inside the folder of git itself' };
  if (inside.code !== 0) return { ok: false, why: firstLine(inside.error) };
  const top = realpathSync(named);
  const prefix = relative(top, dir);
  const asked = ['HEAD^{commit}', `HEAD:${prefix}`, 'HEAD:.gitmodules', `refs/heads/${BRANCHES}`];
  const answers = await tryGit(top, ['cat-file', '--batch-check'], { input: `${asked.join('\n')}\n` });
  const [head, folder, modules, taken] = answers.out.split('\n').map((line) => /^([0-9a-f]{40,}) /.exec(line)?.[1]);
  if (head === undefined)
    return { ok: false, why: 'the repository has no commit yet that a worktree could begin from' };
  if (folder === undefined) return { ok: false, why: `the last commit has no folder ${prefix}` };
  if (taken !== undefined) refuseTakenName();
  const shown = counts ? await shownOf(top, prefix) : { branch: null, uncommitted: 0 };
  return { ok: true, repository: { top, prefix, head, ...shown, hasSubmodules: modules !== undefined } };
}

/** Git cannot make branches below an existing branch of that name. */
function refuseTakenName(): never {
  const fix = `rename it with \`git branch -m ${BRANCHES} …\`, or cast with --in-place`;
  throw new WorktreeError(
    `there is a branch ${BRANCHES}, so git cannot make the branch ${BRANCHES}/… of a cast; ${fix}`,
  );
}

const STATUS = [
  'status',
  '--porcelain',
  '--branch',
  '--no-ahead-behind',
  '-z',
  '--untracked-files=all',
  '--no-renames',
];
const DETACHED = 'HEAD (no branch)';

async function shownOf(top: string, prefix: string): Promise<Pick<Repository, 'branch' | 'uncommitted'>> {
  const { code, out } = await tryGit(top, STATUS, { env: { GIT_OPTIONAL_LOCKS: '0' } });
  if (code !== 0) return { branch: null, uncommitted: 0 };
  const [first = '', ...files] = records(out);
  // The upstream branch comes after three dots.
  const [name = DETACHED] = first.replace('## ', '').split('...');
  const ours = prefix === '' ? '.baton/' : `${prefix}/.baton/`;
  return {
    branch: name === DETACHED ? null : name,
    uncommitted: files.filter((line) => !line.slice(3).startsWith(ours)).length,
  };
}

function isNone(error: string): boolean {
  return error.includes('not a git repository');
}

function firstLine(error: string): string {
  return (error.split('\n')[0] ?? '').replace(/^fatal: /, '');
}

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

/** Hidden folders belong to the tools, except the programs of packages and pnpm's store. */
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

/** Empty if no worktree can be made, or if it needs nothing. */
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
    // Git would add a folder that it does not ignore to the branch.
    if (folder === null || (await isIgnored(`${folder}/`))) setup.push(...steps);
  }
  const worktree = {
    ...(setup.length > 0 ? { setup } : {}),
    ...(link.length > 0 ? { link } : {}),
    ...(copy.length > 0 ? { copy } : {}),
  };
  return Object.keys(worktree).length === 0 ? {} : { worktree };
}
