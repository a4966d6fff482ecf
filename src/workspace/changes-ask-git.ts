// Asks git about a folder, without locks and with the settings that held when the folder was first looked at. What the index says
// is remembered for as long as the index holds the same bytes.

import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { ownGitFile } from '../git/repository-files.ts';
import { runGit } from '../git/run-git.ts';
import { ChangesError } from './changes-mark.ts';

const TIMEOUT_MS = 120_000;

/** Settings on which it depends what git takes for a difference, with the values they have where nobody sets them. */
export type Settings = Readonly<Record<string, string>>;

type Answer = { readonly code: number | null; readonly out: Buffer; readonly error: string };

export type AskOptions = {
  readonly settings?: Settings;
  /** Another index than the folder's own. */
  readonly index?: string;
  readonly input?: Buffer;
};

/** Whoever works may set these in a file that no commit shows. */
const DEFAULTS: Settings = {
  'core.filemode': 'true',
  'core.ignorecase': 'false',
  'core.symlinks': 'true',
  'core.autocrlf': 'false',
  'core.eol': 'native',
  'core.attributesfile': join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'git', 'attributes'),
};

/** Nothing that git remembers of files is believed. */
const FIXED: readonly string[] = ['core.untrackedCache=false', 'core.trustctime=true', 'core.checkStat=default'];

const EXCLUDES_FILE = 'core.excludesfile';

type Configured = {
  readonly settings: Settings /** The user's own file of rules. */;
  readonly excludesFile: string;
};

export async function settingsOf(root: string): Promise<Configured> {
  const names = [...Object.keys(DEFAULTS), EXCLUDES_FILE].map((name) => name.slice('core.'.length));
  const { out } = await tryGit(root, ['config', '-z', '--get-regexp', `^core\\.(${names.join('|')})$`]);
  const set = records(out).map((line): [string, string] => {
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
  const { out } = await tryGit(root, ['config', '-z', '--path', EXCLUDES_FILE]);
  return resolve(root, out.toString('utf8').replace(/\0$/, ''));
}

/** The output; throws a `ChangesError` where git cannot tell. */
export async function ask(root: string, args: readonly string[], options: AskOptions = {}): Promise<Buffer> {
  const { code, out, error } = await tryGit(root, args, options);
  if (code === 0) return out;
  throw new ChangesError(`git ${args[0]} failed in ${root}: ${error || `exit code ${code}`}`);
}

export async function tryGit(root: string, args: readonly string[], options: AskOptions = {}): Promise<Answer> {
  const pinned = Object.entries(options.settings ?? {}).map(([name, value]) => `${name}=${value}`);
  const { code, out, error } = await runGit(root, args, {
    ...(options.input === undefined ? {} : { input: options.input }),
    env: { ...ENVIRONMENT, ...(options.index === undefined ? {} : { GIT_INDEX_FILE: options.index }) },
    settings: [...FIXED, ...pinned],
    timeoutMs: TIMEOUT_MS,
  });
  return { code, out, error: error.split('\n')[0] ?? '' };
}

/** Nothing is written, and no stand-in for an object is believed. */
const ENVIRONMENT = { GIT_OPTIONAL_LOCKS: '0', GIT_NO_REPLACE_OBJECTS: '1' };

/** What stands before each zero byte. */
export function records(output: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let from = 0;
  for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, from)) {
    found.push(output.subarray(from, end));
    from = end + 1;
  }
  return found;
}

// What the index of a worktree says of files that a look at the files alone would miss. The answer is remembered for as long as
// the index holds the same bytes.
/** How git marks what stands for a commit of another repository. */
export const LINK = '160000';

/** Paths from the folder that was asked about. */
type Indexed = {
  /** Tracked files that git was told to take for unchanged or for absent. */
  readonly hidden: readonly Buffer[];
  /** What stands for commits of other repositories. */
  readonly links: readonly Buffer[];
  readonly ignoreFiles: readonly Buffer[];
};

const BYTES_MAX = 32 * 1024 * 1024;
const KEPT_MAX = 50;
const known = new Map<string, { readonly digest: string; readonly found: Indexed }>();

export async function indexed(folder: string): Promise<Indexed> {
  const digest = digestOf(ownGitFile(folder, 'index'));
  const earlier = known.get(folder);
  if (digest !== null && earlier?.digest === digest) return earlier.found;
  const all = records(await ask(folder, ['ls-files', '-v', '-s', '-z', '--', '.']));
  const pathIn = (line: Buffer) => line.subarray(line.indexOf(TAB) + 1);
  const found: Indexed = {
    hidden: all.filter((line) => isHidden(line[0] ?? 0)).map(pathIn),
    links: all.filter((line) => line.subarray(2, 2 + LINK.length).equals(LINK_BYTES)).map(pathIn),
    ignoreFiles: all.map(pathIn).filter((path) => isIgnoreFile(path)),
  };
  if (known.size >= KEPT_MAX) known.clear();
  // Another program may have written the index meanwhile.
  if (digest !== null && digestOf(ownGitFile(folder, 'index')) === digest) known.set(folder, { digest, found });
  else known.delete(folder);
  return found;
}

function digestOf(index: string | null): string | null {
  try {
    return index !== null && statSync(index).size <= BYTES_MAX ? hash('sha256', readFileSync(index), 'hex') : null;
  } catch {
    return null; // Nothing was ever added to it.
  }
}

const TAB = 0x09;
const LINK_BYTES = Buffer.from(LINK);

function isIgnoreFile(path: Buffer): boolean {
  return /(?:^|\/)\.gitignore$/.test(path.toString('latin1'));
}

/** A small letter stands before what is assumed unchanged, an S before what is left out of the work tree. */
function isHidden(letter: number): boolean {
  return letter === 83 || (letter >= 97 && letter <= 122);
}
