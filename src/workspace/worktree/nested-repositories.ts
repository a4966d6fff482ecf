// What would be lost with a worktree: work in repositories inside of it, files in the place of a submodule that is not checked
// out, and ignored files. A commit of the branch holds at most the name of a commit of another repository.
import { createHash } from 'node:crypto';
import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { gitFoldersOf } from '../../git/repository-files.ts';
import { nameOf } from '../changes-mark.ts';
import { git, indexed, records, SUBMODULE_MODE, tryGit, WorktreeError } from '../git.ts';
import { lanesOf, type NestedStates, type WorktreeRecord } from './record.ts';

/** Work in, or in the place of, a repository inside of a worktree that is nowhere else, in words. */
type Apart = { readonly path: string; readonly what: string };

/** Without those that git ignores: what lies there beside the files of the worktree and is no submodule. */
export async function unknownRepositoriesIn(folder: string, path = '.'): Promise<readonly string[]> {
  const listed = ['--literal-pathspecs', 'ls-files', '-o', '--exclude-standard', '-z', '--', path];
  return foldersIn(await git(folder, listed));
}

/** What is in repositories of the worktree alone, or in the place of one, wherever they lie in it. */
export async function apartIn({ folder, base, stands = {} }: WorktreeRecord): Promise<readonly Apart[]> {
  if (!existsSync(folder)) return [];
  const found: Apart[] = [];
  const told = new Set<string>();
  for (const path of await repositoriesIn(folder)) {
    const at = join(folder, path);
    const isAsSetUp = Object.hasOwn(stands, path) && stands[path] === (await stateOfNested(at));
    const what = isAsSetUp ? null : await workIn(at, await linkIn(folder, base, path));
    if (what !== null) found.push({ path, what });
    if (isAsSetUp || what !== null) told.add(path);
  }
  // One without a commit may be a repository that hides what lies beside it.
  for (const vacant of await filledIn(folder)) {
    if (told.has(vacant.path) || stands[vacant.path] === stateOfVacant(folder, vacant)) continue;
    const count = vacant.files.length;
    const what = `${count} file${count === 1 ? '' : 's'} without its repository being checked out`;
    found.push({ path: vacant.path, what });
  }
  return found;
}

/** A set-up step may leave something in them, which is nobody's work. */
export async function nestedStatesIn(folder: string): Promise<NestedStates> {
  const found: Record<string, string> = {};
  for (const path of await repositoriesIn(folder)) found[path] = await stateOfNested(join(folder, path));
  for (const vacant of await filledIn(folder)) found[vacant.path] ??= stateOfVacant(folder, vacant);
  return found;
}

/** Whoever clears a worktree away does not take what is nowhere else with it, whatever a person has agreed to. */
export async function refuseApart(record: WorktreeRecord): Promise<void> {
  const apart = await apartIn(record);
  if (apart.length === 0) return;
  throw new WorktreeError(noticeOfApart(record, apart), 'NOT_ALLOWED_NOW');
}

/** Why the worktrees of a cast cannot be cleared away, in words; null where they can. */
export async function apartOf(stateDir: string, record: WorktreeRecord): Promise<string | null> {
  for (const each of [record, ...lanesOf(stateDir, record.cast)]) {
    const apart = each.state === 'ready' ? await apartIn(each) : [];
    if (apart.length > 0) return noticeOfApart(each, apart);
  }
  return null;
}

export function noticeOfApart({ folder }: WorktreeRecord, apart: readonly Apart[]): string {
  const each = apart.map(({ path, what }) => `${path} has ${what}`).join(', ');
  return `the worktree ${folder} stays, for it holds work that is nowhere else: ${each}; push it, or move or remove it by hand`;
}

async function repositoriesIn(folder: string): Promise<readonly string[]> {
  const all = await tryGit(folder, ['ls-files', '-o', '-z', '--', '.']);
  const paths = [...foldersIn(all.out), ...(await submodulesIn(folder))];
  return paths.filter((path) => existsSync(join(folder, path, '.git')));
}

