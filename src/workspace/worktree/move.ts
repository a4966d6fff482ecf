// Moves the branch of a worktree on to another commit, and its files with it. It may be cut off anywhere: the record says
// which commit the files still are at until they are not, so that what others did never looks as if it was taken back here.
import { alsoMoved, type PutAside, putAside } from './aside.ts';
import { filesBetween } from './diff.ts';
import { commitOf, dropStaleLock, git, tryGit } from './git.ts';
import { isIn } from './merge.ts';
import { type WorktreeRecord, writeRecord } from './record.ts';
import { restorePath } from './restore-path.ts';
import { tipOf } from './tip.ts';

export type Moved<T> = { readonly record: T; readonly aside: PutAside | null };

/** What is not committed stays as it is; where it is in the way it is put aside. Accepted is all of it, or as far as is said. */
export async function moveBranch<T extends WorktreeRecord>(
  stateDir: string,
  record: T,
  to: string,
  turn: number,
  accepted = to,
): Promise<Moved<T>> {
  const ref = `refs/heads/${record.branch}`;
  const from = await tipOf(record);
  if (from === to) return { record, aside: null };
  const moving = writeRecord(stateDir, { ...record, behind: from, reaches: accepted });
  await git(record.top, ['update-ref', '-m', 'baton', ref, to, from]);
  return catchUp(stateDir, moving, turn);
}

/** Brings the files to where the branch is, after a move that may have been cut off. */
export async function catchUp<T extends WorktreeRecord>(stateDir: string, record: T, turn: number): Promise<Moved<T>> {
  const { behind, reaches, top } = record;
  if (behind === undefined) return { record, aside: null };
  const to = await tipOf(record);
  const aside = to === behind ? null : await moveFiles(stateDir, record, behind, to, turn);
  const { behind: _done, reaches: _reached, ...rest } = record;
  // Cut off before the branch was moved, nothing was accepted by it; an agent may have committed meanwhile.
  const accepted = reaches === undefined ? to : (await isIn(top, reaches, to)) ? reaches : record.accepted;
  return { record: writeRecord(stateDir, { ...(rest as T), ...(accepted ? { accepted } : {}) }), aside };
}

async function moveFiles(stateDir: string, record: WorktreeRecord, from: string, to: string, turn: number) {
  const { folder, branch } = record;
  if (Object.keys(record.open).length === 0) dropStaleLock(folder);
  const what = `What was in the way when ${branch} was moved on`;
  const head = (await commitOf(folder, 'HEAD')) ?? to;
  // An agent may have committed beside the branch; that is nothing that was accepted.
  const stray = (await isIn(folder, head, to)) ? null : await putAside(stateDir, record, turn, to, what);
  await git(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  await tryGit(folder, ['update-index', '-q', '--refresh']);
  if ((await tryGit(folder, ['read-tree', '-m', '-u', from, to])).code === 0) return stray;
  const aside = await putAside(stateDir, record, turn, to, what);
  const moved: string[] = [];
  for (const { path } of await filesBetween(folder, from, to)) moved.push(...(await restorePath(record, folder, path)));
  return alsoMoved(aside, moved);
}
