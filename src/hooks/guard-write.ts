// Whether a path may be written by the one who is about to: never in the folder that governs the work, never where agent
// programs take their orders unless a claimed task names it, never where somebody else holds a lock, and with a claimed task
// only where that task may write.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { configuredBy, isNamed } from '../kernel/gate/agent-config.ts';
import { fileKeyIn, MAIN_ROOT } from '../kernel/ledger/lock-tree.ts';
import { normalPath, overlaps, spokenPath, spokenPaths } from '../kernel/ledger/path.ts';
import { refusalOfChanges } from '../kernel/ledger/scope.ts';
import type { Ledger, Task } from '../kernel/ledger/state.ts';
import { type HeldLock, heldLocks } from '../kernel/ledger/wire.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { realPlace } from '../shell/real-place.ts';
import type { Workspace } from '../workspace/locate.ts';
import { asInCast, belowWorktree, worktreeAround } from '../workspace/worktree/record.ts';

/** The folder of the rules and the log belongs to no agent, whatever it has claimed. */
export function refusalOfGoverning(path: string, { dir, stateDir }: Workspace): Denied | null {
  const governing = [join(dir, '.baton'), stateDir];
  const isInside = placesOf(path).some((place) => {
    // Worktrees of earlier versions lie in the state folder, and are there to be worked in.
    const below = belowWorktree(stateDir, place);
    if (below !== null) return below.toLowerCase().split('/').includes('.baton');
    return governing.some((folder) => isWithin(folder.toLowerCase(), place.toLowerCase()));
  });
  if (!isInside) return null;
  const reason = `${shown(path, dir)} belongs to what governs the work; no tool writes there. A person changes it, or a command of baton.`;
  return deny('SCOPE_VIOLATION', reason, { path: shown(path, dir), scope: '.baton' });
}

/** What agent programs obey is written by whoever has claimed it by name, and by nobody else. */
export function refusalOfAgentConfig(path: string, claims: readonly Task[], workspace: Workspace): Denied | null {
  const { dir, stateDir } = workspace;
  for (const place of placesOf(path)) {
    const by = configuredBy(belowWorktree(stateDir, place) ?? within(dir, place) ?? '');
    if (by === null) continue;
    const isClaimed = claims.some(({ root, lockScope }) => {
      const below = belowRoot(root, place, workspace);
      return below !== null && isNamed(below, lockScope);
    });
    if (isClaimed) continue;
    const reason = `agent programs take orders from ${shown(path, dir)}; only a person writes there, or whoever has claimed a task whose lock_scope names ${JSON.stringify(by)}.`;
    return deny('SCOPE_VIOLATION', reason, { path: shown(path, dir), scope: by });
  }
  return null;
}

export function refusalOfWrite(
  path: string,
  ledger: Ledger,
  claims: readonly Task[],
  workspace: Workspace,
): Denied | null {
  for (const place of placesOf(path)) {
    const refusal = refusalAt(place, ledger, claims, workspace);
    if (refusal) return refusal;
  }
  return null;
}

function refusalAt(place: string, ledger: Ledger, claims: readonly Task[], workspace: Workspace): Denied | null {
  const refusals = claims.map((task) => refusalOfScope(place, task, ledger, workspace));
  if (refusals.includes(null)) return null;
  const own = new Set(claims.map(({ fence }) => fence));
  const holder = heldLocks(ledger).find((lock) => !own.has(lock.fence) && isInTheWay(lock, place, ledger, workspace));
  if (holder) return heldBy(holder, place, workspace);
  return refusals[0] ?? null;
}

/** Null where the task may write there. What lies outside of everything, for a moment, is nobody's. */
function refusalOfScope(place: string, task: Task, ledger: Ledger, workspace: Workspace): Denied | null {
  if (isScratch(place, workspace)) return null;
  const below = belowRoot(task.root, place, workspace) ?? place;
  // A folder that leads to what it may write has to be made where it is not there yet.
  if (task.lockScope.some((path) => path.startsWith(`${below}/`)) && !existsSync(place)) return null;
  const refusal = refusalOfChanges(task, [below], ledger.locks);
  if (!refusal) return null;
  const { id, lockScope } = task;
  const where = lockScope.length === 0 ? 'it may write nowhere' : `it may write in ${spokenPaths(lockScope)}`;
  const reason = `${shown(place, workspace.dir)} is not in the scope of ${id}; ${where}. Leave the file alone, or say in your result that it needs a task of its own.`;
  return deny('SCOPE_VIOLATION', reason, { ...refusal.details, rule: 'R-PW-001' });
}

function isInTheWay(lock: HeldLock, place: string, ledger: Ledger, workspace: Workspace): boolean {
  const below = belowRoot(lock.root, place, workspace);
  const normal = below === null ? null : normalPath(below);
  if (!normal?.ok) return false;
  const key = fileKeyIn(ledger.locks, lock.root);
  return overlaps(key(normal.path), key(lock.path));
}

function heldBy({ run, task, owner, path, mode, fence }: HeldLock, place: string, { dir }: Workspace): Denied {
  const reason = `${task} (${owner}) holds ${spokenPath(path)}, and ${shown(place, dir)} is in it. Work on something else until it is given back; \`baton lock list\` shows who holds what.`;
  const holder = { run, task, owner, path, mode, fence };
  return deny('LOCK_CONFLICT', reason, { path: shown(place, dir), holder });
}

/** Paths of a cast mean the same in the worktrees of its items as in its own. */
function belowRoot(root: string, place: string, workspace: Workspace): string | null {
  // A worktree may lie inside the workspace, and is no part of it.
  if (root === MAIN_ROOT && belowWorktree(workspace.stateDir, place) !== null) return null;
  return within(folderOf(root, workspace), asInCast(workspace.stateDir, place));
}

function folderOf(root: string, { dir }: Workspace): string {
  return root === MAIN_ROOT ? dir : resolve(dir, root);
}

function isScratch(place: string, { dir, stateDir }: Workspace): boolean {
  if (within(dir, place) !== null || worktreeAround(stateDir, place) !== null) return false;
  return ['/dev', tmpdir(), '/tmp'].some((folder) => isWithin(folder, place));
}

/** The path as it is written and, where links lead elsewhere, the place they lead to. */
function placesOf(path: string): readonly string[] {
  const real = realPlace(path);
  return real === path ? [path] : [path, real];
}

/** The path below a folder, or null where it is not. */
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