/** Git names files only, and walks into every folder except those that are repositories. */
function foldersIn(listed: string): readonly string[] {
  return records(listed).flatMap((path) => (path.endsWith('/') ? [path.slice(0, -1)] : []));
}

/** The commit that a commit of the outer repository has of the one at a path; null where it has none. */
async function linkIn(folder: string, commit: string, path: string): Promise<string | null> {
  const { code, out } = await tryGit(folder, ['ls-tree', '-z', commit, '--', path]);
  const [mode = '', , id = ''] = (out.split('\t')[0] ?? '').split(' ');
  return code === 0 && mode === SUBMODULE_MODE ? id : null;
}

/** Commits that no remote has, apart from the one that the outer repository names, and files that are not committed. */
async function workIn(at: string, known: string | null): Promise<string | null> {
  const files = (await statusOf(at)).length;
  const commits = await unpushedIn(at, known);
  const parts = [
    ...(commits > 0 ? [`${commits} commit${commits === 1 ? '' : 's'}`] : []),
    ...(files > 0 ? [`${files} file${files === 1 ? '' : 's'} not committed`] : []),
  ];
  return parts.length === 0 ? null : parts.join(' and ');
}

async function unpushedIn(at: string, known: string | null): Promise<number> {
  const isHere = async (name: string) => (await tryGit(at, ['cat-file', '-e', `${name}^{commit}`])).code === 0;
  const head = (await isHere('HEAD')) ? ['HEAD'] : [];
  const without = known !== null && (await isHere(known)) ? [known] : [];
  const { out } = await tryGit(at, ['rev-list', '--count', ...head, '--all', '--not', '--remotes', ...without]);
  return Number(out) || 0;
}

/** Whether a commit of the repository is in one of its remotes, as far as was seen last. */
async function isPushed(at: string, commit: string): Promise<boolean> {
  const { code, out } = await tryGit(at, ['rev-list', '--count', '--max-count=1', commit, '--not', '--remotes']);
  return code === 0 && out.trim() === '0';
}

async function statusOf(at: string): Promise<readonly string[]> {
  const { out } = await tryGit(at, [
    'status',
    '--porcelain',
    '-z',
    '--untracked-files=all',
    '--no-renames',
    '--ignore-submodules=none',
  ]);
  return records(out);
}

async function stateOfNested(at: string): Promise<string> {
  const { out } = await tryGit(at, ['rev-parse', 'HEAD', '--all']);
  return createHash('sha256')
    .update([out, ...(await statusOf(at))].join('\0'))
    .digest('hex');
}

// Folders that stand for a commit of another repository which is not checked out in them, such as a submodule nobody asked
// for. Git takes them for unchanged and never looks inside, so what is written there is found by looking, or by nobody.
type Vacant = {
  readonly path: string;
  /** What lies in it all the same, by paths from the same folder. */
  readonly files: readonly string[];
};

/** What stands for commits of other repositories in the index, by paths from the folder. */
export async function submodulesIn(folder: string): Promise<readonly string[]> {
  return indexed(folder).then(
    ({ links }) => links.map(nameOf),
    () => [], // It is in no repository.
  );
}

/** Of the links, those without a repository; and those of the repositories in the others. */
export async function vacantOf(folder: string, links: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    links.map(async (path): Promise<readonly string[]> => {
      const at = join(folder, path);
      if (!isRealFolder(folder, path)) return [];
      if (!(await isCheckedOut(at))) return [path];
      return (await vacantOf(at, await submodulesIn(at))).map((each) => `${path}/${each}`);
    }),
  );
  return found.flat();
}

/** The folders without a repository in which something lies all the same. */
export async function filledIn(folder: string): Promise<readonly Vacant[]> {
  const vacant = await vacantOf(folder, await submodulesIn(folder));
  return vacant.map((path) => ({ path, files: filesIn(folder, path) })).filter(({ files }) => files.length > 0);
}

