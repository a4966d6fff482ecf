// Checks what a cast needs of this machine. Each finding says what was found and, where something is missing, how to repair it.
// Nothing is changed.
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { detectAgents } from '../../agents/detect.ts';
import { runGit } from '../../git/run-git.ts';
import { check } from '../../kernel/graph/check.ts';
import { counted } from '../../kernel/text.ts';
import { allow } from '../../kernel/verdict.ts';
import { logFileIn, SqliteLog } from '../../log/sqlite/log.ts';
import { UTILITY_NAMES } from '../../utilities/names.ts';
import { hasTooManyFiles } from '../../workspace/changes.ts';
import { FILES_MAX } from '../../workspace/changes-mark.ts';
import { BUNDLED, loadFor } from '../../workspace/find-config.ts';
import { uncastableIn } from '../../workspace/plan.ts';
import { worktreesFolder } from '../../workspace/worktree/record.ts';
import { userLimits } from '../driving/user-limits.ts';
import type { Run } from '../operation.ts';
import {
  agentFindings,
  error,
  type Finding,
  ok,
  runnerFindings,
  runnersIn,
  signedInRunnersIn,
  warning,
} from '../runner-findings.ts';
import { hasLog } from '../state-folder.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf } from './table.ts';

const NODE_MIN = 24;
const MIB = 1_048_576;
const FREE_WARN_BYTES = 1024 * MIB;
const FREE_MIN_BYTES = 100 * MIB;
/** As far as the clocks of two machines that share a folder may differ. */
const SKEW_MS_MAX = 60_000;
const SANE_YEAR = 2026;

export const run: Run<FieldsOf<'doctor'>> = async (workspace) => {
  const findings = await findingsIn(workspace, workspace.env, Date.now());
  const errors = findings.filter(({ level }) => level === 'error').length;
  const reason = errors === 0 ? 'nothing is missing' : `${counted(errors, 'thing')} to repair before a cast`;
  return allow(reason, { ok: errors === 0, findings: findings.map((finding) => ({ ...finding })) });
};

async function findingsIn(workspace: Workspace, env: NodeJS.ProcessEnv, now: number): Promise<readonly Finding[]> {
  const { finding: config, runners, signedIn, missing } = configFinding(workspace, env);
  return [
    nodeFinding(process.versions.node),
    await gitFinding(workspace, env),
    ...(await sizeFindings(workspace)),
    config,
    ...limitsFindings(env),
    ...agentFindings(await detectAgents(env), runners, signedIn),
    ...missing,
    diskFinding(workspace),
    stateFinding(workspace),
    worktreesFinding(workspace, env),
    await clockFinding(workspace, now),
  ];
}

export function nodeFinding(version: string): Finding {
  if (Number(version.split('.')[0]) >= NODE_MIN) return ok('node', version);
  return error(
    'node',
    version,
    `install Node ${NODE_MIN} or newer, or run npm install in the checkout, which brings one`,
  );
}

async function gitFinding({ dir }: Workspace, env: NodeJS.ProcessEnv): Promise<Finding> {
  const ask = async (...args: string[]) => {
    const { code, out } = await runGit(dir, args, { env: env as Record<string, string> });
    return code === 0 ? out.toString('utf8').trim() : null;
  };
  const version = (await ask('--version'))?.replace('git version ', '');
  if (version === undefined) {
    return warning('git', 'not found', 'install git: without it changes are noted, and cannot be compared or undone');
  }
  if ((await ask('rev-parse', '--git-dir')) === null) {
    return warning(
      'git',
      `${version}; ${dir} is no repository`,
      `run git init in ${dir}, so that what agents change can be seen`,
    );
  }
  if ((await ask('var', 'GIT_COMMITTER_IDENT')) !== null) return ok('git', version);
  const fix = 'tell git who you are: git config --global user.name and user.email';
  return warning('git', `${version}; it does not know who commits`, fix);
}

/** A folder in which nobody can tell what changes is worth a word before a cast; any other is not. */
async function sizeFindings({ dir, stateDir }: Workspace): Promise<readonly Finding[]> {
  // What git cannot tell is told where git is looked at.
  const isTooLarge = await hasTooManyFiles(dir, ['.baton/state', relative(dir, stateDir)]).catch(() => false);
  if (!isTooLarge) return [];
  const found = `${dir} has more than ${FILES_MAX} files to look at: what changes is not noted, and no agent that writes can work in it`;
  const fix = `make it a git repository (git init) and commit what is worked on, or let git ignore what is not: then only what differs is looked at`;
  return [warning('files', found, fix)];
}

