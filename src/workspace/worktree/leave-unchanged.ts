// Checks run where the work lies, and some write files: a report, or a correction by a linter. Nobody looks at those, so what
// checks change in a worktree is put back before the work is committed. What git ignores may change.
import { treeOfWork } from './aside.ts';
import { git, records } from './git.ts';
import { readLane, readRecord, type WorktreeRecord } from './record.ts';
import { restorePath } from './restore-path.ts';

export type Unchanged<T> = { readonly value: T; readonly putBack: readonly string[] };

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
