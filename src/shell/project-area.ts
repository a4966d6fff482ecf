// The paths that an agent may write: its work folder, and scratch files, which every build and test makes. It may not write files
// that govern the work, repository files, other projects among the scratch files, or anything elsewhere.
import { existsSync, readlinkSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { AGENT_FOLDERS } from '../kernel/ledger/scope.ts';

/** Where commands run, and which paths they may write. */
export type ProjectArea = {
  readonly cwd: string;
  readonly home: string | undefined;
  /** Whether the agent may write or remove the path: below the project, or a scratch file. */
  isOwn(path: string): boolean;
};

const GOVERNING = ['.baton', '.git', ...AGENT_FOLDERS];
/** A folder with one of these is a project. */
const PROJECT = ['.git', '.baton'];

/** `root` is the folder of the project, or of the worktree, that the agent works in. */
export function projectAreaAt(root: string, cwd: string, home: string | undefined): ProjectArea {
  const real = realPath(root);
  const homeFolder = home === undefined || home === '' ? null : realPath(home);
  const scratch = [realPath(tmpdir()), realPath('/tmp')];
  return {
    cwd,
    home,
    isOwn(path) {
      const place = realPath(path);
      const below = relative(real, place);
      if (isInside(below)) return !below.split('/').some((part) => GOVERNING.includes(part.toLowerCase()));
      if (place.split('/').some((part) => GOVERNING.includes(part.toLowerCase()))) return false;
      // A home is never scratch, wherever it is.
      if (homeFolder !== null && isInside(relative(homeFolder, place))) return false;
      if (real.startsWith(place)) return false;
      return scratch.some((folder) => isInside(relative(folder, place)) && !isOfProject(place, folder));
    },
  };
}

/** Whether the path, or a folder above it in the scratch folder, is a project. */
function isOfProject(place: string, scratch: string): boolean {
  for (let at = place; at !== scratch && dirname(at) !== at; at = dirname(at)) {
    if (PROJECT.some((name) => existsSync(join(at, name)))) return true;
  }
  return false;
}

function isInside(below: string): boolean {
  return below !== '' && below !== '..' && !below.startsWith('../') && !isAbsolute(below);
}

const LINKS_MAX = 10;

/** The path with all links resolved. For a missing file: the real path of the nearest folder, then the rest as written. */
export function realPath(path: string, links = 0): string {
  let rest = '';
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(realpathSync(at), rest);
    } catch {
      const target = links < LINKS_MAX ? danglingTarget(at) : null;
      if (target !== null) return join(realPath(resolve(dirname(at), target), links + 1), rest);
      if (dirname(at) === at) return path;
      rest = join(basename(at), rest);
    }
  }
}

/** The target of a dangling link. Writing through the link creates it. */
function danglingTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
