// Git as the workspace uses it, in two ways. Worktrees of casts: answers as text, refusals as errors, and the difference between two
// commits. Watching for changes: without locks, with the settings that were in force at the first look, and with what the index says,
// cached as long as the index has the same bytes.

import { hash } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { commitOfRef, ownGitFile } from '../git/repository-files.ts';
import { type RunGit, runGit } from '../git/run-git.ts';
import type { Code } from '../kernel/codes.ts';
import { ChangesError } from './changes-mark.ts';

/** A worktree operation that failed, and why. */
export class WorktreeError extends Error {
  readonly code: Code;
  constructor(message: string, code: Code = 'WORKTREE_UNUSABLE') {
    super(message);
    this.code = code;
  }
}

type GitAnswer = {
  /** Null if git could not start or did not end in time. */
  readonly code: number | null;
  readonly bytes: Buffer;
  readonly out: string;
  /** Its standard error. */
  readonly error: string;
};

type GitOptions = Omit<RunGit, 'settings'>;

const SETTINGS = ['advice.detachedHead=false', 'submodule.recurse=false', 'diff.ignoreSubmodules=dirty'];

/** The author of commits for a cast. */
export const AUTHOR: Readonly<Record<string, string>> = {
  GIT_AUTHOR_NAME: 'Baton',
  GIT_AUTHOR_EMAIL: 'baton@localhost',
  GIT_COMMITTER_NAME: 'Baton',
  GIT_COMMITTER_EMAIL: 'baton@localhost',
};

/** Git's answer, with any exit code. */
export async function tryGit(folder: string, args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
  const { code, out, error } = await runGit(folder, args, { ...options, settings: SETTINGS });
  return { code, bytes: out, out: out.toString('utf8'), error };
}

/** Git's output without its last line end. A failure throws git's own reason. */
export async function git(folder: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const { code, out, error } = await tryGit(folder, args, options);
  if (code === 0) return out.replace(/\n$/, '');
  throw new WorktreeError(`git ${args[0]} failed in ${folder}: ${lastLines(error) || `exit code ${code}`}`);
}

/** The commit of a name, or null. */
export async function commitOf(folder: string, name: string): Promise<string | null> {
  const known = commitOfRef(folder, name);
  if (known !== undefined) return known;
  const { code, out } = await tryGit(folder, ['rev-parse', '-q', '--verify', '--end-of-options', `${name}^{commit}`]);
  return code === 0 ? out.trim() : null;
}

/** Removes a lock of git. No program works in the folder now, so a killed one left it. */
export function dropStaleLock(folder: string): void {
  const lock = ownGitFile(folder, 'index.lock');
  if (lock !== null) rmSync(lock, { force: true });
}

/** The parts of an output with `-z`. */
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
  /** Lines. Null for a binary file. */
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

/** The patch from one commit to the other, for `git apply`. `paths` limits it, relative to the folder. */
export async function patchBetween(folder: string, from: string, to: string | null, paths: readonly string[] = []) {
  const args = ['diff', ...PLAIN, '--binary', from, ...(to === null ? [] : [to])];
  const limited = paths.length === 0 ? args : ['--literal-pathspecs', ...args, '--', ...paths];
  return (await tryGit(folder, limited)).bytes;
}

function lines(count: string): number | null {
  return count === '-' ? null : Number(count);
}

