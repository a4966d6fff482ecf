// What git has to say of a workspace's folder: whether a cast can get a worktree of its own there, and what would not be
// in it.
import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { BRANCHES } from './branch.ts';
import { commitOf, git, records, tryGit, WorktreeError } from './git.ts';

export type Repository = {
  /** The top folder of the working tree. */
  readonly top: string;
  /** The path of the workspace below it; empty where it is the top itself. */
  readonly prefix: string;
  /** The last commit, and the branch it is on; null where it is on none. */
  readonly head: string;
  readonly branch: string | null;
  /** How many files differ from the last commit, without what governs the agents. */
  readonly uncommitted: number;
  readonly hasSubmodules: boolean;
};

export type Look =
  | { readonly ok: true; readonly repository: Repository }
  /** Why a cast works in the directory itself; null where there simply is no repository. */
  | { readonly ok: false; readonly why: string | null };

export async function lookAt(dir: string): Promise<Look> {
  const inside = await tryGit(dir, ['rev-parse', '--is-inside-work-tree', '--is-bare-repository']);
  if (inside.code === null) return { ok: false, why: null };
  if (inside.code !== 0) return { ok: false, why: isNone(inside.error) ? null : firstLine(inside.error) };
  const [isInside, isBare] = inside.out.split('\n');
  if (isBare === 'true') return { ok: false, why: 'the repository is bare and has no files to work on' };
  if (isInside !== 'true') return { ok: false, why: 'the folder lies inside the folder of git itself' };
  const head = await commitOf(dir, 'HEAD');
  if (head === null) return { ok: false, why: 'the repository has no commit yet that a worktree could begin from' };
  const top = realpathSync(await git(dir, ['rev-parse', '--show-toplevel']));
  const prefix = relative(top, dir);
  if (prefix !== '' && (await tryGit(top, ['cat-file', '-e', `${head}:${prefix}`])).code !== 0) {
    return { ok: false, why: `the last commit has no folder ${prefix}` };
  }
  await refuseTakenName(top);
  const branch = await tryGit(dir, ['symbolic-ref', '-q', '--short', 'HEAD']);
  const modules = await tryGit(top, ['cat-file', '-e', `${head}:.gitmodules`]);
  return {
    ok: true,
    repository: {
      top,
      prefix,
      head,
      branch: branch.code === 0 ? branch.out.trim() : null,
      uncommitted: await uncommittedIn(top, prefix),
      hasSubmodules: modules.code === 0,
    },
  };
}

/** A branch of that very name leaves no room for branches below it. */
async function refuseTakenName(top: string): Promise<void> {
  const taken = await tryGit(top, ['show-ref', '--verify', '-q', `refs/heads/${BRANCHES}`]);
  if (taken.code !== 0) return;
  const fix = `rename it with \`git branch -m ${BRANCHES} …\`, or cast with --in-place`;
  throw new WorktreeError(
    `there is a branch ${BRANCHES}, so git cannot make the branch ${BRANCHES}/… of a cast; ${fix}`,
  );
}

async function uncommittedIn(top: string, prefix: string): Promise<number> {
  const ours = prefix === '' ? '.baton/' : `${prefix}/.baton/`;
  const status = ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'];
  const { code, out } = await tryGit(top, status, { env: { GIT_OPTIONAL_LOCKS: '0' } });
  return code === 0 ? records(out).filter((line) => !line.slice(3).startsWith(ours)).length : 0;
}

function isNone(error: string): boolean {
  return error.includes('not a git repository');
}

function firstLine(error: string): string {
  return (error.split('\n')[0] ?? '').replace(/^fatal: /, '');
}
