// What is put aside: the state of a worktree, kept under a name of its own before anything in it is brought back. Nothing is
// thrown away, because what lies there may be a person's.
import { copyFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { ownGitFile } from '../../git/git-folders.ts';
import { AUTHOR, commitOf, git, WorktreeError } from './git.ts';
import { nameOf, type WorktreeRecord, worktreesIn } from './record.ts';
import { stageAll } from './stage.ts';

/** The name under which git keeps it; for repositories that lay there, which it cannot keep, the folders they are in now. */
export type PutAside = { readonly ref: string };

/** Keeps what differs from `start` in the worktree, committed or not, and `more` commits; null where nothing does. */
export async function putAside(
  stateDir: string,
  record: WorktreeRecord,
  turn: number,
  start: string,
  what = whatWasLeft(turn),
  more: readonly string[] = [],
): Promise<PutAside | null> {
  const { folder, cast } = record;
  const tree = await treeOfWork(stateDir, record);
  const head = (await commitOf(folder, 'HEAD')) ?? start;
  const isSame = [head, ...more].every((commit) => commit === start);
  if (isSame && tree === (await git(folder, ['rev-parse', `${start}^{tree}`]))) return null;
  const text = `${what}\n\nBaton-Cast: ${cast}\nBaton-Turn: ${turn}\n`;
  const parents = [...new Set([head, ...more])].flatMap((parent) => ['-p', parent]);
  const commit = await git(folder, ['commit-tree', tree, ...parents], { input: text, env: AUTHOR });
  const ref = `${asideRefs(cast)}/turn-${turn}-${commit.slice(0, 8)}`;
  await git(folder, ['update-ref', ref, commit]);
  return { ref };
}

/** What was put aside, with the folders to which repositories were moved. */
export function alsoMoved(aside: PutAside | null, folders: readonly string[]): PutAside | null {
  const names = [...(aside ? [aside.ref] : []), ...folders];
  return names.length === 0 ? null : { ref: names.join(' and ') };
}

export function whatWasLeft(turn: number): string {
  return `What turn ${turn} left before it began over`;
}

/** Where what was put aside is kept. */
export function asideRefs(cast: string): string {
  return `refs/baton/${cast}`;
}

export async function dropAside({ top, cast }: WorktreeRecord): Promise<void> {
  const refs = await git(top, ['for-each-ref', '--format=%(refname)', `${asideRefs(cast)}/`]);
  for (const ref of refs.split('\n').filter((line) => line !== '')) await git(top, ['update-ref', '-d', ref]);
}

/** Everything that lies in the worktree as a tree of git, without touching its index. */
export async function treeOfWork(stateDir: string, record: WorktreeRecord): Promise<string> {
  const { folder } = record;
  return withIndex(stateDir, record, async (env) => {
    await stageAll(record, env);
    return git(folder, ['write-tree'], { env });
  });
}

/** Works with a copy of the worktree's index. */
export async function withIndex<T>(
  stateDir: string,
  record: WorktreeRecord,
  work: (env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const { folder } = record;
  const own = join(worktreesIn(stateDir), `${nameOf(record)}.index`);
  try {
    // The copy knows which files were not touched since, so that they are not read again. Git doubts what was touched in the
    // second in which the index was written; a copy that looked younger would make it believe too much.
    const index = ownGitFile(folder, 'index');
    if (index === null) throw new WorktreeError(`${folder} is in no git repository any more`);
    const writtenAt = Math.floor(statSync(index).mtimeMs / 1000);
    copyFileSync(index, own);
    utimesSync(own, writtenAt, writtenAt);
    return await work({ GIT_INDEX_FILE: own });
  } finally {
    rmSync(own, { force: true });
    rmSync(`${own}.lock`, { force: true });
  }
}
