// Whether an agent may write a path, and what the ledger says about its claims. An agent never writes in the folders that govern the
// work. It writes agent configuration only if its task claims that path. It never writes under a lock of another task. With a claimed
// task, it writes only where that task may write. A hook runs before every tool call, so it reads only the facts of the ledger.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { isString, type JsonObject } from '../kernel/json.ts';
import { fileKeyIn, MAIN_ROOT } from '../kernel/ledger/lock-tree.ts';
import { normalPath, overlaps, spokenPath, spokenPaths } from '../kernel/ledger/path.ts';
import { configuredBy, isNamed, refusalOfChanges } from '../kernel/ledger/scope.ts';
import type { Ledger, Task } from '../kernel/ledger/state.ts';
import { type HeldLock, heldLocks } from '../kernel/ledger/wire.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { realPath } from '../shell/dangerous.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';
import { asInCast, belowWorktree, worktreeAround } from '../workspace/worktree/record.ts';

/** No agent writes in the folders of the configuration and the log, whatever it has claimed. */
export function refusalOfGoverningWrite(path: string, { dir, stateDir }: LocatedWorkspace): Denied | null {
  const governing = [join(dir, '.baton'), stateDir];
  const isInside = placesOf(path).some((place) => {
    // Earlier versions kept worktrees in the state folder. Agents may work there.
    const below = belowWorktree(stateDir, place);
    if (below !== null) return below.toLowerCase().split('/').includes('.baton');
    return governing.some((folder) => isWithin(folder.toLowerCase(), place.toLowerCase()));
  });
  if (!isInside) return null;
  const reason = `${shown(path, dir)} governs the work, so no tool writes there. A person or a baton command changes it.`;
  return deny('SCOPE_VIOLATION', reason, { path: shown(path, dir), scope: '.baton' });
}

/** Only an agent whose task names such a file writes agent configuration. */
export function refusalOfConfigWrite(
  path: string,
  claims: readonly Task[],
  workspace: LocatedWorkspace,
): Denied | null {
  const { dir, stateDir } = workspace;
  for (const place of placesOf(path)) {
    const by = configuredBy(belowWorktree(stateDir, place) ?? within(dir, place) ?? '');
    if (by === null) continue;
    const isClaimed = claims.some(({ root, lockScope }) => {
      const below = belowRoot(root, place, workspace);
      return below !== null && isNamed(below, lockScope);
    });
    if (isClaimed) continue;
    const reason = `${shown(path, dir)} configures agent programs. Only a person may write it, or an agent whose claimed task has ${JSON.stringify(by)} in its lock_scope.`;
    return deny('SCOPE_VIOLATION', reason, { path: shown(path, dir), scope: by });
  }
  return null;
}

export function refusalOfWrite(
  path: string,
  ledger: Ledger,
  claims: readonly Task[],
  workspace: LocatedWorkspace,
): Denied | null {
  for (const place of placesOf(path)) {
    const refusal = refusalAt(place, ledger, claims, workspace);
    if (refusal) return refusal;
  }
  return null;
}

function refusalAt(place: string, ledger: Ledger, claims: readonly Task[], workspace: LocatedWorkspace): Denied | null {
  const refusals = claims.map((task) => refusalOfScope(place, task, ledger, workspace));
  if (refusals.includes(null)) return null;
  const own = new Set(claims.map(({ fence }) => fence));
  const holder = heldLocks(ledger).find((lock) => !own.has(lock.fence) && isInTheWay(lock, place, ledger, workspace));
  if (holder) return heldBy(holder, place, workspace);
  return refusals[0] ?? null;
}

/** Null where the task may write. Temporary files belong to no task. */
function refusalOfScope(place: string, task: Task, ledger: Ledger, workspace: LocatedWorkspace): Denied | null {
  if (isScratch(place, workspace)) return null;
  const below = belowRoot(task.root, place, workspace) ?? place;
  // The task may create missing folders on the way to its paths.
  if (task.lockScope.some((path) => path.startsWith(`${below}/`)) && !existsSync(place)) return null;
  const refusal = refusalOfChanges(task, [below], ledger.locks);
  if (!refusal) return null;
  const { id, lockScope } = task;
  const where = lockScope.length === 0 ? 'it may write nothing' : `it may write in ${spokenPaths(lockScope)}`;
  const reason = `${shown(place, workspace.dir)} is not in the scope of ${id}; ${where}. Leave the file unchanged, or report that it needs its own task.`;
  return deny('SCOPE_VIOLATION', reason, { ...refusal.details, rule: 'R-PW-001' });
}

