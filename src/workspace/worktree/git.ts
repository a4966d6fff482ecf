// Git as the worktrees of casts need it: answers as text, refusals as errors, and the difference between two commits.
import { rmSync } from 'node:fs';
import { ownGitFile } from '../../git/repository-files.ts';
import { type RunGit, runGit } from '../../git/run-git.ts';
import type { Code } from '../../kernel/codes.ts';

/** What was asked of a worktree cannot be done, and why. */
export class WorktreeError extends Error {
  readonly code: Code;
  constructor(message: string, code: Code = 'WORKTREE_UNUSABLE') {
    super(message);
    this.code = code;
  }
}

type GitAnswer = {
  /** Null where git could not be started or did not end in time. */
  readonly code: number | null;
  readonly bytes: Buffer;
  readonly out: string;
  /** What it said on standard error. */
  readonly error: string;
};

type GitOptions = Omit<RunGit, 'settings'>;

const SETTINGS = ['advice.detachedHead=false', 'submodule.recurse=false', 'diff.ignoreSubmodules=dirty'];

/** Who commits for a cast. */
export const AUTHOR: Readonly<Record<string, string>> = {
  GIT_AUTHOR_NAME: 'Baton',
  GIT_AUTHOR_EMAIL: 'baton@localhost',
  GIT_COMMITTER_NAME: 'Baton',
  GIT_COMMITTER_EMAIL: 'baton@localhost',
};

/** Git's answer, whatever it is. */
export async function tryGit(folder: string, args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
  const { code, out, error } = await runGit(folder, args, { ...options, settings: SETTINGS });
  return { code, bytes: out, out: out.toString('utf8'), error };
}

/** What git answers without its last line end; where it refuses, an error with git's own reason. */
export async function git(folder: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const { code, out, error } = await tryGit(folder, args, options);
  if (code === 0) return out.replace(/\n$/, '');
  throw new WorktreeError(`git ${args[0]} failed in ${folder}: ${lastLines(error) || `exit code ${code}`}`);
}

/** The commit that a name stands for, or null. */
export async function commitOf(folder: string, name: string): Promise<string | null> {
  const { code, out } = await tryGit(folder, ['rev-parse', '-q', '--verify', '--end-of-options', `${name}^{commit}`]);
  return code === 0 ? out.trim() : null;
}

/** Nobody works in the folder now, so a lock of git is one that a killed program left. */
export function dropStaleLock(folder: string): void {
  const lock = ownGitFile(folder, 'index.lock');
  if (lock !== null) rmSync(lock, { force: true });
}

/** The parts of an answer that was asked for with `-z`. */
export function records(out: string): readonly string[] {
  return out.split('\0').filter((part) => part !== '');
}

export function lastLines(error: string): string {
  return error.split('\n').slice(-3).join(' ').trim();
}

// What differs between two states of a repository: file by file, and as a patch.
type ChangedFile = {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
  /** Lines; null for a file that is no text. */
  readonly insertions: number | null;
  readonly deletions: number | null;
};

const STATUS: Readonly<Record<string, ChangedFile['status']>> = { A: 'added', D: 'deleted' };
const PLAIN = ['--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];

/** `to` is a commit or a tree. Paths are those of the repository. */
export async function filesBetween(folder: string, from: string, to: string): Promise<readonly ChangedFile[]> {
  const diff = ['diff', ...PLAIN, '-z'];
  const statuses = records(await git(folder, [...diff, '--name-status', from, to]));
  const counts = records(await git(folder, [...diff, '--numstat', from, to]));
  return counts.map((line, index) => {
    const [insertions = '-', deletions = '-', ...path] = line.split('\t');
    const status = STATUS[statuses[index * 2] ?? ''] ?? 'modified';
    return { path: path.join('\t'), status, insertions: lines(insertions), deletions: lines(deletions) };
  });
}

/** The patch from one to the other, which `git apply` takes. With `paths`, only of those, from the folder on. */
export async function patchBetween(folder: string, from: string, to: string | null, paths: readonly string[] = []) {
  const args = ['diff', ...PLAIN, '--binary', from, ...(to === null ? [] : [to])];
  const limited = paths.length === 0 ? args : ['--literal-pathspecs', ...args, '--', ...paths];
  return (await tryGit(folder, limited)).bytes;
}

function lines(count: string): number | null {
  return count === '-' ? null : Number(count);
}

/** As locks of the workspace name it; what lies outside of the workspace is no part of it. */
export function fromWorkspace(path: string, top: string, dir: string): string {
  const prefix = dir === top ? '' : `${dir.slice(top.length + 1)}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : '.';
}
