// Findings about this machine, each with its repair; and the checks of what every cast needs of the machine and the folder: Node, git,
// space, folders that may be written, a sound clock.

import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { runGit } from '../../git/run-git.ts';
import type { Code } from '../../kernel/codes.ts';
import type { AgentMateria, Issue } from '../../kernel/graph/config.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { logFileIn } from '../../log/sqlite/open.ts';
import { hasTooManyFiles } from '../../workspace/changes.ts';
import { FILES_MAX } from '../../workspace/changes-mark.ts';
import { worktreesFolder } from '../../workspace/worktree/record.ts';
import { withLogIn } from '../store.ts';
import { hasLog, type Workspace } from '../workspace.ts';

export type MachineFinding = {
  readonly name: string;
  /** An error keeps a cast from starting. A warning is shown: it may go well. */
  readonly level: 'ok' | 'warning' | 'error';
  readonly found: string;
  /** What to do about it; null where nothing is to be done. */
  readonly fix: string | null;
  /** The code of a cast that is refused for it. */
  readonly code?: Code;
};

export const okFinding = (name: string, found: string): MachineFinding => ({ name, level: 'ok', found, fix: null });
export const warningFinding = (name: string, found: string, fix: string): MachineFinding => ({
  name,
  level: 'warning',
  found,
  fix,
});
export const errorFinding = (name: string, found: string, fix: string, code?: Code): MachineFinding => ({
  ...{ name, level: 'error', found, fix },
  ...(code === undefined ? {} : { code }),
});

/** The same as an issue of a cast, so that scripts read one shape. */
export function issueOf({ name, level, found, fix, code = 'PREFLIGHT_FAILED' }: MachineFinding): Issue {
  const path = `machine.${name}`;
  return { code, level: level === 'error' ? 'error' : 'warning', path, message: findingText({ found, fix }) };
}

export function findingText({ found, fix }: Pick<MachineFinding, 'found' | 'fix'>): string {
  return fix === null ? found : `${found}; ${fix}`;
}

/** What is going to run: the agents and commands of one cast, or of all loadouts of a configuration. */
export type Needs = {
  readonly agents: readonly AgentMateria[];
  readonly commands: readonly { readonly id: string; readonly command: readonly string[] }[];
  readonly checkers: JsonObject;
  /** The names of those that run during a cast. */
  readonly checks: readonly string[];
  /** A worktree is set up by commands first. */
  readonly isSetUp: boolean;
  /** The cast works in a worktree where git can make one. */
  readonly isApart: boolean;
};

export type PreflightContext = {
  readonly workspace: Workspace;
  readonly needs: Needs;
  readonly now: number;
  /** Everything is looked at, also what takes long or keeps no cast from starting. */
  readonly isDoctor: boolean;
  /** Runners that have answered a question just now. */
  readonly proved: ReadonlySet<string>;
  /** For tests: the free space at a folder. */
  readonly freeBytes?: (folder: string) => number;
};

const NODE_MIN = 24;
const MIB = 1_048_576;
const FREE_WARN_BYTES = 1024 * MIB;
const FREE_MIN_BYTES = 100 * MIB;
/** As far as the clocks of two machines that share a folder may differ. */
const SKEW_MS_MAX = 60_000;
const SANE_YEAR = 2026;

export function nodeFinding(version: string): MachineFinding {
  if (Number(version.split('.')[0]) >= NODE_MIN) return okFinding('node', version);
  const fix = `install Node ${NODE_MIN} or newer, or run npm install in the checkout, which brings one`;
  return errorFinding('node', version, fix);
}

export async function gitFinding({ workspace: { dir, env } }: PreflightContext): Promise<MachineFinding> {
  const ask = async (...args: string[]) => {
    const { code, out, error } = await runGit(dir, args, { env: env as Record<string, string> });
    return { isFine: code === 0, out: out.toString('utf8').trim(), error };
  };
  const answer = await ask('--version');
  if (!answer.isFine) {
    return warningFinding(
      'git',
      'not found',
      'install git: without it a cast works in the folder itself, and nothing is merged',
    );
  }
  const version = answer.out.replace('git version ', '');
  const folder = await ask('rev-parse', '--git-dir');
  if (!folder.isFine) {
    const own = whyNoRepository(folder.error, dir);
    if (own !== null) return warningFinding('git', `${version}; ${own.why}`, own.fix);
    const fix = `run git init in ${dir} and commit, so that a cast gets a folder of its own to work in`;
    return warningFinding('git', `${version}; ${dir} is no repository`, fix);
  }
  if ((await ask('var', 'GIT_COMMITTER_IDENT')).isFine) return okFinding('git', version);
  const fix = 'tell git who you are: git config --global user.name and user.email';
  return warningFinding('git', `${version}; it does not know who commits`, fix);
}

/** Git's own reason where it refuses a folder that is a repository; null where there simply is none. */
export function whyNoRepository(said: string, dir: string): { readonly why: string; readonly fix: string } | null {
  const [first = ''] = said.split('\n');
  if (first === '' || first.includes('not a git repository')) return null;
  const why = first.replace(/^fatal: /, '');
  const own = said.split('\n').find((line) => line.trim().startsWith('git config '));
  if (own !== undefined) return { why, fix: `if you trust it: ${own.trim()}` };
  return { why, fix: `see what \`git -C ${dir} status\` says` };
}

