// Restores a path of a worktree to a commit. Repositories and files that git cannot keep are moved next to the worktree. It also undoes
// what project checks changed, and finds the changes of a turn that cannot be committed.
import { existsSync, lstatSync, mkdirSync, renameSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { FileChange, FolderSnapshot } from '../changes.ts';
import { git, records, tryGit } from '../git.ts';
import {
  faultOfLink,
  filledIn,
  noticeOfRepository,
  noticeOfVacant,
  stateOfVacant,
  unknownRepositoriesIn,
} from './nested-repositories.ts';
import { readLane, readRecord, type WorktreeRecord } from './record.ts';
import { treeOfWork, withoutIgnored } from './stash.ts';

type RestorePlace = Pick<WorktreeRecord, 'folder' | 'stands'>;

/** `path` is relative to `cwd`. Returns the new places of what was moved away. */
export async function restorePath(
  place: RestorePlace,
  cwd: string,
  path: string,
  commit = 'HEAD',
): Promise<readonly string[]> {
  const isThere =
    path === '.' || (await tryGit(cwd, ['--literal-pathspecs', 'ls-tree', '-z', commit, '--', path])).out !== '';
  if (isThere) {
    await git(cwd, ['--literal-pathspecs', 'restore', `--source=${commit}`, '--staged', '--worktree', '--', path]);
  } else await git(cwd, ['--literal-pathspecs', 'rm', '-rq', '--cached', '--ignore-unmatch', '--', path]);
  return cleanPath(place, cwd, path);
}

/** Removes files below a path that git neither knows nor ignores. */
export async function cleanPath(place: RestorePlace, cwd: string, path = '.'): Promise<readonly string[]> {
  await git(cwd, ['--literal-pathspecs', 'clean', '-qfd', '--', path]);
  const repositories = await unknownRepositoriesIn(cwd, path);
  return repositories.map((repository) => moveAway(place, join(cwd, repository)));
}

/**
 * Moves away files in the folders of submodules that are not checked out, except those from the set-up. `isMeant` selects the paths, from
 * the top of the worktree.
 */
export async function cleanVacant(
  place: RestorePlace,
  isMeant: (path: string) => boolean = () => true,
): Promise<readonly string[]> {
  const { folder, stands = {} } = place;
  const moved: string[] = [];
  for (const vacant of await filledIn(folder)) {
    if (stands[vacant.path] === stateOfVacant(folder, vacant)) continue;
    const files = vacant.files.filter(isMeant);
    const isWhole = files.length === vacant.files.length;
    for (const path of isWhole ? [vacant.path] : files) moved.push(moveAway(place, join(folder, path)));
    if (isWhole) mkdirSync(join(folder, vacant.path));
  }
  return moved;
}

function moveAway(place: RestorePlace, from: string): string {
  const to = freePlace(place, from);
  renameSync(from, to);
  return to;
}

/** A notice about what was moved away, or an empty text. */
export function movedNotice({ folder }: RestorePlace): string {
  const apart = apartFolder(folder);
  return existsSync(apart) ? `; what was in the way of a turn and git could not keep is in ${apart}` : '';
}

function apartFolder(folder: string): string {
  return `${folder}.apart`;
}

/** Beside the worktree, where nothing clears it away. */
function freePlace({ folder }: RestorePlace, repository: string): string {
  const apart = apartFolder(folder);
  mkdirSync(apart, { recursive: true, mode: 0o700 });
  const name = basename(repository);
  for (let count = 1; ; count += 1) {
    const to = join(apart, count === 1 ? name : `${name}-${count}`);
    if (!existsSync(to)) return to;
  }
}

// Checks run where the work lies, and some write files: a report, or a correction by a linter. Nobody looks at those, so what
// checks change in a worktree is put back before the work is committed. What git ignores may change.
type Unchanged<T> = { readonly value: T; readonly putBack: readonly string[] };

/** Runs `work` and puts back what it changed. `record` is null where people work in the folder too: there all of it stays. */
export async function leaveUnchanged<T>(
  stateDir: string,
  record: WorktreeRecord | null,
  work: () => Promise<T>,
): Promise<Unchanged<T>> {
  if (record === null) return { value: await work(), putBack: [] };
  // Where git cannot tell what lies there, the checks run all the same.
  const tree = () => treeOfWork(stateDir, record).catch(() => null);
  const before = await tree();
  const value = await work();
  const after = before === null ? null : await tree();
  if (before === null || after === null || before === after) return { value, putBack: [] };
  const { folder } = record;
  const paths = records(await git(folder, ['diff-tree', '-r', '-z', '--name-only', '--no-renames', before, after]));
  for (const path of paths) await restorePath(record, folder, path, before);
  return { value, putBack: paths };
}

/** The worktree in which a turn works alone; null where there is none, or where others work in it at the same time. */
export function worktreeOfOne(
  stateDir: string,
  { cast, place, isBeside }: { readonly cast: string; readonly place: number | null; readonly isBeside: boolean },
): WorktreeRecord | null {
  if (place !== null) return readLane(stateDir, cast, place);
  return isBeside ? null : readRecord(stateDir, cast);
}

/** By path, why a change cannot be committed, and what to do about it. */
export async function uncommittableIn(
  root: string,
  since: FolderSnapshot,
  after: FolderSnapshot,
  changes: readonly FileChange[],
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  const repositories = (after.repositories ?? []).map((path) => path.slice(0, -1));
  for (const path of await withoutIgnored(root, repositories)) found[path] = noticeOfRepository(path);
  const there = changes.filter(({ digest }) => digest !== null).map(({ path }) => path);
  for (const vacant of after.vacant ?? []) {
    const files = there.filter((path) => path.startsWith(`${vacant}/`));
    for (const path of files) found[path] = noticeOfVacant(vacant, files);
  }
  const [prefix, head] = [after.git?.prefix ?? '', since.git?.head ?? null];
  if (head === null) return found;
  const top = root.slice(0, root.length - prefix.length);
  for (const { path, digest } of changes) {
    // Git's own files are in no worktree.
    if (path.startsWith('.git/') || !mayBeLink(join(root, path), digest)) continue;
    const fault = await faultOfLink(top, `${prefix}${path}`, head);
    if (fault !== null) found[path] = fault;
  }
  return found;
}

/** A folder in place of a file may be a submodule. */
function mayBeLink(file: string, digest: string | null): boolean {
  if (digest?.startsWith('module:')) return true;
  return digest === null && lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

const CHANGED = ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-textconv'];
const NEW = ['ls-files', '--others', '--exclude-standard', '-z'];

/**
 * What a turn changed outside the folder of the workspace, which may be below the top of its repository. By path from the workspace, why
 * it is refused. Empty if the workspace is the whole worktree.
 */
export async function changedOutside(
  { folder, cwd, starts, accepted }: WorktreeRecord,
  turn: number,
): Promise<Readonly<Record<string, string>>> {
  const start = starts[turn] ?? accepted;
  if (cwd === folder || start === undefined) return {};
  const outside = ['--', '.', `:(exclude,literal)${relative(folder, cwd)}`];
  // The look must not lock out an agent that uses git at the same moment.
  const env = { GIT_OPTIONAL_LOCKS: '0' };
  const asked = [git(folder, [...CHANGED, start, ...outside], { env }), git(folder, [...NEW, ...outside], { env })];
  const paths = (await Promise.all(asked)).flatMap(records).map((path) => relative(cwd, `${folder}/${path}`));
  return Object.fromEntries(paths.map((path) => [path, refusalText(path)]));
}

function refusalText(path: string): string {
  return `it changed ${JSON.stringify(path)}, which lies outside the folder of the workspace; take the change back, or make it in a workspace that holds the file`;
}
