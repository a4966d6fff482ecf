// Files that configure agent programs and git: they make the next program run commands, or widen its tools. They are guarded
// like the rules of the cast. A scope that merely covers them does not reach them; it has to name them. The present table
// counts in every cast, because the next program may be started by a person.
import { AGENT_CONFIG } from '../capabilities.ts';
import { covers, normalPath, pathKey } from '../ledger/path.ts';
import { type Denied, deny } from '../verdict.ts';

/** Git runs commands by these, also for the person who uses it next. No task can be given them. */
const GIT = [
  ...['hooks', 'config', 'config.worktree', 'info', 'objects', 'modules', 'worktrees', 'commondir', 'gitdir'],
  ...['remotes', 'branches', 'refs'],
];
/** Files that configure a program wherever they are: the rest of the table names them below the folder of the program. */
const FILES: ReadonlySet<string> = new Set(AGENT_CONFIG.filter((path) => !path.includes('/')));
const FOLDERS: ReadonlyMap<string, ReadonlySet<string>> = foldersIn(AGENT_CONFIG);

function foldersIn(paths: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const path of paths) {
    const [folder = '', name] = path.split('/');
    if (name !== undefined) folders.set(folder, (folders.get(folder) ?? new Set()).add(name));
  }
  return folders;
}

/** The folders that hold what configures the programs. */
export const AGENT_FOLDERS: readonly string[] = [...FOLDERS.keys()];

const LISTED_MAX = 20;
const NAMED_MAX = 5;

/** The folder of the program, or the file, by which a path gives orders; null where it gives none. */
export function configuredBy(path: string): string | null {
  const parts = path.split('/');
  // Capitals are told apart on some disks only.
  const names = parts.map((part) => pathKey(part, true));
  const at = names.findIndex((name, index) => {
    const below = names[index + 1];
    if (name === '.git') return below === undefined || GIT.includes(below);
    if (FILES.has(name)) return below === undefined;
    // A link or a file in place of the folder counts as all that is read through it.
    return FOLDERS.has(name) && (below === undefined || FOLDERS.get(name)?.has(below) === true);
  });
  return at === -1 ? null : parts.slice(0, at + 1).join('/');
}

/** Whether one of these paths means the orders themselves, and not only what lies around them. */
export function isNamed(path: string, scope: readonly string[]): boolean {
  const by = configuredBy(path);
  if (by === null || isOfGit(by)) return false;
  const key = (one: string) => pathKey(one, true);
  return scope.some((one) => covers(key(by), key(one)) && covers(key(one), key(path)));
}

/** Of one who changed orders that its scope does not name. */
export function refusalOfAgentConfig(
  socket: string,
  changes: readonly string[],
  scope: readonly string[],
): Denied | null {
  const unnamed = changes.filter((change) => {
    const normal = normalPath(change);
    const path = normal.ok ? normal.path : change;
    return configuredBy(path) !== null && !isNamed(path, scope);
  });
  const [first] = unnamed;
  if (first === undefined) return null;
  const more = unnamed.length > 1 ? ` (and ${unnamed.length - 1} more)` : '';
  const by = configuredBy(first) ?? first;
  if (isOfGit(by))
    return refusalOfGitFiles(
      socket,
      unnamed.filter((path) => isOfGit(configuredBy(path) ?? '')),
    );
  const reason = `${socket} changed ${JSON.stringify(first)}${more}, by which agent programs take orders, so that no attempt is begun under it; if it was you, recast. If its turns are meant to change it, name ${JSON.stringify(by)} in their lockScope: a wider scope does not reach it.`;
  const details = { socket, scope: by, outside: unnamed.slice(0, LISTED_MAX), count: unnamed.length };
  return deny('SCOPE_VIOLATION', reason, details);
}

function isOfGit(by: string): boolean {
  return /(?:^|\/)\.git$/i.test(by);
}

function refusalOfGitFiles(socket: string, paths: readonly string[]): Denied {
  const named = paths.slice(0, NAMED_MAX).map((path) => JSON.stringify(path));
  const more = paths.length > NAMED_MAX ? ` and ${paths.length - NAMED_MAX} more` : '';
  const reason = `${socket} changed ${named.join(', ')}${more}, by which git runs commands or hides changes, so that no attempt is begun under it. Look at it before you use git there: remove what was planted (rm), or put back what it was; baton itself runs no hooks. If it was you, recast.`;
  return deny('SCOPE_VIOLATION', reason, {
    socket,
    scope: '.git',
    outside: paths.slice(0, LISTED_MAX),
    count: paths.length,
  });
}

/** Whether what was refused is that the rules were changed under which the next attempt would run. */
export function isOfRules({ code, details }: Denied): boolean {
  return code === 'SCOPE_VIOLATION' && typeof details.scope === 'string';
}
