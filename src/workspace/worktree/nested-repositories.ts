// What would be lost with a worktree: work in nested repositories, files in the folder of a submodule that is not checked out,
// and ignored files. A commit of the branch holds at most the id of a commit of a nested repository.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { gitFoldersOf } from '../../git/repository-files.ts';
import { folderEntries, nameOf } from '../changes-mark.ts';
import { git, indexed, records, SUBMODULE_MODE, tryGit, WorktreeError } from '../git.ts';
import { lanesOf, type NestedStates, type WorktreeRecord } from './record.ts';

/** Work in a nested repository, or in its empty folder, that exists nowhere else, in words. */
type Apart = { readonly path: string; readonly what: string };

/** Nested repositories that are neither submodules nor ignored by git. */
export async function unknownRepositoriesIn(folder: string, path = '.'): Promise<readonly string[]> {
  const listed = ['--literal-pathspecs', 'ls-files', '-o', '--exclude-standard', '-z', '--', path];
  return foldersIn(await git(folder, listed));
}

/** All work of nested repositories that exists only in this worktree. */
export async function apartIn({ folder, base, stands = {} }: WorktreeRecord): Promise<readonly Apart[]> {
  if (!existsSync(folder)) return [];
  const found: Apart[] = [];
  const reported = new Set<string>();
  for (const path of await repositoriesIn(folder)) {
    const at = join(folder, path);
    const isAsSetUp = Object.hasOwn(stands, path) && stands[path] === (await stateOfNested(at));
    const what = isAsSetUp ? null : await workIn(at, await linkIn(folder, base, path));
    if (what !== null) found.push({ path, what });
    if (isAsSetUp || what !== null) reported.add(path);
  }
  // A repository without a commit may hide the files around it.
  for (const vacant of await filledIn(folder)) {
    if (reported.has(vacant.path) || stands[vacant.path] === stateOfVacant(folder, vacant)) continue;
    const count = vacant.files.length;
    const what = `${count} file${count === 1 ? '' : 's'} without its repository being checked out`;
    found.push({ path: vacant.path, what });
  }
  return found;
}

/** Changes by a set-up step are not work. */
export async function nestedStatesIn(folder: string): Promise<NestedStates> {
  const found: Record<string, string> = {};
  for (const path of await repositoriesIn(folder)) found[path] = await stateOfNested(join(folder, path));
  for (const vacant of await filledIn(folder)) found[vacant.path] ??= stateOfVacant(folder, vacant);
  return found;
}

/** A worktree with such work is never removed, even if a person agreed to its removal. */
export async function refuseApart(record: WorktreeRecord): Promise<void> {
  const apart = await apartIn(record);
  if (apart.length === 0) return;
  throw new WorktreeError(noticeOfApart(record, apart), 'NOT_ALLOWED_NOW');
}

/** Why the worktrees of a cast cannot be removed, or null. */
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

/** Git lists files only, and enters every folder except repositories. */
function foldersIn(listed: string): readonly string[] {
  return records(listed).flatMap((path) => (path.endsWith('/') ? [path.slice(0, -1)] : []));
}

/** The submodule commit at a path in a commit of the outer repository, or null. */
async function linkIn(folder: string, commit: string, path: string): Promise<string | null> {
  const { code, out } = await tryGit(folder, ['ls-tree', '-z', commit, '--', path]);
  const [mode = '', , id = ''] = (out.split('\t')[0] ?? '').split(' ');
  return code === 0 && mode === SUBMODULE_MODE ? id : null;
}

/** Commits that no remote has, except the one in the outer repository, and uncommitted files. */
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

/** Whether a known remote ref of the repository contains the commit. */
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

// Folders of submodules that are not checked out. Git treats them as unchanged and never looks inside, so only a direct look
// finds files there.
type Vacant = {
  readonly path: string;
  /** The files in it, by paths from the same folder. */
  readonly files: readonly string[];
};

/** The submodules in the index, by paths from the folder. */
export async function submodulesIn(folder: string): Promise<readonly string[]> {
  return indexed(folder).then(
    ({ links }) => links.map(nameOf),
    () => [], // It is in no repository.
  );
}

/** The submodules without a repository, and those inside of the other submodules. */
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