/** What lies in it, told by what nobody can set at will. */
export function stateOfVacant(folder: string, { files }: Vacant): string {
  const hash = createHash('sha256');
  for (const path of files) {
    const stat = lstatSync(join(folder, path), { throwIfNoEntry: false });
    hash.update(`${path}\0${stat?.size}:${stat?.ctimeMs}:${stat?.ino}\0`);
  }
  return hash.digest('hex');
}

async function isCheckedOut(at: string): Promise<boolean> {
  const own = join(at, '.git');
  if (!lstatSync(own, { throwIfNoEntry: false })) return false;
  // Git would look for one further up.
  return (await tryGit(at, ['--git-dir', own, 'rev-parse', '-q', '--verify', 'HEAD^{commit}'])).code === 0;
}

/** Somebody may have put a link of the file system in its place, or in that of a folder above. */
function isRealFolder(folder: string, path: string): boolean {
  const at = join(folder, path);
  if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return realpathSync(at) === join(realpathSync(folder), path);
}

function filesIn(folder: string, path: string): readonly string[] {
  return entriesOf(join(folder, path))
    .filter(({ name }) => name !== '.git')
    .flatMap((entry) => {
      const below = `${path}/${entry.name}`;
      return entry.isDirectory() ? filesIn(folder, below) : [below];
    });
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Gone again, or not for us to see.
  }
}

// What the branch of a worktree may say of other repositories. It holds of a submodule the name of a commit, which is worth
// something only where others find that commit: in the submodule's remote, or in what the main repository has of it.
type Env = Readonly<Record<string, string>>;

/**
 * Why what stands for another repository at a path of the worktree cannot be kept in a commit; null where it can, or where
 * nothing of the kind is there. `since` is the commit from before.
 */
export async function faultOfLink(folder: string, path: string, since: string): Promise<string | null> {
  const staged = await tryGit(folder, ['--literal-pathspecs', 'ls-files', '-s', '-z', '--', path]);
  const [mode, id = ''] = staged.out.split(' ');
  if (mode !== SUBMODULE_MODE || staged.out.split('\0').length > 2) return null;
  const at = join(folder, path);
  const isThere = existsSync(join(at, '.git'));
  if (isThere && (await nameOfModule(folder, path)) !== null && (await statusOf(at)).length > 0) {
    return `${path} is a submodule, and what is not committed in it is no part of the branch; take it back, or commit it there and push it`;
  }
  const commit = isThere ? (await tryGit(at, ['rev-parse', 'HEAD'])).out.trim() : id;
  return faultOfCommit(folder, path, commit, await linkIn(folder, since, path));
}

export function noticeOfRepository(path: string): string {
  return `${path} is a git repository of its own, so its files are no part of the branch; remove ${path}/.git, and they are`;
}

/** `files` are what lies in it all the same, at least one. */
export function noticeOfVacant(path: string, [first, ...others]: readonly string[]): string {
  const which = `${first}${others.length === 0 ? '' : ` and ${others.length} more`}`;
  return `${path} is a submodule that is not checked out here, so git cannot keep files in it (${which}); put them elsewhere. Where it is to be worked on, a person lets worktree.setup check it out`;
}

/** Takes commits that nobody else would find out of an index again. Answers what is wrong with them. */
export async function dropLostLinks(folder: string, env: Env): Promise<readonly string[]> {
  if (!existsSync(join(folder, '.gitmodules'))) return [];
  const args = ['diff-index', '--cached', '-z', '--no-renames', '--ignore-submodules=none', 'HEAD'];
  const parts = records(await git(folder, args, { env }));
  const faults: string[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [was, mode, before = '', id = ''] = (parts[at] ?? '').slice(1).split(' ');
    const path = parts[at + 1] ?? '';
    if (mode !== SUBMODULE_MODE) continue;
    const known = was === SUBMODULE_MODE ? before : null;
    const fault = await faultOfCommit(folder, path, id, known);
    if (fault === null) continue;
    faults.push(fault);
    const back =
      known === null ? ['--force-remove', '--', path] : ['--cacheinfo', `${SUBMODULE_MODE},${known},${path}`];
    await git(folder, ['update-index', ...back], { env });
  }
  return faults;
}

