// Jujutsu (jj), as far as the shipped utilities use it.
import { type Ran, runCommand } from './command.ts';

export const JJ_MISSING = 'jj was not found; install Jujutsu, or use the Mime materia with git';

export function jj(cwd: string, ...args: readonly string[]): Promise<Ran> {
  return runCommand('jj', ['--no-pager', '--color=never', ...args], cwd);
}

export async function hasJj(cwd: string): Promise<boolean> {
  return (await jj(cwd, '--version')).ok;
}

/** Whether the working-copy commit holds no change, or why that cannot be told. */
export async function isClean(root: string): Promise<boolean | { readonly error: string }> {
  const asked = await jj(root, 'log', '--no-graph', '-r', '@', '-T', 'if(empty, "empty", "changed")');
  return asked.ok ? asked.stdout.trim() === 'empty' : { error: asked.error };
}

/** A name that means the same to jj, to git and inside a revset. */
export function isBookmarkName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(name) && !/\.\.|\/\/|[./]$|\.lock$/.test(name);
}

export async function hasBookmark(root: string, name: string): Promise<boolean> {
  const asked = await jj(root, 'log', '--no-graph', '-r', `bookmarks(exact:"${name}")`, '-T', 'commit_id');
  return asked.ok && asked.stdout.trim() !== '';
}

/** Runs commands one after the other; the first that fails ends it with its reason. */
export async function jjInTurn(root: string, commands: readonly (readonly string[])[]): Promise<string | null> {
  for (const command of commands) {
    const ran = await jj(root, ...command);
    if (!ran.ok) return `jj ${command[0]} failed: ${ran.error}`;
  }
  return null;
}
