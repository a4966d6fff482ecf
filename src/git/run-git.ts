// The one place that runs git: without a shell, hooks, watcher, pager or signatures, and without variables that could point git to
// another repository, index or setting. Commands from the repository's configuration (filters, merge drivers) run only if a
// person trusted that configuration in its present state.
import { execFile } from 'node:child_process';
import { isConfigTrusted } from './folder-trust.ts';
import { gitFoldersOf, localConfigOf } from './repository-files.ts';

type GitResult = {
  /** Null if git could not start or did not end in time. */
  readonly code: number | null;
  readonly out: Buffer;
  /** Its standard error, or why it did not run. */
  readonly error: string;
  readonly isMissing: boolean;
};

export type RunGit = {
  readonly input?: string | Buffer;
  /** Variables for git, such as the index. */
  readonly env?: Readonly<Record<string, string>>;
  /** More settings, each `name=value`. */
  readonly settings?: readonly string[];
  readonly timeoutMs?: number;
};

const OUTPUT_BYTES_MAX = 512 * 1024 * 1024;
const TIMEOUT_MS = 600_000;

const SETTINGS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.quotePath=false',
  'commit.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
];

export async function runGit(folder: string, args: readonly string[], options: RunGit = {}): Promise<GitResult> {
  const { input, env = {}, settings = [], timeoutMs = TIMEOUT_MS } = options;
  return start(folder, [...(await gitArguments(folder)), ...asArguments(settings), ...args], { input, env, timeoutMs });
}

/** The arguments before the command, for every call of git in this folder. */
export async function gitArguments(folder: string): Promise<readonly string[]> {
  return asArguments([...SETTINGS, ...(await driversOff(folder))]);
}

export function gitEnvironment(): Record<string, string> {
  const own = Object.entries(process.env).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && !pair[0].startsWith('GIT_'),
  );
  return { ...Object.fromEntries(own), GIT_TERMINAL_PROMPT: '0', GIT_PAGER: 'cat', LC_ALL: 'C' };
}

/** Commands in the repository's configuration that no person has trusted in their present state. */
export async function untrustedDrivers(folder: string): Promise<readonly string[]> {
  const folders = gitFoldersOf(folder);
  if (!folders) return [];
  const { digest, mayHaveDrivers } = localConfigOf(folders);
  if (!mayHaveDrivers || isConfigTrusted(folders.common, digest, process.env)) return [];
  const found = await Promise.all(['--local', '--worktree'].map((scope) => driversIn(folder, scope)));
  return [...new Set(found.flat())];
}

const DRIVERS =
  '^(filter\\..*\\.(clean|smudge|process)|merge\\..*\\.driver|diff\\..*\\.(textconv|command)|diff\\.external)$';

async function driversIn(folder: string, scope: string): Promise<readonly string[]> {
  const args = ['config', scope, '--includes', '--name-only', '-z', '--get-regexp', DRIVERS];
  const { out } = await start(folder, args, { input: undefined, env: {}, timeoutMs: TIMEOUT_MS });
  return out
    .toString('utf8')
    .split('\0')
    .filter((name) => name !== '');
}

/** An empty filter changes nothing. A failing merge driver gives a conflict for a person. */
async function driversOff(folder: string): Promise<readonly string[]> {
  return (await untrustedDrivers(folder)).flatMap((name) => {
    if (name.startsWith('merge.')) return [`${name}=false`];
    if (!name.startsWith('filter.')) return []; // Our diffs use `--no-ext-diff` and `--no-textconv`.
    return [`${name}=`, `${name.slice(0, name.lastIndexOf('.'))}.required=false`];
  });
}

type Start = Required<Pick<RunGit, 'env' | 'timeoutMs'>> & { readonly input: RunGit['input'] };

function start(cwd: string, args: readonly string[], { input, env, timeoutMs }: Start): Promise<GitResult> {
  const limits = { encoding: 'buffer', maxBuffer: OUTPUT_BYTES_MAX, timeout: timeoutMs } as const;
  return new Promise((answer) => {
    const child = execFile(
      'git',
      args,
      { cwd, env: { ...gitEnvironment(), ...env }, ...limits },
      (fault, out, said) => {
        const code = fault === null ? 0 : typeof fault.code === 'number' ? fault.code : null;
        const error = said.toString('utf8').trim() || (fault?.message ?? '');
        answer({ code, out, error, isMissing: fault?.code === 'ENOENT' });
      },
    );
    child.stdin?.on('error', () => undefined); // Git may answer without reading all input.
    child.stdin?.end(input ?? '');
  });
}

function asArguments(settings: readonly string[]): readonly string[] {
  return settings.flatMap((setting) => ['-c', setting]);
}
