// What git has to say of a workspace's folder: whether a cast can get a worktree of its own there, and what would not be
// in it.
import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { records, tryGit, WorktreeError } from './git.ts';
import { BRANCHES } from './record.ts';

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

/** With `counts` false, `branch` and `uncommitted` are left out: they are only shown to people. */
export async function lookAt(dir: string, counts = true): Promise<Look> {
  const inside = await tryGit(dir, ['rev-parse', '--is-inside-work-tree', '--is-bare-repository', '--show-toplevel']);
  if (inside.code === null) return { ok: false, why: null };
  const [isInside = '', isBare, named = ''] = inside.out.split('\n');
  if (isInside === '') return { ok: false, why: isNone(inside.error) ? null : firstLine(inside.error) };
  if (isBare === 'true') return { ok: false, why: 'the repository is bare and has no files to work on' };
  if (isInside !== 'true') return { ok: false, why: 'the folder lies inside the folder of git itself' };
  if (inside.code !== 0) return { ok: false, why: firstLine(inside.error) };
  const top = realpathSync(named);
  const prefix = relative(top, dir);
  const asked = ['HEAD^{commit}', `HEAD:${prefix}`, 'HEAD:.gitmodules', `refs/heads/${BRANCHES}`];
  const answers = await tryGit(top, ['cat-file', '--batch-check'], { input: `${asked.join('\n')}\n` });
  const [head, folder, modules, taken] = answers.out.split('\n').map((line) => /^([0-9a-f]{40,}) /.exec(line)?.[1]);
  if (head === undefined)
    return { ok: false, why: 'the repository has no commit yet that a worktree could begin from' };
  if (folder === undefined) return { ok: false, why: `the last commit has no folder ${prefix}` };
  if (taken !== undefined) refuseTakenName();
  const shown = counts ? await shownOf(top, prefix) : { branch: null, uncommitted: 0 };
  return { ok: true, repository: { top, prefix, head, ...shown, hasSubmodules: modules !== undefined } };
}

/** A branch of that very name leaves no room for branches below it. */
function refuseTakenName(): never {
  const fix = `rename it with \`git branch -m ${BRANCHES} …\`, or cast with --in-place`;
  throw new WorktreeError(
    `there is a branch ${BRANCHES}, so git cannot make the branch ${BRANCHES}/… of a cast; ${fix}`,
  );
}

const STATUS = [
  'status',
  '--porcelain',
  '--branch',
  '--no-ahead-behind',
  '-z',
  '--untracked-files=all',
  '--no-renames',
];
const DETACHED = 'HEAD (no branch)';

async function shownOf(top: string, prefix: string): Promise<Pick<Repository, 'branch' | 'uncommitted'>> {
  const { code, out } = await tryGit(top, STATUS, { env: { GIT_OPTIONAL_LOCKS: '0' } });
  if (code !== 0) return { branch: null, uncommitted: 0 };
  const [first = '', ...files] = records(out);
  // The branch that it follows comes after three dots.
  const [name = DETACHED] = first.replace('## ', '').split('...');
  const ours = prefix === '' ? '.baton/' : `${prefix}/.baton/`;
  return {
    branch: name === DETACHED ? null : name,
    uncommitted: files.filter((line) => !line.slice(3).startsWith(ours)).length,
  };
}

function isNone(error: string): boolean {
  return error.includes('not a git repository');
}

function firstLine(error: string): string {
  return (error.split('\n')[0] ?? '').replace(/^fatal: /, '');
}
