// Puts a path of a worktree back to what a commit has there. Repositories and files that git leaves alone are moved beside the
// worktree. With it, what project checks change is put back.
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { treeOfWork } from './aside.ts';
import { git, records, tryGit } from './git.ts';
import { filledIn, standOfVacant, strangersIn } from './nested-repositories.ts';
import { readLane, readRecord, type WorktreeRecord } from './record.ts';

type Place = Pick<WorktreeRecord, 'folder' | 'stands'>;

/** `cwd` is the folder from which the path is named. Answers where what was moved away is now. */
export async function restorePath(
  place: Place,
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

/** Takes away what git does not know below a path, and does not ignore. */
export async function cleanPath(place: Place, cwd: string, path = '.'): Promise<readonly string[]> {
  await git(cwd, ['--literal-pathspecs', 'clean', '-qfd', '--', path]);
  const strangers = await strangersIn(cwd, path);
  return strangers.map((repository) => moveAway(place, join(cwd, repository)));
}

/**
 * Moves away what lies in the place of repositories that are not checked out, except what the set-up left there. `isMeant` tells
 * of a path from the top of the worktree whether it is to go.
 */
export async function cleanVacant(
  place: Place,
  isMeant: (path: string) => boolean = () => true,
): Promise<readonly string[]> {
  const { folder, stands = {} } = place;
  const moved: string[] = [];
  for (const vacant of await filledIn(folder)) {
    if (stands[vacant.path] === standOfVacant(folder, vacant)) continue;
    const files = vacant.files.filter(isMeant);
    const isWhole = files.length === vacant.files.length;
    for (const path of isWhole ? [vacant.path] : files) moved.push(moveAway(place, join(folder, path)));
    if (isWhole) mkdirSync(join(folder, vacant.path));
  }
  return moved;
}

function moveAway(place: Place, from: string): string {
  const to = freePlace(place, from);
  renameSync(from, to);
  return to;
}

/** Where repositories of a worktree, and files in the place of one, were moved that were in the way, in words; empty where none were. */
export function saidOfMoved({ folder }: Place): string {
  const apart = apartFolder(folder);
  return existsSync(apart) ? `; what was in the way of a turn and git could not keep is in ${apart}` : '';
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
