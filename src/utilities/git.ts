// Git, as far as the shipped utilities use it.
import { existsSync } from 'node:fs';
import { runGit } from '../git/run-git.ts';
import type { Ran } from './command.ts';

const TIMEOUT_MS = 30_000;
const ERROR_CHARS_MAX = 800;

export async function git(cwd: string, ...args: readonly string[]): Promise<Ran> {
  const { code, out, error, isMissing } = await runGit(cwd, args, { env: identity(), timeoutMs: TIMEOUT_MS });
  if (code === 0) return { ok: true, missing: false, stdout: out.toString('utf8'), error: '' };
  // A folder that is not there looks to Node as if the program were not.
  const isHere = existsSync(cwd);
  const missing = isMissing && isHere;
  const why = isHere ? (missing ? 'git was not found' : error) : `the folder ${cwd} does not exist`;
  return { ok: false, missing, stdout: out.toString('utf8'), error: why.slice(0, ERROR_CHARS_MAX) };
}

const VARIABLES = [
  ...['AUTHOR', 'COMMITTER'].flatMap((who) => ['NAME', 'EMAIL', 'DATE'].map((what) => `GIT_${who}_${what}`)),
  ...['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'],
];

/** Who commits, and which configuration is the person's own, may be said in git's variables. */
function identity(): Record<string, string> {
  return Object.fromEntries(VARIABLES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
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