function isInTheWay(lock: HeldLock, place: string, ledger: Ledger, workspace: LocatedWorkspace): boolean {
  const below = belowRoot(lock.root, place, workspace);
  const normal = below === null ? null : normalPath(below);
  if (!normal?.ok) return false;
  const key = fileKeyIn(ledger.locks, lock.root);
  return overlaps(key(normal.path), key(lock.path));
}

function heldBy({ run, task, owner, path, mode, fence }: HeldLock, place: string, { dir }: LocatedWorkspace): Denied {
  const reason = `${task} (${owner}) holds ${spokenPath(path)}, and ${shown(place, dir)} is in it. Work on something else until the lock is released; \`baton lock list\` shows all locks.`;
  const holder = { run, task, owner, path, mode, fence };
  return deny('LOCK_CONFLICT', reason, { path: shown(place, dir), holder });
}

/** A path of a cast means the same in its worktree and in the worktrees of its items. */
function belowRoot(root: string, place: string, workspace: LocatedWorkspace): string | null {
  // A worktree inside the workspace is not part of the workspace.
  if (root === MAIN_ROOT && belowWorktree(workspace.stateDir, place) !== null) return null;
  return within(folderOf(root, workspace), asInCast(workspace.stateDir, place));
}

function folderOf(root: string, { dir }: LocatedWorkspace): string {
  return root === MAIN_ROOT ? dir : resolve(dir, root);
}

function isScratch(place: string, { dir, stateDir }: LocatedWorkspace): boolean {
  if (within(dir, place) !== null || worktreeAround(stateDir, place) !== null) return false;
  return ['/dev', tmpdir(), '/tmp'].some((folder) => isWithin(folder, place));
}

/** The path as written and, if it differs, the path after all links are resolved. */
function placesOf(path: string): readonly string[] {
  const real = realPath(path);
  return real === path ? [path] : [path, real];
}

/** The path relative to the folder, or null if it is outside. */
function within(folder: string, path: string): string | null {
  const below = relative(folder, path);
  if (below === '') return '.';
  return below === '..' || below.startsWith('../') || isAbsolute(below) ? null : below;
}

function isWithin(folder: string, path: string): boolean {
  return within(folder, path) !== null;
}

function shown(path: string, dir: string): string {
  return within(dir, path) ?? path;
}

/** The member of a tool's input that names the file it writes. */
const FILE_MEMBERS: Readonly<Record<string, string>> = {
  Write: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
};

export function isFileTool(tool: string): boolean {
  return Object.hasOwn(FILE_MEMBERS, tool);
}

/** Null if the input names no file. Such a call is refused. */
export function fileWritten(tool: string, input: JsonObject, cwd: string): string | null {
  const path = input[FILE_MEMBERS[tool] ?? ''];
  return isString(path) && path.trim() !== '' ? resolve(cwd, path) : null;
}

const PATCH_BEGIN = '*** Begin Patch';
const PATCH_FILE = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.{1,4096})$/gm;

/** The absolute paths in a Codex patch, in order. Empty if the text holds no patch. */
export function pathsInPatch(text: string, cwd: string): readonly string[] {
  if (!text.includes(PATCH_BEGIN)) return [];
  return [...new Set(Array.from(text.matchAll(PATCH_FILE), ([, path = '']) => resolve(cwd, path.trim())))];
}

type Claimant = {
  /** The token from the environment, or null if there is none. */
  readonly fence: number | null;
  readonly names: readonly string[];
};

/** The claimant's tasks in progress. */
export function claimsOf(ledger: Ledger, { fence, names }: Claimant): readonly Task[] {
  const open = Object.values(ledger.tasks).filter((task) => task.fence !== null);
  return open
    .filter((task) => (fence === null ? names.includes(task.owner) : task.fence === fence))
    .sort((a, b) => a.order - b.order);
}

/** A paused workspace starts no new agent. */
export function refusalWhilePaused({ hold }: Pick<Ledger, 'hold'>): Denied | null {
  if (!hold) return null;
  const reason = `${hold.by} paused the workspace, so no new agent starts: ${hold.reason}. Finish your current work, then wait.`;
  return deny('NOT_ALLOWED_NOW', reason, { hold: { ...hold } });
}
