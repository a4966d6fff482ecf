// Where a workspace is: its project directory, its `.baton` folder, and the folder that holds its state.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

export type Workspace = {
  /** The project directory, absolute and without links. */
  readonly dir: string;
  readonly configFile: string;
  readonly stateDir: string;
};

/** The folder, in a workspace's state, that holds the worktrees of its casts, each with its record beside it. */
export const WORKTREES = 'worktrees';

/** The workspace at `dir`, or, without one, that of the current directory or of the nearest one above that has `.baton`. */
export function locate(dir: string | undefined, env: NodeJS.ProcessEnv, cwd: string): Workspace | null {
  const start = resolve(cwd, dir ?? '.');
  if (!existsSync(start) || !statSync(start).isDirectory()) return null;
  const main = mainOf(start);
  if (main) return main;
  const project = realpathSync(dir === undefined ? nearest(start, env) : start);
  return { dir: project, configFile: join(project, '.baton', 'config.json'), stateDir: stateDirOf(project, env) };
}

/** The workspace whose cast works in the worktree that `start` lies in, or null. */
function mainOf(start: string): Workspace | null {
  for (let at = start; dirname(at) !== at; at = dirname(at)) {
    if (basename(dirname(at)) !== WORKTREES) continue;
    const dir = workspaceIn(`${at}.json`);
    if (dir === null || !existsSync(dir)) continue;
    // The record lies in the state folder, wherever that is.
    const stateDir = realpathSync(dirname(dirname(at)));
    return { dir, configFile: join(dir, '.baton', 'config.json'), stateDir };
  }
  return null;
}

function workspaceIn(file: string): string | null {
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown; workspace?: unknown } | null;
    return record?.version === 1 && typeof record.workspace === 'string' ? record.workspace : null;
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
 * `BATON_HOME` holds one folder per workspace, named for people and told apart by the path. A workspace whose own state
 * folder it names stays there: so it is with what a cast of that workspace has started.
 */
function stateDirOf(project: string, env: NodeJS.ProcessEnv): string {
  const own = join(project, '.baton', 'state');
  if (!env.BATON_HOME || resolve(env.BATON_HOME) === own) return own;
  // Loaded where it is needed only: it takes as long to load as the rest of a short command.
  const { hash } = process.getBuiltinModule('node:crypto');
  return join(resolve(env.BATON_HOME), `${basename(project) || 'root'}-${hash('sha256', project, 'hex').slice(0, 8)}`);
}