/** The path as locks of the workspace name it. A path outside of the workspace becomes `.`. */
export function fromWorkspace(path: string, top: string, dir: string): string {
  const prefix = dir === top ? '' : `${dir.slice(top.length + 1)}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : '.';
}

const TIMEOUT_MS = 120_000;

/** The settings that decide what git counts as a difference. */
export type GitSettings = Readonly<Record<string, string>>;

type ReadAnswer = { readonly code: number | null; readonly out: Buffer; readonly error: string };

export type ReadGitOptions = {
  readonly settings?: GitSettings;
  /** Another index than the folder's own. */
  readonly index?: string;
  readonly input?: Buffer;
};

/** The defaults of these settings. An agent can change them in a file that no commit shows. */
const DEFAULTS: GitSettings = {
  'core.filemode': 'true',
  'core.ignorecase': 'false',
  'core.symlinks': 'true',
  'core.autocrlf': 'false',
  'core.eol': 'native',
  'core.attributesfile': join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'git', 'attributes'),
};

/** Git's own caches about files are not trusted. */
const FIXED: readonly string[] = ['core.untrackedCache=false', 'core.trustctime=true', 'core.checkStat=default'];

const EXCLUDES_FILE = 'core.excludesfile';

type Configured = {
  readonly settings: GitSettings /** The user's own file of rules. */;
  readonly excludesFile: string;
};

export async function gitSettingsOf(root: string): Promise<Configured> {
  const names = [...Object.keys(DEFAULTS), EXCLUDES_FILE].map((name) => name.slice('core.'.length));
  const { out } = await tryReadGit(root, ['config', '-z', '--get-regexp', `^core\\.(${names.join('|')})$`]);
  const set = byteRecords(out).map((line): [string, string] => {
    const [name = '', ...value] = line.toString('utf8').split('\n');
    // A name without a value is true.
    return [name, value.length === 0 ? 'true' : value.join('\n')];
  });
  const { [EXCLUDES_FILE]: excludes = '', ...settings } = Object.fromEntries(set);
  return { settings: { ...DEFAULTS, ...settings }, excludesFile: await excludesFileOf(root, excludes) };
}

async function excludesFileOf(root: string, named: string): Promise<string> {
  if (named === '') return join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'git', 'ignore');
  if (!/^[~%]/.test(named)) return resolve(root, named);
  const { out } = await tryReadGit(root, ['config', '-z', '--path', EXCLUDES_FILE]);
  return resolve(root, out.toString('utf8').replace(/\0$/, ''));
}

/** The output. Throws a `ChangesError` if git fails. */
export async function readGit(root: string, args: readonly string[], options: ReadGitOptions = {}): Promise<Buffer> {
  const { code, out, error } = await tryReadGit(root, args, options);
  if (code === 0) return out;
  throw new ChangesError(`git ${args[0]} failed in ${root}: ${error || `exit code ${code}`}`);
}

export async function tryReadGit(
  root: string,
  args: readonly string[],
  options: ReadGitOptions = {},
): Promise<ReadAnswer> {
  const pinned = Object.entries(options.settings ?? {}).map(([name, value]) => `${name}=${value}`);
  const { code, out, error } = await runGit(root, args, {
    ...(options.input === undefined ? {} : { input: options.input }),
    env: { ...ENVIRONMENT, ...(options.index === undefined ? {} : { GIT_INDEX_FILE: options.index }) },
    settings: [...FIXED, ...pinned],
    timeoutMs: TIMEOUT_MS,
  });
  return { code, out, error: error.split('\n')[0] ?? '' };
}

/** Git writes nothing and uses no replacement objects. */
const ENVIRONMENT = { GIT_OPTIONAL_LOCKS: '0', GIT_NO_REPLACE_OBJECTS: '1' };

/** The parts that end with a zero byte. */
export function byteRecords(output: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let from = 0;
  for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, from)) {
    found.push(output.subarray(from, end));
    from = end + 1;
  }
  return found;
}

/** The mode of a submodule in git. */
export const SUBMODULE_MODE = '160000';

/** Paths from the folder. The index knows these, and the files alone do not show them. */
type Indexed = {
  /** Tracked files that git is set to treat as unchanged or absent. */
  readonly hidden: readonly Buffer[];
  /** Submodules. */
  readonly links: readonly Buffer[];
  readonly ignoreFiles: readonly Buffer[];
};

const BYTES_MAX = 32 * 1024 * 1024;
const KEPT_MAX = 50;
const known = new Map<string, { readonly digest: string; readonly found: Indexed }>();

export async function indexed(folder: string): Promise<Indexed> {
  const digest = indexDigest(ownGitFile(folder, 'index'));
  const earlier = known.get(folder);
  if (digest !== null && earlier?.digest === digest) return earlier.found;
  const all = byteRecords(await readGit(folder, ['ls-files', '-v', '-s', '-z', '--', '.']));
  const pathIn = (line: Buffer) => line.subarray(line.indexOf(TAB) + 1);
  const found: Indexed = {
    hidden: all.filter((line) => isHidden(line[0] ?? 0)).map(pathIn),
    links: all.filter((line) => line.subarray(2, 2 + SUBMODULE_MODE.length).equals(LINK_BYTES)).map(pathIn),
    ignoreFiles: all.map(pathIn).filter((path) => isIgnoreFile(path)),
  };
  if (known.size >= KEPT_MAX) known.clear();
  // Another program may have written the index meanwhile.
  if (digest !== null && indexDigest(ownGitFile(folder, 'index')) === digest) known.set(folder, { digest, found });
  else known.delete(folder);
  return found;
}

function indexDigest(index: string | null): string | null {
  try {
    return index !== null && statSync(index).size <= BYTES_MAX ? hash('sha256', readFileSync(index), 'hex') : null;
  } catch {
    return null; // The index does not exist yet.
  }
}

const TAB = 0x09;
const LINK_BYTES = Buffer.from(SUBMODULE_MODE);

function isIgnoreFile(path: Buffer): boolean {
  return /(?:^|\/)\.gitignore$/.test(path.toString('latin1'));
}

/** A small letter marks a file as assumed unchanged, an S as not in the working tree. */
function isHidden(letter: number): boolean {
  return letter === 83 || (letter >= 97 && letter <= 122);
}
