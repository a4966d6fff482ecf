// Version control for the shipped utilities: a program without a shell, git, jj, the repository of a folder, the branch name of a
// cast, and the utility Detect-VCS.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { runGit } from '../git/run-git.ts';
import { type ShippedInput, type UtilityOutcome, utilityResult } from './utility.ts';

export type ProgramAnswer = {
  readonly ok: boolean;
  /** The program is not on the PATH. */
  readonly missing: boolean;
  readonly stdout: string;
  /** What went wrong, in a few lines. Empty on success. */
  readonly error: string;
};

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const ERROR_CHARS_MAX = 800;

export function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  timeoutMs = 30_000,
): Promise<ProgramAnswer> {
  const options = {
    cwd,
    env: environment(),
    timeout: timeoutMs,
    maxBuffer: OUTPUT_BYTES_MAX,
    killSignal: 'SIGKILL',
  } as const;
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (failure, stdout, stderr) => {
      if (failure === null) return resolve({ ok: true, missing: false, stdout, error: '' });
      // For Node, a missing folder looks like a missing program.
      const isHere = existsSync(cwd);
      const missing = failure.code === 'ENOENT' && isHere;
      let error = stderr.trim() || failure.message;
      if (!isHere) error = `the folder ${cwd} does not exist`;
      else if (missing) error = `${program} was not found`;
      else if (failure.signal === 'SIGKILL') error = `${program} did not end within ${timeoutMs} ms, or wrote too much`;
      resolve({ ok: false, missing, stdout, error: error.slice(0, ERROR_CHARS_MAX) });
    });
    child.stdin?.end();
  });
}

/** Without the variables of a git hook, which would point git at the hook's repository, and without prompts. */
function environment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
  for (const name of REPOSITORY_VARIABLES) delete env[name];
  return env;
}

const REPOSITORY_VARIABLES = [
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_DIR',
  'GIT_INDEX_FILE',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_WORK_TREE',
];

const TIMEOUT_MS = 30_000;

export async function askGit(cwd: string, ...args: readonly string[]): Promise<ProgramAnswer> {
  const { code, out, error, isMissing } = await runGit(cwd, args, { env: identity(), timeoutMs: TIMEOUT_MS });
  if (code === 0) return { ok: true, missing: false, stdout: out.toString('utf8'), error: '' };
  // For Node, a missing folder looks like a missing program.
  const isHere = existsSync(cwd);
  const missing = isMissing && isHere;
  const why = isHere ? (missing ? 'git was not found' : error) : `the folder ${cwd} does not exist`;
  return { ok: false, missing, stdout: out.toString('utf8'), error: why.slice(0, ERROR_CHARS_MAX) };
}

const VARIABLES = [
  ...['AUTHOR', 'COMMITTER'].flatMap((who) => ['NAME', 'EMAIL', 'DATE'].map((what) => `GIT_${who}_${what}`)),
  ...['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'],
];