/** The submodule folders without a repository that contain files. */
export async function filledIn(folder: string): Promise<readonly Vacant[]> {
  const vacant = await vacantOf(folder, await submodulesIn(folder));
  return vacant.map((path) => ({ path, files: filesIn(folder, path) })).filter(({ files }) => files.length > 0);
}

/** The state of its files, by values that cannot be forged. */
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
  // Git would find a repository further up.
  return (await tryGit(at, ['--git-dir', own, 'rev-parse', '-q', '--verify', 'HEAD^{commit}'])).code === 0;
}

/** An agent may have replaced it, or a folder above, with a link. */
function isRealFolder(folder: string, path: string): boolean {
  const at = join(folder, path);
  if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return realpathSync(at) === join(realpathSync(folder), path);
}

function filesIn(folder: string, path: string): readonly string[] {
  return folderEntries(join(folder, path))
    .filter(({ name }) => name !== '.git')
    .flatMap((entry) => {
      const below = `${path}/${entry.name}`;
      return entry.isDirectory() ? filesIn(folder, below) : [below];
    });
}

// Which submodule commits a branch may contain. It holds only the id of a commit, so others must be able to find that commit:
// in the submodule's remote, or in the main repository's copy.
type Env = Readonly<Record<string, string>>;

/**
 * Why the submodule at a path of the worktree cannot be committed. Null if it can, or if there is none. `since` is the earlier
 * commit.
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

/** `files` are the files in it, at least one. */
export function noticeOfVacant(path: string, [first, ...others]: readonly string[]): string {
  const which = `${first}${others.length === 0 ? '' : ` and ${others.length} more`}`;
  return `${path} is a submodule that is not checked out here, so git cannot keep files in it (${which}); put them elsewhere. Where it is to be worked on, a person lets worktree.setup check it out`;
}

/** Removes submodule commits that others cannot find from an index. Returns what is wrong with them. */
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

/** Its name in `.gitmodules`, or null. */
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

// Ignored files are in no commit and are lost with the worktree. Files that the set-up did not make are reported before that.
export type OrphanedFiles = {
  readonly count: number;
  /** Their files and folders. */
  readonly places: readonly string[];
};

export const NOTHING_ORPHANED: OrphanedFiles = { count: 0, places: [] };
const LIST = ['ls-files', '-o', '-i', '--exclude-standard', '-z'];
const PLACES_MAX = 3;

/** The ignored files, and the fully ignored folders with a slash at the end. */
export async function ignoredIn(folder: string): Promise<readonly string[]> {
  return records(await git(folder, [...LIST, '--directory', '--', '.']));
}

/** The ignored files that were made after the set-up. None if git does not know the folder any more. */
export async function orphanedIn({ folder, ignored = [] }: WorktreeRecord): Promise<OrphanedFiles> {
  if (!existsSync(folder)) return NOTHING_ORPHANED;
  const known = new Set(ignored);
  const listed = (await ignoredIn(folder).catch(() => [])).filter((path) => !known.has(path));
  // Git also lists the folder of a lone ignored file.
  const places = listed.filter((path, at) => !listed[at + 1]?.startsWith(path));
  if (places.length === 0) return NOTHING_ORPHANED;
  const files = records((await tryGit(folder, [...LIST, '--', '.'])).out);
  const [plain, folders] = [new Set(places), places.filter((path) => path.endsWith('/'))];
  const count = files.filter((path) => plain.has(path) || folders.some((each) => path.startsWith(each))).length;
  return { count, places };
}

/** The sum for several worktrees. */
export function allOrphaned(each: readonly OrphanedFiles[]): OrphanedFiles {
  return { count: each.reduce((sum, { count }) => sum + count, 0), places: each.flatMap(({ places }) => places) };
}

/** The notice about them, or an empty text. */
export function noticeOfOrphaned({ count, places }: OrphanedFiles): string {
  if (count === 0) return '';
  const which = `${places.slice(0, PLACES_MAX).join(', ')}${places.length > PLACES_MAX ? ' …' : ''}`;
  return count === 1
    ? `1 ignored file was left behind and is removed with it (${which})`
    : `${count} ignored files were left behind and are removed with it (${which})`;
}
