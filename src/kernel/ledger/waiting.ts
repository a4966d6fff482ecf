// Whose turn it is. Small claims could keep a large one waiting for ever, so a task that was refused its locks several
// times is owed its turn: while it keeps asking, tasks that do not rank before it stay off its paths. Ranks are a total
// order, so two tasks that are both owed their turn never wait for each other.
import { refusalOfInconsistency } from './inconsistency.ts';
import { keyIn } from './lock-tree.ts';
import { overlaps } from './overlap.ts';
import { type Ledger, PRIORITIES, type Task, wantedLocks } from './state.ts';

export const PASSED_OVER_MAX = 3;

/** Whether it was passed over too often; one that has not asked for as long as its own time limit has given up. */
export function isOwed(task: Task, at: number): boolean {
  return task.passedOver >= PASSED_OVER_MAX && task.refusedAt !== null && at <= owedUntil(task);
}

/** Until when others stay off the paths of a task that was passed over, if it asks no more. */
export function owedUntil({ refusedAt, timeoutS }: Pick<Task, 'refusedAt' | 'timeoutS'>): number {
  return (refusedAt ?? 0) + timeoutS * 1000;
}

/**
 * Negative when `a` goes first: those that are owed their turn before all others and by how long they wait, whatever their
 * priority, because nobody may wait for ever; then by priority, then by age.
 */
export function compareRank(a: Task, b: Task, at: number): number {
  const [aIsOwed, bIsOwed] = [isOwed(a, at), isOwed(b, at)];
  if (aIsOwed !== bIsOwed) return aIsOwed ? -1 : 1;
  const byWait = aIsOwed ? (a.waitingSince ?? at) - (b.waitingSince ?? at) : 0;
  const byPriority = PRIORITIES.indexOf(b.priority) - PRIORITIES.indexOf(a.priority);
  return byWait || byPriority || a.order - b.order;
}

/** Whether a run holds together. */
export type Soundness = (run: string) => boolean;

/** Looks at each run once, so that it holds for as long as nothing is written. */
export function soundnessOf(ledger: Ledger): Soundness {
  const known = new Map<string, boolean>();
  return (run) => {
    const isSound = known.get(run) ?? refusalOfInconsistency(ledger, run) === null;
    known.set(run, isSound);
    return isSound;
  };
}

/**
 * The first task in rank that is owed its turn, goes before the claimant and wants what the claimant would take. One whose
 * run does not hold together is not handed out before somebody has mended the run, and keeps nobody waiting until then.
 */
export function owedBefore(
  ledger: Ledger,
  claimant: Task,
  at: number,
  isSound: Soundness = soundnessOf(ledger),
): Task | null {
  let first: Task | null = null;
  const isInTheWay = inTheWayOf(ledger, claimant);
  for (const key of Object.keys(ledger.waiting)) {
    const waiter = ledger.tasks[key];
    if (!waiter || waiter === claimant || !isOwed(waiter, at)) continue;
    if (compareRank(waiter, claimant, at) > 0 || (first && compareRank(waiter, first, at) > 0)) continue;
    if (isInTheWay(waiter) && isSound(waiter.run)) first = waiter;
  }
  return first;
}

/** Whether another task could not be in progress together with this one. */
export function inTheWayOf({ locks }: Ledger, task: Task): (other: Task) => boolean {
  const key = keyIn(locks, task.root);
  const own = wantedLocks(task).map(({ path, mode }) => ({ mode, key: key(path) }));
  return (other) => {
    if (other.run === task.run && (other.type === 'serial' || task.type === 'serial')) return true;
    if (other.root !== task.root) return false;
    return wantedLocks(other).some(({ path, mode }) => {
      const its = key(path);
      return own.some((lock) => (mode === 'write' || lock.mode === 'write') && overlaps(its, lock.key));
    });
  };
}