/** Git's variables may name the committer and the person's own configuration. */
function identity(): Record<string, string> {
  return Object.fromEntries(VARIABLES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** The root of the working tree that a folder lies in, or why there is none. */
export async function gitRoot(cwd: string): Promise<{ readonly root: string } | { readonly error: string }> {
  const asked = await askGit(cwd, 'rev-parse', '--show-toplevel');
  if (asked.missing) return { error: 'git was not found; install git' };
  const root = asked.stdout.trim();
  if (asked.ok && root !== '') return { root };
  return { error: `${cwd} is not in the working tree of a git repository; run \`git init\` first` };
}

/** The branch that is checked out, also when it has no commit yet; null when HEAD is detached. */
export async function currentBranch(root: string): Promise<string | null> {
  const asked = await askGit(root, 'symbolic-ref', '--quiet', '--short', 'HEAD');
  return asked.ok ? asked.stdout.trim() : null;
}

// Jujutsu (jj), as far as the shipped utilities use it.
export const JJ_MISSING = 'jj was not found; install Jujutsu, or use the Mime materia with git';

export function jj(cwd: string, ...args: readonly string[]): Promise<ProgramAnswer> {
  return runProgram('jj', ['--no-pager', '--color=never', ...args], cwd);
}

export async function hasJj(cwd: string): Promise<boolean> {
  return (await jj(cwd, '--version')).ok;
}

/** Whether the working-copy commit holds no change, or why that is not known. */
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

// Which repository a folder is in, by the marks that jj and git leave in its root.
type VcsRepository = { readonly kind: 'jj' | 'git'; readonly root: string };

/**
 * The nearest ancestor that is a repository, or null. A folder that is both counts as jj, which works on top of git.
 * The mark of git is a folder, or a file in a worktree.
 */
export function repositoryOf(cwd: string): VcsRepository | null {
  for (let folder = path.resolve(cwd); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, '.jj'))) return { kind: 'jj', root: folder };
    if (existsSync(path.join(folder, '.git'))) return { kind: 'git', root: folder };
    if (folder === path.dirname(folder)) return null;
  }
}

/** The stable branch name of a cast: two words for people, and ten hexadecimal digits that make it unique. */
export function branchNameFor(family: 'mime' | 'blackbelt', castId: string): string {
  const digest = createHash('sha256').update(castId).digest();
  const noun = NOUNS[digest.readUInt8(30) % NOUNS.length];
  const verb = VERBS[digest.readUInt8(31) % VERBS.length];
  return `${family}/${noun}-${verb}-${digest.toString('hex').slice(0, 10)}`;
}

const NOUNS = [
  'anchor',
  'birch',
  'comet',
  'delta',
  'ember',
  'falcon',
  'glacier',
  'harbor',
  'island',
  'juniper',
  'kettle',
  'lantern',
  'meadow',
  'needle',
  'orchard',
  'pebble',
];
const VERBS = [
  'bends',
  'climbs',
  'drifts',
  'echoes',
  'floats',
  'glides',
  'hums',
  'jumps',
  'kindles',
  'lifts',
  'mends',
  'opens',
  'races',
  'shines',
  'turns',
  'wakes',
];

/** The result of Detect-VCS: a folder's version control, and the installed programs. */
type Detected = {
  readonly kind: 'jj' | 'git' | 'none';
  readonly root: string | null;
  readonly available: { readonly jj: boolean; readonly git: boolean };
};

const ANSWER_MS = 2_000;

export async function detectVcs({ cwd }: ShippedInput): Promise<UtilityOutcome> {
  return utilityResult({ satisfied: true, state: { vcs: await detect(cwd) } });
}

/** The built-in form has the same fields at the top of its result. */
export async function detectVcsPlainly({ cwd }: ShippedInput): Promise<UtilityOutcome> {
  return utilityResult(await detect(cwd));
}

async function detect(cwd: string): Promise<Detected> {
  const [jj, git] = await Promise.all([isInstalled('jj', cwd), isInstalled('git', cwd)]);
  const available = { jj, git };
  const marked = repositoryOf(cwd);
  if (marked !== null) return { ...marked, available };
  // Only the program knows a repository that is set up by configuration alone.
  const jjRoot = jj ? await rootBy('jj', ['root'], cwd) : null;
  if (jjRoot !== null) return { kind: 'jj', root: jjRoot, available };
  const gitRoot = git ? await rootBy('git', ['rev-parse', '--show-toplevel'], cwd) : null;
  return gitRoot === null ? { kind: 'none', root: null, available } : { kind: 'git', root: gitRoot, available };
}

async function isInstalled(program: string, cwd: string): Promise<boolean> {
  return (await runProgram(program, ['--version'], cwd, ANSWER_MS)).ok;
}

async function rootBy(program: string, args: readonly string[], cwd: string): Promise<string | null> {
  const { ok, stdout } = await runProgram(program, args, cwd, ANSWER_MS);
  return ok && stdout.trim() !== '' ? stdout.trim() : null;
}
