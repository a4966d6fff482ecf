// What a turn changed, as seen from outside, and why a change is refused: files that govern agents, paths outside its scope
// or its claims, work that cannot be committed, and changes of the main checkout.
import type { SealedRequest } from '../approval/request.ts';
import type { Touched } from '../cast/fact.ts';
import { taskOfTurn } from '../cast/item.ts';
import { bystanderIn, isBound, isPutBack, readsOnly } from '../cast/lock-scope.ts';
import type { SeenWork } from '../cast/notes.ts';
import { type Cast, type Turn, walkOf } from '../cast/state.ts';
import type { MainChanges } from '../input.ts';
import type { Artifacts } from '../knowledge/entries.ts';
import type { Check } from '../ledger/fact.ts';
import { MAIN_ROOT, rivalOf, type TaskLock } from '../ledger/lock-tree.ts';
import { normalPath } from '../ledger/path.ts';
import { isTaskFile } from '../ledger/run-index.ts';
import {
  configuredBy,
  isNamed,
  refusalOfAgentConfig,
  refusalOfAnyChange,
  refusalOfChanges,
  scopeRule,
} from '../ledger/scope.ts';
import { keyOf, runOf, type Task } from '../ledger/state.ts';
import type { State } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';

/** What was seen of a turn from outside, whatever it says itself. */
export type Seen = {
  /** The seal of what governs the agents; null where nothing was compared. */
  readonly seal: string | null;
  /** The digest of every path that changed; null where it is gone. */
  readonly changes: Readonly<Record<string, string | null>>;
  /** By path, why what was left there can be in no commit and would be lost. */
  readonly unkept?: Readonly<Record<string, string>>;
  /** Absent where the turn works in the checkout itself, or is not held to its folder. */
  readonly main?: MainChanges;
  /** By criterion. */
  readonly checks: Readonly<Record<string, Check>>;
  /** What the agent wants permission for, sealed; absent or null where it wants none or nothing could be sealed. */
  readonly approval?: SealedRequest | null;
  /** The files that its report names as evidence; absent where they were not inspected. */
  readonly artifacts?: Artifacts;
  /** Why the changes could not be inspected, where they had to be. */
  readonly unseen?: string;
} & SeenWork;

/** No turn may change what governs it. */
export function refusalOfSeal(turn: Turn, seal: string | null): Denied | null {
  if (turn.seal === null || seal === turn.seal) return null;
  const reason = `${turn.socket}: files in .baton, or what Baton noted there before the turn, changed while it ran, and no turn may change them; if it was you, recast`;
  return deny('SCOPE_VIOLATION', reason, { socket: turn.socket, scope: '.baton' });
}

/**
 * A turn changes files that configure agent programs only where its paths name them. This holds also where the author is
 * unknown, because the next program obeys the file anyway.
 */
export function refusalOfAgentConfigIn(state: State, cast: Cast, turn: Turn, changes: Seen['changes']): Denied | null {
  const ordered = Object.keys(changes).filter((path) => configuredBy(path) !== null);
  if (ordered.length === 0) return null;
  const task = taskOfTurn(state, cast, turn);
  const scope = task && readsOnly(cast, turn.socket) === null ? task.lockScope : [];
  const whose = anothersIn(state, cast, turn, task, changes);
  const own = ordered.filter((path) => {
    const another = whose(path);
    return (
      another === null || (another !== 'seen' && !isNamed(path, state.ledger.tasks[another.task]?.lockScope ?? []))
    );
  });
  return refusalOfAgentConfig(turn.socket, own, scope);
}

/** The changes that were seen are recorded, whatever becomes of the turn and whichever process made them. */
export function touchedIn({ changes }: Seen): { readonly touched?: Touched } {
  return Object.keys(changes).length > 0 ? { touched: changes } : {};
}

/**
 * A turn with paths is bound to them, and a turn that may change nothing to that. A utility without paths is free. In the
 * directory itself a person or another program may have made the change.
 */
export function refusalOfScope(
  state: State,
  cast: Cast,
  turn: Turn,
  task: Task | null,
  changes: Seen['changes'],
): Denied | null {
  if (Object.keys(changes).length === 0 || bystanderIn(cast, turn) !== null) return null;
  const why = readsOnly(cast, turn.socket);
  if (why !== null) {
    const own = ownChanges(state, cast, turn, task, changes);
    return refusalOfAnyChange(turn.socket, own, why, WAY, isPutBack(cast, turn));
  }
  if (!task || !isBound(cast, turn.socket)) return null;
  return refusalOfChanges(task, ownChanges(state, cast, turn, task, changes), state.ledger.locks);
}

