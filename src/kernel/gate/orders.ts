// Files by which agent programs take orders from a project: what lies there makes the next program run commands, or widens
// its tools, whatever its own turn may do. So they are like the rules of the cast: a scope that merely lies above them does
// not reach them, and who is to change them is given them by name.
import { covers, normalPath, pathKey } from '../ledger/path.ts';
import { type Denied, deny } from '../verdict.ts';

/**
 * By the folder of a program, in a project or anywhere below it, what of it is obeyed. Texts that only a model reads, such as
 * `CLAUDE.md` and `AGENTS.md`, are not among them: they are work like any other.
 */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  '.claude': [
    ...['settings.json', 'settings.local.json', 'scheduled_tasks.json'],
    // Each of them may bring hooks, commands that run when it is loaded, and tools that nobody is asked about.
    ...['hooks', 'agents', 'commands', 'skills', 'workflows'],
  ],
  '.codex': ['config.toml', 'hooks.json', 'hooks', 'rules', 'agents'],
  '.pi': ['settings.json', 'extensions'],
};
/** Git runs commands by these, also for the person who uses it next. No task can be given them. */
const GIT = [
  ...['hooks', 'config', 'config.worktree', 'info', 'objects', 'modules', 'worktrees', 'commondir', 'gitdir'],
  ...['remotes', 'branches', 'refs'],
];
const FILES: readonly string[] = ['.mcp.json'];

/** All of them, as they lie in one folder. */
export const ORDERS: readonly string[] = [
  ...FILES,
  ...Object.entries(FOLDERS).flatMap(([folder, names]) => names.map((name) => `${folder}/${name}`)),
];

const LISTED_MAX = 20;
const NAMED_MAX = 5;

/** The folder of the program, or the file, by which a path gives orders; null where it gives none. */
export function orderedBy(path: string): string | null {
  const parts = path.split('/');
  // Capitals are told apart on some disks only.
  const names = parts.map((part) => pathKey(part, true));
  const at = names.findIndex((name, index) => {
    const below = names[index + 1];
    if (name === '.git') return below === undefined || GIT.includes(below);
    if (FILES.includes(name)) return below === undefined;
    const obeyed = Object.hasOwn(FOLDERS, name) ? FOLDERS[name] : undefined;
    // A link, or a file, in the place of the folder stands for all that is read through it.
    return obeyed !== undefined && (below === undefined || obeyed.includes(below));
  });
  return at === -1 ? null : parts.slice(0, at + 1).join('/');
}

/** Whether one of these paths means the orders themselves, and not only what lies around them. */
export function isNamed(path: string, scope: readonly string[]): boolean {
  const by = orderedBy(path);
  if (by === null || isOfGit(by)) return false;
  const key = (one: string) => pathKey(one, true);
  return scope.some((one) => covers(key(by), key(one)) && covers(key(one), key(path)));
}

/** Of one who changed orders that its scope does not name. */
export function refusalOfOrders(socket: string, changes: readonly string[], scope: readonly string[]): Denied | null {
  const unnamed = changes.filter((change) => {
    const normal = normalPath(change);
    const path = normal.ok ? normal.path : change;
    return orderedBy(path) !== null && !isNamed(path, scope);
  });
  const [first] = unnamed;
  if (first === undefined) return null;
  const more = unnamed.length > 1 ? ` (and ${unnamed.length - 1} more)` : '';
  const by = orderedBy(first) ?? first;
  if (isOfGit(by))
    return refusalOfGitFiles(
      socket,
      unnamed.filter((path) => isOfGit(orderedBy(path) ?? '')),
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
