// Brings a path of a worktree back to what a commit has there, which may be nothing.
import { git, tryGit } from './git.ts';

export async function restorePath(cwd: string, path: string, commit = 'HEAD'): Promise<void> {
  const isThere = path === '.' || (await tryGit(cwd, ['cat-file', '-e', `${commit}:./${path}`])).code === 0;
  if (isThere) {
    await git(cwd, ['--literal-pathspecs', 'restore', `--source=${commit}`, '--staged', '--worktree', '--', path]);
  } else await git(cwd, ['--literal-pathspecs', 'rm', '-rq', '--cached', '--ignore-unmatch', '--', path]);
  await git(cwd, ['--literal-pathspecs', 'clean', '-qfd', '--', path]);
}
