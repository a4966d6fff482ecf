// The ledger made from a log: alone for readers of locks, and with counts of refusals for the numbers of a run.
import { dialectCan } from '../capabilities.ts';
import { type Entry, type Fact, timeOf } from '../fact.ts';
import { applyLedger, openRun, planTasks } from './apply.ts';
import { isLedgerFact, type LedgerFact } from './fact.ts';
import {
  type Counts,
  emptyLedger,
  type Ledger,
  newCounts,
  runOf,
  TASK_STATUSES,
  type Task,
  type TaskStatus,
  tasksOf,
} from './state.ts';

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

type Family = 'contract' | 'lock' | 'state' | 'compliance';

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

/** All runs there ever were, for counting, with what the ledger and the gates of casts refused. */
export type Tally = {
  readonly ledger: Ledger;
  /** By run, the time of its first fact. */
  readonly began: Map<string, string>;
  /** By cast, the sockets whose output is a plan: a refused one is a refused packet. */
  readonly planners: Map<string, ReadonlySet<string>>;
  /** Turns whose output is a plan. */
  readonly plans: Set<string>;
  /** Turns that were not dispatched yet, or are to be dispatched again. */
  readonly owed: Set<string>;
  last: Fact | null;
};

export function newTally(): Tally {
  return {
    ledger: emptyLedger(),
    began: new Map(),
    planners: new Map(),
    plans: new Set(),
    owed: new Set(),
    last: null,
  };
}

/** Takes the next entry in. Entries come in the order of the log, from the first on. */
export function count(tally: Tally, entry: Pick<Entry, 'at' | 'clock' | 'fact'>): void {
  const { at, fact } = entry;
  const { ledger, began } = tally;
  if (isLedgerFact(fact)) applyLedger(ledger, fact, timeOf(entry));
  else countCast(tally, fact);
  const run = 'cast' in fact ? fact.cast : 'run' in fact ? fact.run : null;
  if (typeof run === 'string' && !began.has(run) && runOf(ledger, run)) began.set(run, at);
  tally.last = fact;
}

function countCast(tally: Tally, fact: Exclude<Fact, LedgerFact>): void {
  const { ledger, planners, plans, owed } = tally;
  switch (fact.kind) {
    case 'cast.started': {
      openRun(ledger, fact.cast, fact.runId ?? fact.cast);
      const { graph, materia } = fact.rules;
      const plansIn = Object.entries(graph.sockets).filter(
        ([, socket]) => dialectCan(fact, socket.contract, 'assignsTasks') && materia[socket.materia]?.generator,
      );
      planners.set(fact.cast, new Set(plansIn.map(([id]) => id)));
      return;
    }
    case 'items.planned':
      if (fact.spec) planTasks(ledger, fact.cast, fact.tasks, fact.spec, fact.rows);
      return;
    case 'turn.started':
      owed.add(turnKey(fact));
      if (planners.get(fact.cast)?.has(fact.socket)) plans.add(turnKey(fact));
      return;
    case 'turn.reopened':
    case 'attempt.interrupted':
    case 'attempt.lost':
      owed.add(turnKey(fact));
      return;
    case 'attempt.started':
      owed.delete(turnKey(fact));
      return;
    case 'attempt.refused':
      refused(tally, fact.cast, fact.verdict.code);
      if (plans.has(turnKey(fact))) bump(tally, fact.cast, 'packetsRefused');
      return;
    case 'turn.held':
    case 'lanes.held':
      if (!isKnown(tally, fact)) refused(tally, fact.cast, fact.code);
      return;
    case 'cast.failed':
      // Whatever came after a dispatch was counted by itself: a refused answer above, and a fault is no refusal.
      if (fact.turn !== null && owed.has(turnKey({ cast: fact.cast, turn: fact.turn })))
        refused(tally, fact.cast, fact.code);
      return;
  }
}

function refused(tally: Tally, cast: string, code: string): void {
  const counts = runOf(tally.ledger, cast)?.counts;
  if (!counts) return;
  counts.denies[code] = (counts.denies[code] ?? 0) + 1;
  if (code === 'LOCK_CONFLICT') bump(tally, cast, 'conflicts');
}

function bump({ ledger }: Tally, cast: string, name: 'packetsRefused' | 'conflicts'): void {
  const counts = runOf(ledger, cast)?.counts;
  if (counts) counts[name] += 1;
}

/** The ledger refused the task and the cast postponed the turn for it: one refusal in two facts. */
function isKnown({ last }: Tally, { cast, code }: { readonly cast: string; readonly code: string }): boolean {
  return last?.kind === 'task.refused' && last.run === cast && last.code === code;
}

function turnKey({ cast, turn }: { readonly cast: string; readonly turn: number }): string {
  return `${cast}/${turn}`;
}

/**
 * The first words of these kinds. The kind that makes tasks comes last: a reader that reads kind by kind while others append
 * must know every task that a later fact is about.
 */
export const LEDGER_KINDS = [
  ...['worklog.', 'deltas.', 'ledger.', 'task.'],
  ...['items.planned', 'run.named', 'cast.started'],
] as const;

/** Does to the ledger what the fact does to it within the whole state. Facts that do not concern it may be left out. */
export function applyToLedger(ledger: Ledger, entry: Pick<Entry, 'at' | 'clock' | 'fact'>): void {
  const { fact } = entry;
  if (fact.kind === 'cast.started') openRun(ledger, fact.cast, fact.runId ?? fact.cast);
  else if (fact.kind === 'items.planned') {
    if (fact.spec) planTasks(ledger, fact.cast, fact.tasks, fact.spec, fact.rows);
  } else if (fact.kind === 'run.named') {
    const run = runOf(ledger, fact.cast);
    if (run) run.runId = fact.runId;
  } else if (isLedgerFact(fact)) applyLedger(ledger, fact, timeOf(entry));
}
