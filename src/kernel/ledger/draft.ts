// A draft of the ledger on which a stream of deltas is tried before anything is written: as much of the ledger as the
// stream can see, and no more of the locks than can matter to it. The rules write on it as on the ledger itself.
import { applyLedger } from './apply.ts';
import type { LedgerFact } from './fact.ts';
import { addLock, locksOf, newLockTree, rivalOf, type TaskLock } from './lock-tree.ts';
import type { LedgerPen } from './pen.ts';
import {
  keyOf,
  type Ledger,
  nameKey,
  type RunIndex,
  runOf,
  type Task,
  taskKey,
  tasksOf,
  wantedLocks,
} from './state.ts';
import { soundnessOf } from './waiting.ts';

export type DraftPen = LedgerPen & { readonly facts: readonly LedgerFact[] };

export function draftFor({ ledger, at }: LedgerPen, run: string, ids: Iterable<string>): DraftPen {
  const draft = draftOf(ledger, run, new Set([...ids].map((id) => taskKey(run, id))));
  const facts: LedgerFact[] = [];
  return {
    ledger: draft,
    at,
    isSound: soundnessOf(ledger),
    facts,
    write(fact) {
      facts.push(fact);
      applyLedger(draft, fact, at);
    },
  };
}

function draftOf(ledger: Ledger, name: string, touched: ReadonlySet<string>): Ledger {
  const run = runOf(ledger, name);
  const rivals = rivalsOf(ledger, touched);
  const keys = [...tasksOf(ledger, name).map(keyOf), ...Object.keys(ledger.waiting), ...rivals.map(({ task }) => task)];
  const tasks: Record<string, Task> = {};
  for (const key of keys) {
    const task = ledger.tasks[key];
    if (task) tasks[key] = touched.has(key) ? { ...task } : task;
  }
  const locks = newLockTree(ledger.locks.foldCase, ledger.locks.links);
  for (const key of touched) for (const lock of locksOf(ledger.locks, key)) addLock(locks, { ...lock, task: key });
  for (const rival of rivals) addLock(locks, rival);
  const copied = run && {
    ...run,
    tasks: [...run.tasks],
    deltas: {},
    pastDeltas: {},
    index: JSON.parse(JSON.stringify(run.index)) as RunIndex,
    counts: { ...run.counts, denies: {} },
  };
  return {
    ...ledger,
    tasks,
    runs: copied ? { [nameKey(name)]: copied } : {},
    locks,
    ready: {},
    fences: {},
    waiting: { ...ledger.waiting },
  };
}

/** For each path that a touched task may come to want, one lock in its way that the stream cannot take away. */
function rivalsOf({ tasks, locks }: Ledger, touched: ReadonlySet<string>): readonly TaskLock[] {
  return [...touched].flatMap((key) => {
    const task = tasks[key];
    if (!task) return [];
    return wantedLocks(task).flatMap((lock) => rivalOf(locks, { ...lock, task: key }, touched) ?? []);
  });
}
