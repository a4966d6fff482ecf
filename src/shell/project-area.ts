// The paths that an agent may write: those of the folder it works in, and scratch files, because every build and test makes
// some and nothing of a project is lost with them. Not its own are the files that govern the work, the files of the repository,
// other projects among the scratch files, and everything elsewhere.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { AGENT_FOLDERS } from '../kernel/gate/agent-config.ts';
import { realPlace } from './real-place.ts';

/** Where commands run, so that it can be seen where they write. */
export type ProjectArea = {
  readonly cwd: string;
  readonly home: string | undefined;
  /** Whether the path is the agent's own to write or remove: below the project, or a scratch file. */
  isOwn(path: string): boolean;
};

const GOVERNING = ['.baton', '.git', ...AGENT_FOLDERS];
/** What makes a project of a folder. */
const PROJECT = ['.git', '.baton'];

/** `root` is the folder of the project, or of the worktree, that the agent works in. */
export function projectAreaAt(root: string, cwd: string, home: string | undefined): ProjectArea {
  const real = realPlace(root);
  const homeFolder = home === undefined || home === '' ? null : realPlace(home);
  const scratch = [realPlace(tmpdir()), realPlace('/tmp')];
  return {
    cwd,
    home,
    isOwn(path) {
      const place = realPlace(path);
      const below = relative(real, place);
      if (isInside(below)) return !below.split('/').some((part) => GOVERNING.includes(part.toLowerCase()));
      if (place.split('/').some((part) => GOVERNING.includes(part.toLowerCase()))) return false;
      // A home is nobody's scratch, wherever it lies.
      if (homeFolder !== null && isInside(relative(homeFolder, place))) return false;
      if (real.startsWith(place)) return false;
      return scratch.some((folder) => isInside(relative(folder, place)) && !isOfProject(place, folder));
    },
  };
}

/** Whether the path, or a folder above it within the scratch folder, is somebody's project. */
function isOfProject(place: string, scratch: string): boolean {
  for (let at = place; at !== scratch && dirname(at) !== at; at = dirname(at)) {
    if (PROJECT.some((name) => existsSync(join(at, name)))) return true;
  }
  return false;
}

function isInside(below: string): boolean {
  return below !== '' && below !== '..' && !below.startsWith('../') && !isAbsolute(below);
}
