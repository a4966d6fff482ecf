// The one place that runs git: without a shell, hooks, watcher, pager or signatures, and without variables that could point git to
// another repository, index or setting. Commands from the configuration of a repository and its submodules (filters, merge drivers,
// programs that fetch missing objects) run only if a person trusted that configuration in its present state.
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { isConfigTrusted } from './folder-trust.ts';
import { gitFoldersOf, type LocalConfig, localConfigOf, mayHaveSubmodules } from './repository-files.ts';

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
  // Files that look like a bare repository are no repository with a configuration.
  'safe.bareRepository=explicit',
];

export async function runGit(folder: string, args: readonly string[], options: RunGit = {}): Promise<GitResult> {
  const { input, env = {}, settings = [], timeoutMs = TIMEOUT_MS } = options;
  const given = [...(await gitArguments(folder)), ...asArguments(settings), ...args];
  return start(folder, given, { input, env: { ...gitEnvironment(folder), ...env }, timeoutMs });
}

/** The arguments before the command, for every call of git in this folder. */
export async function gitArguments(folder: string): Promise<readonly string[]> {
  return asArguments([...SETTINGS, ...(await driversOff(folder))]);
}

export function gitEnvironment(folder: string): Record<string, string> {
  const own = Object.entries(process.env).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && !pair[0].startsWith('GIT_'),
  );
  // Git fetches missing objects by programs that the configuration names. An empty list allows no transport.
  const isFetching = untrustedConfig(folder)?.mayFetchMissing ?? false;
  const network = isFetching ? { GIT_ALLOW_PROTOCOL: '' } : {};
  return { ...Object.fromEntries(own), ...network, GIT_TERMINAL_PROMPT: '0', GIT_PAGER: 'cat', LC_ALL: 'C' };
}

/** Null without a repository, and where a person trusted its configuration in its present state. */
function untrustedConfig(folder: string): LocalConfig | null {
  const folders = gitFoldersOf(folder);
  if (!folders) return null;
  const config = localConfigOf(folders);
  if (!config.mayHaveDrivers && !config.mayFetchMissing) return null;
  return isConfigTrusted(folders.common, config.digest, process.env) ? null : config;
}

/** Whether `trust` would let more commands run, or git fetch. */
export async function hasUntrustedCommands(folder: string): Promise<boolean> {
  return (untrustedConfig(folder)?.mayFetchMissing ?? false) || (await untrustedDrivers(folder)).length > 0;
}

/** Commands in the repository's configuration that no person has trusted in their present state. */
export async function untrustedDrivers(folder: string): Promise<readonly string[]> {
  return untrustedConfig(folder)?.mayHaveDrivers ? [...(await driversOf(folder)).keys()] : [];
}

const DRIVERS =
  '^(filter\\..*\\.(clean|smudge|process)|merge\\..*\\.driver|diff\\..*\\.(textconv|command)|diff\\.external)$';

/** Each driver in the configuration of the repository itself, with its command. */
async function driversOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const scopes = ['--local', '--worktree'].map((scope) => readConfig(folder, scope, '--includes'));
  return new Map((await Promise.all(scopes)).flat());
}

async function readConfig(folder: string, ...options: readonly string[]): Promise<(readonly [string, string])[]> {
  const found = await start(folder, ['config', ...options, '-z', '--get-regexp', DRIVERS], quietly(folder));
  return entries(found.out).map((line) => {
    const [name = '', ...value] = line.split('\n');
    return [name, value.join('\n')] as const;
  });
}

/** An empty filter changes nothing. A failing merge driver gives a conflict for a person. */
async function driversOff(folder: string): Promise<readonly string[]> {
  const off = [...(await untrustedDrivers(folder)), ...(await driversOfSubmodules(folder))];
  return [...new Set(off)].flatMap((name) => {
    if (name.startsWith('merge.')) return [`${name}=false`];
    if (!name.startsWith('filter.')) return []; // Our diffs use `--no-ext-diff` and `--no-textconv`.
    return [`${name}=`, `${name.slice(0, name.lastIndexOf('.'))}.required=false`];
  });
}

/**
 * Git enters submodules to see whether they changed, and follows their configuration there. Nobody trusts that one by itself, so it
 * adds no command to those that run in the repository anyway.
 */
async function driversOfSubmodules(folder: string): Promise<readonly string[]> {
  const submodules = await submodulesOf(folder);
  if (submodules.length === 0) return [];
  const known = new Map(await readConfig(folder));
  const drivers = await Promise.all(submodules.map(driversOf));
  return drivers.flatMap((each) => [...each].flatMap(([name, line]) => (known.get(name) === line ? [] : [name])));
}

/** The folders of all submodules that are checked out, with theirs, whose configuration may name drivers. */
async function submodulesOf(folder: string): Promise<readonly string[]> {
  const folders = gitFoldersOf(folder);
  if (!folders || !mayHaveSubmodules(folders)) return [];
  const top = dirname(folders.entry);
  const { out } = await start(top, [...asArguments(SETTINGS), 'ls-files', '-s', '-z'], quietly(top));
  const links = entries(out).filter((line) => line.startsWith('160000 '));
  const paths = [...new Set(links.map((line) => join(top, line.slice(line.indexOf('\t') + 1))))];
  const open = paths.flatMap((path) => {
    const own = gitFoldersOf(path);
    return own?.entry === join(path, '.git') ? [{ path, mayHaveDrivers: localConfigOf(own).mayHaveDrivers }] : [];
  });
  const below = await Promise.all(open.map(({ path }) => submodulesOf(path)));
  return [...open.flatMap(({ path, mayHaveDrivers }) => (mayHaveDrivers ? [path] : [])), ...below.flat()];
}

function entries(out: Buffer): readonly string[] {
  return out
    .toString('utf8')
    .split('\0')
    .filter((one) => one !== '');
}

function quietly(folder: string): Start {
  return { input: undefined, env: gitEnvironment(folder), timeoutMs: TIMEOUT_MS };
}

/** The failure of git, and what a person can do where it may not fetch missing objects. */
export function whyFailed(error: string, env: Readonly<Record<string, string>>): string {
  if (env.GIT_ALLOW_PROTOCOL !== '' || !/transport '.*' not allowed/.test(error)) return error;
  return `${error}\nObjects are missing, and git fetches them only in a folder that a person trusts: look at .git/config, then say \`baton trust\` there`;
}

type Start = Required<Pick<RunGit, 'env' | 'timeoutMs'>> & { readonly input: RunGit['input'] };

function start(cwd: string, args: readonly string[], { input, env, timeoutMs }: Start): Promise<GitResult> {
  const limits = { encoding: 'buffer', maxBuffer: OUTPUT_BYTES_MAX, timeout: timeoutMs } as const;
  return new Promise((answer) => {
    const child = execFile('git', args, { cwd, env, ...limits }, (fault, out, said) => {
      const code = fault === null ? 0 : typeof fault.code === 'number' ? fault.code : null;
      const error = said.toString('utf8').trim() || (fault?.message ?? '');
      answer({ code, out, error: whyFailed(error, env), isMissing: fault?.code === 'ENOENT' });
    });
    child.stdin?.on('error', () => undefined); // Git may answer without reading all input.
    child.stdin?.end(input ?? '');
  });
}

function asArguments(settings: readonly string[]): readonly string[] {
  return settings.flatMap((setting) => ['-c', setting]);
}
