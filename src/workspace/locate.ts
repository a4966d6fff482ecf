// Where a workspace is: its project directory, its `.baton` folder, and the folder that holds its state. With it the error for a
// request that cannot be understood, and the ids of casts.

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Code } from '../kernel/codes.ts';
import type { JsonObject } from '../kernel/json.ts';

export type LocatedWorkspace = {
  /** The project directory, absolute and without links. */
  readonly dir: string;
  readonly configFile: string;
  readonly stateDir: string;
  /** Leads to the user's own folder; that of the process without it. */
  readonly env?: NodeJS.ProcessEnv;
};

/** The folder in a workspace's state that holds the records of its casts' worktrees, and the folder that holds the worktrees. */
export const WORKTREES = 'worktrees';

/** In git's own folder of a worktree: the workspace that the worktree belongs to. */
const WORKSPACE_LINK = 'baton.json';

/** The workspace at `dir`, or, without one, that of the current directory or of the nearest one above that has `.baton`. */
export function locate(dir: string | undefined, env: NodeJS.ProcessEnv, cwd: string): LocatedWorkspace | null {
  const start = resolve(cwd, dir ?? '.');
  if (!existsSync(start) || !statSync(start).isDirectory()) return null;
  const main = mainOf(start);
  if (main) return { ...main, env };
  const project = realpathSync(dir === undefined ? nearest(start, env) : start);
  return { dir: project, configFile: join(project, '.baton', 'config.json'), stateDir: stateDirOf(project, env), env };
}

/** The workspace whose cast works in the worktree that `start` lies in, or null. */
function mainOf(start: string): LocatedWorkspace | null {
  for (let at = start; dirname(at) !== at; at = dirname(at)) {
    const found = linkedWorkspace(at) ?? workspaceBeside(at);
    if (found === null || !existsSync(found.dir)) continue;
    return { ...found, configFile: join(found.dir, '.baton', 'config.json') };
  }
  return null;
}

type Found = Pick<LocatedWorkspace, 'dir' | 'stateDir'>;

/** The workspace that is noted in git's own folder of a worktree. */
function linkedWorkspace(folder: string): Found | null {
  const gitDir = gitDirOf(folder);
  const link = gitDir === null ? null : readLink(join(gitDir, WORKSPACE_LINK));
  return link && typeof link.stateDir === 'string' ? { dir: link.workspace, stateDir: link.stateDir } : null;
}

/** Worktrees of earlier versions lie in the state folder, with their record next to them. */
function workspaceBeside(folder: string): Found | null {
  if (basename(dirname(folder)) !== WORKTREES) return null;
  const record = readLink(`${folder}.json`);
  return record && { dir: record.workspace, stateDir: realpathSync(dirname(dirname(folder))) };
}

/**
 * Notes in git's own folder of a worktree which workspace it belongs to. It goes away with the worktree. Answers the file and
 * its text.
 */
export function linkWorkspace(folder: string, { dir, stateDir }: Pick<LocatedWorkspace, 'dir' | 'stateDir'>) {
  const gitDir = gitDirOf(folder);
  if (gitDir === null) return null;
  const file = join(gitDir, WORKSPACE_LINK);
  const text = `${JSON.stringify({ version: 1, workspace: dir, stateDir })}\n`;
  writeFileSync(file, text, { mode: 0o600 });
  return { file, text };
}

/** Git's own folder of a worktree, which a file `.git` names; null where there is no such file. */
function gitDirOf(folder: string): string | null {
  try {
    const file = join(folder, '.git');
    const [, path] = (statSync(file).isFile() && /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8'))) || [];
    return path === undefined ? null : resolve(folder, path);
  } catch {
    return null;
  }
}

function readLink(file: string): { readonly workspace: string; readonly stateDir?: unknown } | null {
  try {
    const link = JSON.parse(readFileSync(file, 'utf8')) as {
      version?: unknown;
      workspace?: unknown;
      stateDir?: unknown;
    } | null;
    if (link?.version !== 1 || typeof link.workspace !== 'string') return null;
    return { workspace: link.workspace, stateDir: link.stateDir };
  } catch {
    return null;
  }
}

/** A folder that only holds the state of other workspaces makes no project of the one above it. */
function nearest(start: string, env: NodeJS.ProcessEnv): string {
  const home = env.BATON_HOME ? resolve(env.BATON_HOME) : null;
  for (let at = start; ; at = dirname(at)) {
    const folder = join(at, '.baton');
    if (folder !== home && existsSync(folder)) return at;
    if (dirname(at) === at) return start;
  }
}

/**
 * `BATON_HOME` holds one folder per workspace, named for people and made unique by the path. A workspace whose own state
 * folder it names stays there: so it is with what a cast of that workspace has started.
 */
function stateDirOf(project: string, env: NodeJS.ProcessEnv): string {
  const own = join(project, '.baton', 'state');
  if (!env.BATON_HOME || resolve(env.BATON_HOME) === own) return own;
  return join(resolve(env.BATON_HOME), workspaceName(project));
}

/** The name of a workspace's folder among those of others: readable, and unique by the path. */
export function workspaceName(project: string): string {
  // Loaded where it is needed only: it takes as long to load as the rest of a short command.
  const { hash } = process.getBuiltinModule('node:crypto');
  return `${basename(project) || 'root'}-${hash('sha256', project, 'hex').slice(0, 8)}`;
}

// Something a person asked for cannot be done as it was asked: a wrong option, a name that means nothing, a file that
// cannot be read. One line says what is wrong and how to correct it.
export class UsageError extends Error {
  readonly code: Code;
  readonly details: JsonObject;
  constructor(message: string, code: Code = 'BAD_USAGE', details: JsonObject = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

// Cast ids sort by time, are safe in file and branch names, and differ even when made in the same second.
export function newCastId(now: number): string {
  const stamp = new Date(now).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `${stamp}-${randomBytes(3).toString('hex')}`;
}