type Configured = {
  readonly finding: Finding;
  readonly runners: readonly string[];
  /** Those of them for which somebody has to be signed in. */
  readonly signedIn: readonly string[];
  /** What its runners lack. */
  readonly missing: readonly Finding[];
};

function configFinding(workspace: Workspace, env: NodeJS.ProcessEnv): Configured {
  try {
    const loaded = loadFor({ file: undefined, workspace, cwd: workspace.dir, loadout: undefined });
    const issues = [
      ...loaded.issues,
      ...check(loaded.config, { utilities: UTILITY_NAMES }),
      ...uncastableIn(loaded.config),
    ];
    const errors = issues.filter(({ level }) => level === 'error');
    const where = loaded.file === BUNDLED ? 'the one that comes with baton' : loaded.file;
    const [runners, signedIn] = [runnersIn(loaded.config), signedInRunnersIn(loaded.config)];
    const missing = runnerFindings(loaded.config, workspace, env);
    const [first] = errors;
    if (first) {
      const found = `${counted(errors.length, 'error')} in ${where}; first: ${first.path}: ${first.message}`;
      return {
        finding: error('configuration', found, 'baton check lists them all, each with a way out'),
        runners,
        signedIn,
        missing,
      };
    }
    const fix = loaded.file === BUNDLED ? 'baton init makes one of your own' : null;
    return { finding: { name: 'configuration', level: 'ok', found: where, fix }, runners, signedIn, missing };
  } catch (cause) {
    const finding = error(
      'configuration',
      (cause as Error).message,
      `correct ${workspace.configFile}, or replace it with baton init --force`,
    );
    return { finding, runners: [], signedIn: [], missing: [] };
  }
}

/** The user's own limits hold for every cast, so a mistake in them stops every cast. Who has written none needs none. */
function limitsFindings(env: NodeJS.ProcessEnv): Finding[] {
  try {
    const { file, isThere, limits } = userLimits(env);
    const named = limits.size === 0 ? 'no runner is limited' : `limits ${[...limits.keys()].join(', ')}`;
    return isThere ? [ok('limits', `${file}: ${named}`)] : [];
  } catch (cause) {
    return [error('limits', (cause as Error).message, 'correct that file or move it away: no cast starts before')];
  }
}

function diskFinding({ stateDir }: Workspace): Finding {
  const at = nearestFolder(stateDir);
  const { bavail, bsize } = statfsSync(at);
  const free = bavail * bsize;
  const found = `${Math.floor(free / MIB)} MiB free at ${at}`;
  const fix = 'free some space, or point BATON_HOME to another disk';
  if (free < FREE_MIN_BYTES) return error('disk', found, fix);
  return free < FREE_WARN_BYTES ? warning('disk', found, fix) : ok('disk', found);
}

function stateFinding(workspace: Workspace): Finding {
  const { stateDir } = workspace;
  try {
    const isThere = hasLog(workspace);
    accessSync(nearestFolder(stateDir), constants.W_OK);
    return ok('state', isThere ? stateDir : `${stateDir} (no cast yet)`);
  } catch (cause) {
    const fix = `make ${stateDir} writable for you, or point BATON_HOME elsewhere`;
    return error('state', (cause as Error).message, fix);
  }
}

/** Casts that change files of a git repository work there. */
function worktreesFinding(workspace: Workspace, env: NodeJS.ProcessEnv): Finding {
  const folder = worktreesFolder(workspace, env);
  try {
    accessSync(nearestFolder(folder), constants.W_OK);
    return ok('worktrees', folder);
  } catch (cause) {
    const fix = 'make it writable for you, or point XDG_STATE_HOME or BATON_HOME elsewhere; --in-place needs none';
    return warning('worktrees', (cause as Error).message, fix);
  }
}

function nearestFolder(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

/** The log's own times never go back, so a clock that was set back makes everything look as if it took no time. */
async function clockFinding(workspace: Workspace, now: number): Promise<Finding> {
  const time = new Date(now).toISOString();
  const fix = 'set the clock of the machine, best by the network (timedatectl set-ntp true)';
  if (new Date(now).getUTCFullYear() < SANE_YEAR) return error('clock', time, fix);
  try {
    if (!hasLog(workspace)) return ok('clock', time);
    const log = new SqliteLog(logFileIn(workspace.stateDir));
    try {
      const { seq } = await log.head();
      const [last] = await log.read({ after: Math.max(0, seq - 1), limit: 1 });
      if (!last || Date.parse(last.at) - now <= SKEW_MS_MAX) return ok('clock', time);
      return error('clock', `${time}, but the log was written at ${last.at}`, fix);
    } finally {
      await log.close();
    }
  } catch (cause) {
    return error('log', (cause as Error).message, `restore ${logFileIn(workspace.stateDir)} from a copy`);
  }
}
