// Takes back what a cast changed in the directory itself, as far as it is known what was there before: a file is touched
// only while it still is what the cast left.
import { existsSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BeforeState } from './before-state.ts';
import { FileReader } from './changes-mark.ts';
import { git, tryGit } from './worktree/git.ts';
import { linksIn } from './worktree/vacant.ts';

export type LeftFile = {
  /** Null where it is gone. */
  readonly digest: string | null;
  /** What is to be said of a file that changed beside a turn, when whose change it was cannot be told; null of the cast's own. */
  readonly remark: string | null;
};

/** What a cast left, and what changed beside it, by path. */
export type Left = Readonly<Record<string, LeftFile>>;

export type Restoring = {
  readonly path: string;
  /** What is to be done with it; `leave` where it cannot be taken back. */
  readonly what: 'remove' | 'restore' | 'leave';
  readonly why: string;
  readonly commit: string | null;
};

export async function planRestoring(dir: string, before: BeforeState, left: Left): Promise<readonly Restoring[]> {
  const reader = new FileReader(dir, null);
  const plan: Restoring[] = [];
  for (const path of Object.keys(left).sort()) plan.push(await restoringOf(dir, reader, path, before, left));
  return plan.filter(({ why }) => why !== DONE);
}

const DONE = 'it is as it was';

async function restoringOf(dir: string, reader: FileReader, path: string, before: BeforeState, left: Left) {
  const leave = (why: string): Restoring => ({ path, what: 'leave', why, commit: null });
  const was = Object.hasOwn(before, path) ? before[path] : undefined;
  const mark = await reader.mark(path, Buffer.from(join(dir, path)));
  const present = mark?.content?.replace(/^run-/, '') ?? null;
  const { digest = null, remark = null } = left[path] ?? {};
  if (remark !== null) return leave(remark);
  if (digest?.startsWith('module:'))
    return leave(`what was changed in a submodule is taken back there: git -C ${path} status`);
  if (mark === null || present !== digest) return leave('it was changed again since');
  if (!was || was.kind === 'unknown') return leave('nobody kept what it was before');
  if (was.kind === 'commit' && (await isInCommit(dir, was.commit, path))) {
    const why = `back to what it is in ${was.commit.slice(0, 7)}`;
    return { path, what: 'restore', why, commit: was.commit } as const;
  }
  return present === null ? leave(DONE) : ({ path, what: 'remove', why: 'the cast made it', commit: null } as const);
}

/** Whether the commit has the file, by its path from the folder on. */
export async function isInCommit(dir: string, commit: string, path: string): Promise<boolean> {
  return (await tryGit(dir, ['cat-file', '-e', `${commit}:./${path}`])).code === 0;
}

export async function restoreFiles(dir: string, plan: readonly Restoring[]): Promise<void> {
  const links = (await linksIn(dir)).map((path) => join(dir, path));
  for (const { path, what, commit } of plan) {
    if (what === 'restore' && commit !== null) {
      await git(dir, ['--literal-pathspecs', 'restore', `--source=${commit}`, '--worktree', '--', path]);
    } else if (what === 'remove') {
      rmSync(join(dir, path), { force: true });
      dropEmptyFolders([dir, ...links], dirname(join(dir, path)));
    }
  }
}

/** The folder itself stays, and so do those that stand for other repositories, which git has although they are empty. */
function dropEmptyFolders(kept: readonly string[], folder: string): void {
  for (let at = folder; !kept.includes(at) && at !== dirname(at); at = dirname(at)) {
    try {
      if (existsSync(at)) rmdirSync(at);
    } catch {
      return; // Something else lies in it.
    }
  }
}
