// Git, as far as the shipped utilities use it.
import { type Ran, runCommand } from './command.ts';

export function git(cwd: string, ...args: readonly string[]): Promise<Ran> {
  return runCommand('git', args, cwd);
}

/** The root of the working tree that a folder lies in, or why there is none. */
export async function gitRoot(cwd: string): Promise<{ readonly root: string } | { readonly error: string }> {
  const asked = await git(cwd, 'rev-parse', '--show-toplevel');
  if (asked.missing) return { error: 'git was not found; install git' };
  const root = asked.stdout.trim();
  if (asked.ok && root !== '') return { root };
  return { error: `${cwd} is not in the working tree of a git repository; run \`git init\` first` };
}

/** The branch that is checked out, also when it has no commit yet; null when HEAD is detached. */
export async function currentBranch(root: string): Promise<string | null> {
  const asked = await git(root, 'symbolic-ref', '--quiet', '--short', 'HEAD');
  return asked.ok ? asked.stdout.trim() : null;
}