/**
 * A turn in a worktree does not write into the user's own checkout. A path that a task there has locked is that task's, and a
 * worklog or report is written by Baton.
 */
export function refusalOfMain({ ledger }: State, turn: Turn, main: MainChanges | undefined): Denied | null {
  if (!main) return null;
  const isLocked = (path: string) =>
    normalPath(path).ok && rivalOf(ledger.locks, { root: MAIN_ROOT, path, mode: 'write', task: '' })?.mode === 'write';
  const runs = Object.values(ledger.runs);
  const isReport = (path: string) => runs.some((run) => isTaskFile(run, path));
  const outside = Object.keys(main.changes).filter((path) => !isReport(path) && !isLocked(path));
  const [first] = outside;
  if (first === undefined) return null;
  const more = outside.length > 1 ? ` (and ${outside.length - 1} more)` : '';
  const what = `${JSON.stringify(first)}${more} changed in ${main.dir}, the user's own checkout, while ${turn.socket} ran in a worktree`;
  const way = `An agent that changed it makes the change in the folder it works in, and puts back in ${main.dir} exactly what was there before`;
  const reason = `${what}. ${way}. If a person changed it, \`baton continue\` goes on; "worktree": {"mainCheckout": "warn"} only reports such changes.`;
  const details = {
    socket: turn.socket,
    checkout: main.dir,
    outside: outside.slice(0, LISTED_MAX),
    count: outside.length,
  };
  return deny('SCOPE_VIOLATION', reason, details);
}

/** Accepted work is on the branch. A change that the branch cannot hold would be lost. */
export function refusalOfUncommittable(
  state: State,
  cast: Cast,
  turn: Turn,
  task: Task | null,
  unkept: Readonly<Record<string, string>>,
): Denied | null {
  const isPackageLock = packageLockOf(task);
  const paths = ownChanges(state, cast, turn, task, unkept).filter((path) => !isPackageLock(path));
  if (paths.length === 0) return null;
  // Many files may be there for one reason.
  const reasons = new Set(paths.map((path) => unkept[path]));
  const reason = `${turn.socket}: ${[...reasons].join('; ')}.`;
  return deny('SCOPE_VIOLATION', reason, { socket: turn.socket, unkept: paths.slice(0, LISTED_MAX) });
}

/**
 * The lock file of a package manager above a workspace that lies below the top of its repository. An install in the workspace
 * rewrites it there. It counts like the same file in the workspace itself.
 */
const PACKAGE_LOCK =
  /^(?:\.\.\/)+(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|deno\.lock|uv\.lock|poetry\.lock|pdm\.lock|Cargo\.lock|go\.work\.sum|pubspec\.lock)$/;

function packageLockOf(task: Task | null): (path: string) => boolean {
  const placeOf = scopeRule(task ?? { lockScope: [], forbidden: [] });
  return (path) => {
    const name = PACKAGE_LOCK.exec(path)?.[1];
    return name !== undefined && placeOf(name) === 'inside';
  };
}

const LISTED_MAX = 20;
const WAY = 'If it is meant to change files, give it "tools": "coding" or a lockScope.';

/**
 * A change inside another task's lock belongs to that task, and a change that another turn was seen to make to that turn.
 * Worklogs and reports belong to their own tasks. In a worktree of its own no other turn writes.
 */
function ownChanges(
  state: State,
  cast: Cast,
  turn: Turn,
  task: Task | null,
  changes: Seen['changes'],
): readonly string[] {
  const run = runOf(state.ledger, cast.id);
  const anothers = anothersIn(state, cast, turn, task, changes);
  return Object.keys(changes).filter((path) => !(run && isTaskFile(run, path)) && anothers(path) === null);
}

/** Whose a change is that is not the turn's: the lock it lies in, or that another turn was seen to make it. */
function anothersIn({ ledger }: State, cast: Cast, turn: Turn, task: Task | null, changes: Seen['changes']) {
  const [root, key] = task ? [task.root, keyOf(task)] : [cast.root ?? MAIN_ROOT, ''];
  const isAlone = walkOf(cast, turn)?.place !== undefined;
  return (path: string): TaskLock | 'seen' | null => {
    if (isAlone) return null;
    if (Object.hasOwn(turn.excused, path) && turn.excused[path] === changes[path]) return 'seen';
    const rival = rivalOf(ledger.locks, { root, path, mode: 'write', task: key });
    return rival?.mode === 'write' ? rival : null;
  };
}
