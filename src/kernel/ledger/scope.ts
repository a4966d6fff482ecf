// Where a task may write: inside its lock scope, outside its forbidden scope, and in its worklog and report. Never in
// `.baton`, and in files that configure agents only by name.
import { AGENT_CONFIG } from '../capabilities.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { fileKeyIn, keyIn, type LockTree } from './lock-tree.ts';
import { coverOf, covers, followLinks, type Links, normalPath, PATH_FAULTS, PathIndex, pathKey } from './path.ts';
import { fenceKey, type Ledger, type Task, type TaskSpec } from './state.ts';

const LISTED_MAX = 20;

/** What a task has changed, or would. */
type Tense = 'changed' | 'would change';

export function refusalOfChanges(
  task: Task,
  changes: readonly string[],
  locks: LockTree,
  tense: Tense = 'changed',
): Denied | null {
  const [local, keyOf] = [keyIn(locks, task.root), fileKeyIn(locks, task.root)];
  const keyed = (paths: readonly string[]) => paths.map(keyOf);
  const placeOf = scopeRule(
    { lockScope: keyed(task.lockScope), forbidden: keyed(task.forbidden) },
    keyed(filesOf(task)),
  );
  const outside: string[] = [];
  const touching: string[] = [];
  for (const change of new Set(changes)) {
    const normal = normalPath(change);
    const isClosed = !normal.ok || isGoverning(local(normal.path));
    const place = normal.ok ? placeOf(keyOf(normal.path), isClosed) : 'outside';
    if (place === 'outside') outside.push(change);
    else if (place === 'forbidden') touching.push(change);
  }
  if (outside.length + touching.length === 0) return null;
  const [first] = [...touching, ...outside];
  const why = touching.length > 0 ? 'touches its forbidden_scope' : 'lies outside its lock_scope';
  const more = outside.length + touching.length - 1;
  const way = tense === 'changed' ? 'take the change back' : 'leave it as it is, or ask for a task that may';
  const reason = `${task.id} ${tense} ${JSON.stringify(first)}, which ${why}${more > 0 ? ` (and ${more} more)` : ''}; ${way}.`;
  return deny('SCOPE_VIOLATION', reason, {
    task: task.id,
    outside: outside.slice(0, LISTED_MAX),
    forbidden: touching.slice(0, LISTED_MAX),
    count: more + 1,
    lock_scope: task.lockScope.slice(0, LISTED_MAX),
    forbidden_scope: task.forbidden.slice(0, LISTED_MAX),
  });
}

/**
 * Where a changed path lies: at or below a claimed path, or touching a forbidden one from above or from below. `own` are files
 * that the task may have outside of its paths.
 */
export function scopeRule(
  { lockScope, forbidden }: { readonly lockScope: readonly string[]; readonly forbidden: readonly string[] },
  own: readonly string[] = [],
): (key: string, isClosed?: boolean) => 'inside' | 'outside' | 'forbidden' {
  const covers = coverOf(lockScope);
  const index = new PathIndex(forbidden);
  return (key, isClosed = false) => {
    if (index.firstOverlap(key) !== null) return 'forbidden';
    return (isClosed || !covers(key)) && !own.includes(key) ? 'outside' : 'inside';
  };
}

/** Of one who may change no file at all, for a reason that is named; `way` is what a person can do about it. */
export function refusalOfAnyChange(
  socket: string,
  changes: readonly string[],
  why: string,
  way: string,
  isPutBack = false,
): Denied | null {
  const [first] = changes;
  if (first === undefined) return null;
  const more = changes.length > 1 ? ` (and ${changes.length - 1} more)` : '';
  const reason = `${socket} changed ${JSON.stringify(first)}${more} and may change no file, because ${why}; ${isPutBack ? 'it is put back' : 'take back what it changed and nothing else'}. ${way}`;
  const outside = changes.slice(0, LISTED_MAX);
  return deny('SCOPE_VIOLATION', reason, { socket, outside, forbidden: [], count: changes.length, lock_scope: [] });
}

/** No task can lock files that govern the work. A scope above them does not reach them. */
export function refusalOfGoverning(
  id: string,
  lockScope: readonly string[],
  keyOf: (path: string) => string,
): Denied | null {
  const governing = lockScope.find((path) => isGoverning(keyOf(path)));
  if (governing === undefined) return null;
  const reason = `${id} wants ${JSON.stringify(governing)}, and what governs the work is no task's to change; take it out of lock_scope.`;
  return deny('SCOPE_VIOLATION', reason, { task: id, resource: governing });
}

/** The forbidden scope as a packet shows it, without the rules that are always forbidden. */
export function forbiddenText({ lockScope, forbidden }: Pick<Task, 'lockScope' | 'forbidden'>): readonly string[] {
  const covers = coverOf(lockScope);
  return forbidden.filter((path) => !(isGoverning(path) && covers(path)));
}

export function isGoverning(key: string): boolean {
  return key === '.baton' || key.startsWith('.baton/');
}