/** Warns of a folder with too many files to see what changes. */
export async function sizeFindings({
  workspace: { dir, stateDir },
}: PreflightContext): Promise<readonly MachineFinding[]> {
  // Other checks of git report what git itself cannot say.
  const isTooLarge = await hasTooManyFiles(dir, ['.baton/state', relative(dir, stateDir)]).catch(() => false);
  if (!isTooLarge) return [];
  const found = `${dir} has more than ${FILES_MAX} files to look at: what changes is not noted, and no agent that writes can work in it`;
  const fix = `make it a git repository (git init) and commit what is worked on, or let git ignore what is not: then only what differs is looked at`;
  return [warningFinding('files', found, fix)];
}

/** The user's own limits hold for every cast, so a mistake in them stops every cast. Who has written none needs none. */
export async function limitsFindings({ workspace: { env } }: PreflightContext): Promise<readonly MachineFinding[]> {
  const { userLimits } = await import('../driving/layered-runners.ts');
  try {
    const { file, isThere, limits } = userLimits(env);
    const named = limits.size === 0 ? 'no runner is limited' : `limits ${[...limits.keys()].join(', ')}`;
    return isThere ? [okFinding('limits', `${file}: ${named}`)] : [];
  } catch (cause) {
    return [
      errorFinding('limits', (cause as Error).message, 'correct that file or move it away: no cast starts before'),
    ];
  }
}

export function diskFinding({ workspace: { stateDir }, freeBytes }: PreflightContext): MachineFinding {
  const at = nearestFolder(stateDir);
  const free = freeBytes?.(at) ?? freeAt(at);
  const found = Number.isFinite(free) ? `${sizeText(free)} free at ${at}` : at;
  const fix = 'free some space, or point BATON_HOME to another disk';
  if (free < FREE_MIN_BYTES) return errorFinding('disk', found, fix);
  return free < FREE_WARN_BYTES ? warningFinding('disk', found, fix) : okFinding('disk', found);
}

/** `71 GB`, or `84 MB` where there is less than one. */
function sizeText(bytes: number): string {
  return bytes < 1024 * MIB ? `${Math.floor(bytes / MIB)} MB` : `${Math.floor(bytes / MIB / 1024)} GB`;
}

function freeAt(folder: string): number {
  const { bavail, bsize, blocks } = statfsSync(folder);
  // A file system of the kernel's own has no blocks: whether it can be written is found out by writing.
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}

/** Where the log is, or will be. */
export function stateFinding({ workspace }: PreflightContext): MachineFinding {
  const { stateDir } = workspace;
  const fix = `make ${stateDir} writable for you, or point BATON_HOME elsewhere`;
  try {
    const isThere = hasLog(workspace);
    const why = whyNotWritable(nearestFolder(stateDir)) ?? (isThere ? whyNotWritable(logFileIn(stateDir)) : null);
    if (why !== null) return errorFinding('state', why, fix);
    return okFinding('state', isThere ? stateDir : `${stateDir} (no cast yet)`);
  } catch (cause) {
    // A state folder that may not be looked into says itself what to do.
    const [found = '', own = fix] = (cause as Error).message.split('; ');
    return errorFinding('state', found, own);
  }
}

/** Casts that change files of a git repository work there. */
export function worktreesFinding({ workspace, isDoctor }: PreflightContext): MachineFinding {
  const folder = worktreesFolder(workspace, workspace.env);
  const why = whyNotWritable(nearestFolder(folder));
  if (why === null) return okFinding('worktrees', folder);
  const fix = 'make it writable for you, or point XDG_STATE_HOME or BATON_HOME elsewhere; --in-place needs none';
  return (isDoctor ? warningFinding : errorFinding)('worktrees', why, fix);
}

function whyNotWritable(path: string): string | null {
  try {
    accessSync(path, constants.W_OK);
    return null;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return code === 'EROFS' ? `${path} is on a read-only medium` : `you may not write to ${path} (${code})`;
  }
}

function nearestFolder(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

/** The log's own times never go back, so a clock that was set back makes everything look as if it took no time. */
export async function clockFinding(start: PreflightContext): Promise<MachineFinding> {
  const { workspace, now } = start;
  const time = new Date(now).toISOString();
  const fix = 'set the clock of the machine, best by the network (timedatectl set-ntp true)';
  if (new Date(now).getUTCFullYear() < SANE_YEAR) return errorFinding('clock', time, fix);
  // A log that may not be opened is a finding about the state.
  if (stateFinding(start).level !== 'ok' || !hasLog(workspace)) return okFinding('clock', time);
  try {
    const [last] = await withLogIn(workspace.stateDir, async (log) => {
      const { seq } = await log.head();
      return log.read({ after: Math.max(0, seq - 1), limit: 1 });
    });
    if (!last || Date.parse(last.at) - now <= SKEW_MS_MAX) return okFinding('clock', time);
    return errorFinding('clock', `${time}, but the log was written at ${last.at}`, fix);
  } catch (cause) {
    return errorFinding('log', (cause as Error).message, `restore ${logFileIn(workspace.stateDir)} from a copy`);
  }
}
