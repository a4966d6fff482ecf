// Where worktrees lie: outside the project, so that no relative path leads from one into the user's checkout. The record of a
// worktree says where it was made; the place that is computed here is for new ones only.
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { realPlace } from '../../shell/real-place.ts';
import { WORKTREES, type Workspace, workspaceName } from '../locate.ts';

type Owner = Pick<Workspace, 'dir' | 'stateDir'>;

/** The folder for new worktrees of the workspace. Programs in one are told of it without links, so it has none. */
export function worktreesFolder(workspace: Owner, env: NodeJS.ProcessEnv, platform = process.platform): string {
  return realPlace(join(homeOf(workspace, env, platform), WORKTREES, workspaceName(workspace.dir)));
}

/** Whether a path has the form of a worktree's place, so that a changed record leads nobody to another folder. */
export function isWorktreePlace(folder: string, name: string): boolean {
  const above = dirname(folder);
  return (
    isAbsolute(folder) &&
    resolve(folder) === folder &&
    basename(folder) === name &&
    /-[0-9a-f]{8}$/.test(basename(above)) &&
    basename(dirname(above)) === WORKTREES
  );
}

/** What a cast starts has the state folder of its workspace as `BATON_HOME`; that is not the user's choice. */
function homeOf({ stateDir }: Owner, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (env.BATON_HOME && resolve(env.BATON_HOME) !== stateDir) return resolve(env.BATON_HOME);
  if (env.XDG_STATE_HOME && isAbsolute(env.XDG_STATE_HOME)) return join(env.XDG_STATE_HOME, 'baton');
  const home = env.HOME || homedir();
  const state = platform === 'darwin' ? ['Library', 'Application Support'] : ['.local', 'state'];
  return join(home, ...state, 'baton');
}