/** Refuses a lock on a path that leads out of the folder through a link: two folders may have such a link. */
export function refusalOfLinkOut(id: string, lockScope: readonly string[], links: Links | undefined): Denied | null {
  const path = lockScope.find((path) => !path.startsWith('/') && followLinks(path, links).startsWith('/'));
  if (path === undefined) return null;
  const target = followLinks(path, links);
  const reason = `${id} wants ${JSON.stringify(path)}, which leads out of its folder through a link, to ${JSON.stringify(target)}; lock only what is inside, or work in the folder that the link leads to.`;
  return deny('SCOPE_VIOLATION', reason, { task: id, resource: path, target });
}

/**
 * The worklog and the report of a task may lie outside of its paths, and an agent that plans names them. So each has its own
 * folder and endings, and no name starts with a dot.
 */
const WORKLOG = { folders: ['worklogs'], endings: ['.jsonl'], example: 'worklogs/T-12.jsonl' };
const REPORT = { folders: ['reports', 'outputs'], endings: ['.md', '.json'], example: 'reports/T-12.md' };

type Kind = typeof WORKLOG;
type Named = Pick<TaskSpec, 'worklogPath' | 'reportPath' | 'lockScope'>;
type Reading = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly fault: string };

/** Why the files that a packet names cannot be those of its task; null where they can. */
export function refusalOfTaskFiles(id: string, spec: Named): Denied | null {
  const { worklogPath, reportPath } = spec;
  const wanted = [
    ['task.worklog_path', worklogPath === '' ? null : worklogPath, worklogIn(spec)],
    ['task.report_path', reportPath, reportIn(spec)],
  ] as const;
  for (const [path, written, reading] of wanted) {
    if (written === null || reading.ok) continue;
    const reason = `${path} of ${id}, ${JSON.stringify(written.slice(0, SHOWN_MAX))}, ${reading.fault}.`;
    return deny('SCOPE_VIOLATION', reason, { task: id, path, resource: written });
  }
  return null;
}

/** The files of a task that it may have outside of its paths, in normal form. Tasks of older versions may name others. */
export function filesOf(task: Named): readonly string[] {
  return [worklogIn(task), reportIn(task)].flatMap((reading) => (reading.ok ? [reading.path] : []));
}

/** The report in normal form, or null where the task has none that may be read. */
export function reportOf(task: Named): string | null {
  const reading = reportIn(task);
  return reading.ok ? reading.path : null;
}

/** Whether a path may be the worklog of a task. */
export function isWorklogPath(path: string): boolean {
  return read(path, WORKLOG, () => false).ok;
}

const SHOWN_MAX = 200;

function worklogIn({ worklogPath }: Named): Reading {
  return read(worklogPath, WORKLOG, () => false);
}

/** What the task may write anyway may be its report. */
function reportIn({ reportPath, lockScope }: Named): Reading {
  return read(reportPath ?? '', REPORT, coverOf(lockScope));
}

function read(written: string, { folders, endings, example }: Kind, isWritable: (path: string) => boolean): Reading {
  const normal = normalPath(written);
  if (!normal.ok) return { ok: false, fault: PATH_FAULTS[normal.fault] };
  const { path } = normal;
  const names = path.split('/');
  if (path.startsWith('/')) return { ok: false, fault: PATH_FAULTS.escapes };
  if (names.some((name) => name.startsWith('.'))) {
    return { ok: false, fault: 'has a name that begins with a dot, as the settings of programs have; choose another' };
  }
  const isPlaced = names.slice(0, -1).some((name) => folders.includes(name));
  if (isWritable(path) || (isPlaced && endings.some((ending) => path.endsWith(ending)))) return { ok: true, path };
  const place = `must end in ${endings.join(' or ')} below a folder ${folders.join(' or ')}, like ${example}`;
  return { ok: false, fault: place };
}

/** Whether a claim allows a write now: its fence is current, and the path lies where the task may write. */
export function mayWriteNow(ledger: Ledger, fence: number, paths: readonly string[]): Verdict {
  const task = taskWith(ledger, fence);
  if (!task) {
    const reason = `No task is in progress under fence ${fence}; it ended or was claimed again. Stop writing.`;
    return deny('CONCURRENCY_CONFLICT', reason, { fence });
  }
  const { run, id, owner } = task;
  return (
    refusalOfChanges(task, paths, ledger.locks, 'would change') ??
    allow(`${id} may write there`, { run, task: id, owner, fence, paths })
  );
}

/** The task in progress under this token. */
export function taskWith(ledger: Ledger, fence: number): Task | undefined {
  return ledger.tasks[ledger.fences[fenceKey(fence)] ?? ''];
}

/** Files that configure agent programs and git. A scope reaches them only by name. The table counts in every cast. */
const GIT = [
  ...['hooks', 'config', 'config.worktree', 'info', 'objects', 'modules', 'worktrees', 'commondir', 'gitdir'],
  ...['remotes', 'branches', 'refs', 'rebase-merge'],
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

const NAMED_MAX = 5;

/** The folder of the program, or the file, by which a path gives orders; null where it gives none. */
export function configuredBy(path: string): string | null {
  const parts = path.split('/');
  // Only some disks tell capitals apart.
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
