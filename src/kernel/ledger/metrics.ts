// How a run went, in numbers, beside the levels that are aimed at.
import { newCounts } from './apply.ts';
import { type Counts, type Ledger, runOf, type Task, tasksOf } from './state.ts';
import { TASK_STATUSES, type TaskStatus } from './transition.ts';

export type Objective = {
  readonly name: string;
  /** Between 0 and 1; null while there is nothing to count. */
  readonly value: number | null;
  readonly target: number;
  readonly met: boolean | null;
};

export type Metrics = {
  readonly run: string;
  readonly tasks: number;
  readonly byStatus: Readonly<Record<TaskStatus, number>>;
  readonly dispatches: number;
  readonly lockConflicts: number;
  readonly denies: Readonly<Record<string, number>>;
  /** The refusals by what was broken, as error budgets are kept. */
  readonly families: Readonly<Record<Family, number>>;
  readonly retriesAttempted: number;
  readonly retriesSucceeded: number;
  readonly firstPasses: number;
  /** Of parallelizable tasks, from claim to done. */
  readonly meanLatencyMs: number | null;
  readonly objectives: readonly Objective[];
};

export type Family = 'contract' | 'lock' | 'state' | 'compliance';

const FAMILIES: Readonly<Record<Family, readonly string[]>> = {
  contract: [
    'SCHEMA_INVALID',
    'MISSING_REQUIRED_INPUT',
    'UNKNOWN_SCHEMA_VERSION',
    'NOT_JSON',
    'AMBIGUOUS_OUTPUT',
    'NO_BLOCK',
    'CONTRACT_VIOLATION',
  ],
  lock: ['LOCK_CONFLICT', 'SCOPE_VIOLATION'],
  state: ['DEPENDENCY_NOT_MET', 'INVALID_TRANSITION'],
  compliance: ['NON_COMPLIANT'],
};

export function metricsOf(ledger: Ledger, run: string): Metrics | null {
  const counts = runOf(ledger, run)?.counts;
  return counts ? measured(run, counts, tasksOf(ledger, run)) : null;
}

/** All these runs taken together. */
export function overallMetrics(ledger: Ledger, runs: readonly string[]): Metrics {
  const all = runs.flatMap((run) => runOf(ledger, run)?.counts ?? []);
  const tasks = runs.flatMap((run) => tasksOf(ledger, run));
  return measured('all', all.reduce(added, newCounts()), tasks);
}

function measured(run: string, counts: Counts, tasks: readonly Task[]): Metrics {
  const count = (status: TaskStatus) => tasks.filter((task) => task.status === status).length;
  const claims = counts.dispatches + counts.conflicts;
  return {
    run,
    tasks: tasks.length,
    byStatus: Object.fromEntries(TASK_STATUSES.map((status) => [status, count(status)])) as Record<TaskStatus, number>,
    dispatches: counts.dispatches,
    lockConflicts: counts.conflicts,
    denies: { ...counts.denies },
    families: familiesOf(counts.denies),
    retriesAttempted: counts.retries,
    retriesSucceeded: counts.retriesDone,
    firstPasses: counts.firstPasses,
    meanLatencyMs: counts.timed === 0 ? null : counts.timedMs / counts.timed,
    objectives: [
      atLeast('packets that were valid', counts.packets, counts.packets + counts.packetsRefused, 0.99),
      atMost('claims that met a lock', counts.conflicts, claims, 0.05),
      atLeast('tasks done at the first attempt', counts.firstPasses, counts.firstAttempts, 0.85),
      atLeast('retries that succeeded', counts.retriesDone, counts.retries, 0.6),
    ],
  };
}

function familiesOf(denies: Counts['denies']): Record<Family, number> {
  const total = (codes: readonly string[]) => codes.reduce((sum, code) => sum + (denies[code] ?? 0), 0);
  const { contract, lock, state, compliance } = FAMILIES;
  return { contract: total(contract), lock: total(lock), state: total(state), compliance: total(compliance) };
}

function atLeast(name: string, part: number, whole: number, target: number): Objective {
  const value = whole === 0 ? null : part / whole;
  return { name, value, target, met: value === null ? null : value >= target };
}

function atMost(name: string, part: number, whole: number, target: number): Objective {
  const value = whole === 0 ? null : part / whole;
  return { name, value, target, met: value === null ? null : value <= target };
}

function added(a: Counts, b: Counts): Counts {
  const denies: Record<string, number> = { ...a.denies };
  for (const [code, times] of Object.entries(b.denies)) denies[code] = (denies[code] ?? 0) + times;
  const sum = (name: Exclude<keyof Counts, 'denies'>) => a[name] + b[name];
  return {
    packets: sum('packets'),
    packetsRefused: sum('packetsRefused'),
    dispatches: sum('dispatches'),
    conflicts: sum('conflicts'),
    denies,
    retries: sum('retries'),
    retriesDone: sum('retriesDone'),
    firstAttempts: sum('firstAttempts'),
    firstPasses: sum('firstPasses'),
    timed: sum('timed'),
    timedMs: sum('timedMs'),
  };
}
