// What git ignores in a worktree is in no commit and goes with the worktree. Whether there is something beside what the set-up
// had left is told before it goes.
import { existsSync } from 'node:fs';
import { git, records, tryGit } from './git.ts';
import type { WorktreeRecord } from './record.ts';

export type LeftBehind = {
  readonly count: number;
  /** The files and folders in which they are. */
  readonly places: readonly string[];
};

export const NOTHING_LEFT: LeftBehind = { count: 0, places: [] };
const LIST = ['ls-files', '-o', '-i', '--exclude-standard', '-z'];
const PLACES_MAX = 3;

/** The ignored files, and the folders of which everything is ignored, with a slash behind them. */
export async function ignoredIn(folder: string): Promise<readonly string[]> {
  return records(await git(folder, [...LIST, '--directory', '--', '.']));
}

/** The ignored files that somebody made after the worktree was set up; none where git does not know the folder any more. */
export async function leftBehindIn({ folder, ignored = [] }: WorktreeRecord): Promise<LeftBehind> {
  if (!existsSync(folder)) return NOTHING_LEFT;
  const known = new Set(ignored);
  const listed = (await ignoredIn(folder).catch(() => [])).filter((path) => !known.has(path));
  // Git names a folder that holds nothing else beside what it holds.
  const places = listed.filter((path, at) => !listed[at + 1]?.startsWith(path));
  if (places.length === 0) return NOTHING_LEFT;
  const files = records((await tryGit(folder, [...LIST, '--', '.'])).out);
  const [plain, folders] = [new Set(places), places.filter((path) => path.endsWith('/'))];
  const count = files.filter((path) => plain.has(path) || folders.some((each) => path.startsWith(each))).length;
  return { count, places };
}

/** Of several worktrees that go together. */
export function allLeftBehind(each: readonly LeftBehind[]): LeftBehind {
  return { count: each.reduce((sum, { count }) => sum + count, 0), places: each.flatMap(({ places }) => places) };
}

/** In words, for whoever clears the worktree away; empty where there are none. */
export function saidOfLeftBehind({ count, places }: LeftBehind): string {
  if (count === 0) return '';
  const which = `${places.slice(0, PLACES_MAX).join(', ')}${places.length > PLACES_MAX ? ' …' : ''}`;
  return count === 1
    ? `1 ignored file was left behind and is removed with it (${which})`
    : `${count} ignored files were left behind and are removed with it (${which})`;
}