async function faultOfCommit(folder: string, path: string, commit: string, known: string | null) {
  if (commit === known) return null;
  const name = await nameOfModule(folder, path);
  if (name === null) return noticeOfRepository(path);
  if ((await isPushed(join(folder, path), commit)) || (await isInMain(folder, name, commit))) return null;
  const back = known === null ? '' : `, or go back with \`git -C ${path} checkout ${known.slice(0, 12)}\``;
  return `${path} is a submodule at commit ${commit.slice(0, 12)}, which lies in this worktree alone; push it from there${back}`;
}

/** As `.gitmodules` calls it; null where it is not in there. */
async function nameOfModule(folder: string, path: string): Promise<string | null> {
  const listed = await tryGit(folder, ['config', '-z', '-f', '.gitmodules', '--get-regexp', '^submodule\\..*\\.path$']);
  const line = records(listed.out).find((each) => each.slice(each.indexOf('\n') + 1) === path);
  return line === undefined ? null : line.slice('submodule.'.length, line.indexOf('\n') - '.path'.length);
}

async function isInMain(folder: string, name: string, commit: string): Promise<boolean> {
  const common = gitFoldersOf(folder)?.common;
  if (common === undefined) return false;
  const own = join(common, 'modules', name);
  return (await tryGit(common, ['--git-dir', own, 'cat-file', '-e', `${commit}^{commit}`])).code === 0;
}

// What git ignores in a worktree is in no commit and goes with the worktree. Whether there is something beside what the set-up
// had left is told before it goes.
export type OrphanedFiles = {
  readonly count: number;
  /** The files and folders in which they are. */
  readonly places: readonly string[];
};

export const NOTHING_ORPHANED: OrphanedFiles = { count: 0, places: [] };
const LIST = ['ls-files', '-o', '-i', '--exclude-standard', '-z'];
const PLACES_MAX = 3;

/** The ignored files, and the folders of which everything is ignored, with a slash behind them. */
export async function ignoredIn(folder: string): Promise<readonly string[]> {
  return records(await git(folder, [...LIST, '--directory', '--', '.']));
}

/** The ignored files that somebody made after the worktree was set up; none where git does not know the folder any more. */
export async function orphanedIn({ folder, ignored = [] }: WorktreeRecord): Promise<OrphanedFiles> {
  if (!existsSync(folder)) return NOTHING_ORPHANED;
  const known = new Set(ignored);
  const listed = (await ignoredIn(folder).catch(() => [])).filter((path) => !known.has(path));
  // Git names a folder that holds nothing else beside what it holds.
  const places = listed.filter((path, at) => !listed[at + 1]?.startsWith(path));
  if (places.length === 0) return NOTHING_ORPHANED;
  const files = records((await tryGit(folder, [...LIST, '--', '.'])).out);
  const [plain, folders] = [new Set(places), places.filter((path) => path.endsWith('/'))];
  const count = files.filter((path) => plain.has(path) || folders.some((each) => path.startsWith(each))).length;
  return { count, places };
}

/** Of several worktrees that go together. */
export function allOrphaned(each: readonly OrphanedFiles[]): OrphanedFiles {
  return { count: each.reduce((sum, { count }) => sum + count, 0), places: each.flatMap(({ places }) => places) };
}

/** In words, for whoever clears the worktree away; empty where there are none. */
export function noticeOfOrphaned({ count, places }: OrphanedFiles): string {
  if (count === 0) return '';
  const which = `${places.slice(0, PLACES_MAX).join(', ')}${places.length > PLACES_MAX ? ' …' : ''}`;
  return count === 1
    ? `1 ignored file was left behind and is removed with it (${which})`
    : `${count} ignored files were left behind and are removed with it (${which})`;
}
