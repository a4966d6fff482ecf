// The tasks and locks of a workspace: who owns which task and which paths, since when, and its status. Plain JSON, so a
// snapshot is its canonical text and nothing may depend on the order of keys. Names from outside become keys only together
// with a slash, which no inherited member contains.
import type { Code } from '../codes.ts';
import type { JsonObject } from '../json.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { type Lock, type LockTree, newLockTree } from './lock-tree.ts';

export const PRIORITIES = ['low', 'normal', 'high', 'critical'] as const;
export type Priority = (typeof PRIORITIES)[number];
type TaskType = 'parallelizable' | 'serial';

/** The owner of an unclaimed task. */
export const UNASSIGNED = 'unassigned';

export type Ledger = {
  /** By run and id: see `taskKey`. */
  readonly tasks: Record<string, Task>;
  readonly runs: Record<string, Run>;
  locks: LockTree;
  /** The last token that was given to a claim; it only ever grows. */
  fence: number;
  created: number;
  hold: Pause | null;
  /** The tasks that may be handed out, and those that were refused their locks and have not had them since. */
  readonly ready: Record<string, true>;
  readonly waiting: Record<string, true>;
  /** By token, the task in progress under it. */
  readonly fences: Record<string, string>;
};

type Pause = { readonly by: string; readonly reason: string };

/** What a task asks for, as its assignment says. Paths are in their normal form. */
export type TaskSpec = {
  readonly title: string;
  readonly type: TaskType;
  readonly priority: Priority;
  readonly dependencies: readonly string[];
  readonly root: string;
  readonly lockScope: readonly string[];
  readonly readScope: readonly string[];
  readonly forbidden: readonly string[];
  readonly criteria: readonly string[];
  /** By criterion, the name of the checker that verifies it. */
  readonly checkers: Readonly<Record<string, string>>;
  readonly timeoutS: number;
  readonly heartbeatS: number;
  readonly worklogPath: string;
  readonly reportPath: string | null;
  readonly objective: string;
  readonly context: readonly JsonObject[];
  readonly retriesMax: number;
  /** Whether its run does one thing at a time, so that no other task of the run is in its way. */
  readonly sequential: boolean;
  /** False for a row that a delta created and that no assignment has filled in yet. */
  readonly assigned: boolean;
  /** Made by a cast from an item or a turn, and by no packet, so its id was not known before. */
  readonly own?: boolean;
};

export type Task = TaskSpec & {
  readonly run: string;
  readonly id: string;
  /** The place in the order of creation, over all runs. */
  readonly order: number;
  status: TaskStatus;
  owner: string;
  /** Grows by one with every transition. */
  version: number;
  /** How often the task was blocked; it never shrinks. */
  retries: number;
  /** The token of the present claim, and that of the last one. */
  fence: number | null;
  lastFence: number | null;
  code: Code | null;
  reason: string;
  /** The fingerprint of the result that ended the task, where a result did. */
  result?: string;
  /** The task is not to be claimed before this time. */
  notBefore: number | null;
  claimedAt: number | null;
  /** How often the task was refused its locks since it last had them, since when, and when last. */
  passedOver: number;
  waitingSince: number | null;
  refusedAt: number | null;
  worklog: { readonly entries: number; readonly code: string | null };
};

export type Run = {
  readonly id: string;
  /** The id by which packets and results name the run; for a run by hand it is the same. */
  runId: string;
  /** Whether the run belongs to a cast. Then only the cast decides about its tasks. */
  readonly cast: boolean;
  /** Task ids in the order of creation. */
  readonly tasks: string[];
  open: number;
  running: number;
  /** The serial task in progress. */
  serial: string | null;
  /** The canonical text of each delta that was applied, by its id; of a run without open tasks only the ids are kept. */
  deltas: Record<string, string>;
  readonly pastDeltas: Record<string, true>;
  readonly index: RunIndex;
  readonly counts: Counts;
};

/** What answers questions about a run without a walk over its tasks. `apply` keeps it; see `run-index.ts`. */
export type RunIndex = {
  /** Tasks that are not over, and those of them in progress. */
  readonly open: OrderTree;
  readonly atWork: OrderTree;
  /** Assigned tasks in todo: those whose dependencies are done, and those that wait for one. */
  readonly startable: RankTree;
  readonly unmet: RankTree;
  /** Rows in todo that no packet has filled in. */
  readonly unassigned: OrderTree;
  /** By task, those that came to depend on it before it was done. */
  readonly dependents: Record<string, Record<string, string>>;
  /** The tasks among them that do not exist. */
  readonly missing: Record<string, string>;
  /** Tasks that did not hold together with the rest when they, or locks in their way, changed last. */
  readonly suspects: Record<string, string>;
  /** How many tasks name a path as their worklog or report. */
  readonly files: Record<string, number>;
};

/** Tasks by the digits of their number; at the leaves, their ids. */
export type OrderTree = { [digit: number]: OrderTree | string };
type RankTree = Readonly<Record<Priority, OrderTree>>;

export type Counts = {
  packets: number;
  packetsRefused: number;
  dispatches: number;
  conflicts: number;
  denies: Record<string, number>;
  retries: number;
  retriesDone: number;
  firstAttempts: number;
  firstPasses: number;
  /** Of parallelizable tasks that were done: how many, and how long they took from claim to end. */
  timed: number;
  timedMs: number;
};

export function emptyLedger(foldCase = false): Ledger {
  return {
    tasks: {},
    runs: {},
    locks: newLockTree(foldCase),
    fence: 0,
    created: 0,
    hold: null,
    ready: {},
    waiting: {},
    fences: {},
  };
}

/** Of a task that waits for no locks. */
export const NOT_WAITING = { passedOver: 0, waitingSince: null, refusedAt: null } as const;

export function newTask(
  spec: TaskSpec,
  row: Pick<Task, 'run' | 'id' | 'order' | 'owner' | 'reason' | 'notBefore'>,
): Task {
  return {
    ...spec,
    ...row,
    status: 'todo',
    version: 0,
    retries: 0,
    fence: null,
    lastFence: null,
    code: null,
    claimedAt: null,
    ...NOT_WAITING,
    worklog: { entries: 0, code: null },
  };
}

export function newRun(id: string, { runId, cast }: Pick<Run, 'runId' | 'cast'>): Run {
  return {
    id,
    runId,
    cast,
    tasks: [],
    open: 0,
    running: 0,
    serial: null,
    deltas: {},
    pastDeltas: {},
    index: newRunIndex(),
    counts: newCounts(),
  };
}

export function newCounts(): Counts {
  return {
    packets: 0,
    packetsRefused: 0,
    dispatches: 0,
    conflicts: 0,
    denies: {},
    retries: 0,
    retriesDone: 0,
    firstAttempts: 0,
    firstPasses: 0,
    timed: 0,
    timedMs: 0,
  };
}

function newRunIndex(): RunIndex {
  return {
    open: {},
    atWork: {},
    startable: newRankTree(),
    unmet: newRankTree(),
    unassigned: {},
    dependents: {},
    missing: {},
    suspects: {},
    files: {},
  };
}

function newRankTree(): RankTree {
  return { low: {}, normal: {}, high: {}, critical: {} };
}

export function taskKey(run: string, id: string): string {
  return `${run}/${id}`;
}

export function keyOf({ run, id }: Pick<Task, 'run' | 'id'>): string {
  return taskKey(run, id);
}

/** The key of a single name. */
export function nameKey(name: string): string {
  return `${name}/`;
}

export function fenceKey(fence: number): string {
  return nameKey(String(fence));
}

export function taskOf(ledger: Ledger, run: string, id: string): Task | undefined {
  return ledger.tasks[taskKey(run, id)];
}

export function runOf(ledger: Ledger, run: string): Run | undefined {
  return ledger.runs[nameKey(run)];
}

/** The tasks of a run in the order of creation. */
export function tasksOf(ledger: Ledger, run: string): readonly Task[] {
  return (runOf(ledger, run)?.tasks ?? []).flatMap((id) => taskOf(ledger, run, id) ?? []);
}

export function locksToTake({ root, lockScope, readScope }: TaskSpec): readonly Lock[] {
  return [
    ...lockScope.map((path): Lock => ({ root, path, mode: 'write' })),
    ...readScope.map((path): Lock => ({ root, path, mode: 'read' })),
  ];
}

const COMMAND_RUN = /^(?:merge|undo)-/;

/** The run under which `merge` or `undo` locks paths in the project itself, for one cast. */
export function commandRun(command: 'merge' | 'undo', cast: string): string {
  return `${command}-${cast}`;
}

/** The runs that people and casts work on. Runs that only hold the locks of a command are left out. */
export function workRuns(ledger: Ledger): readonly Run[] {
  return Object.values(ledger.runs).filter(({ id, cast }) => cast || !COMMAND_RUN.test(id));
}

export type TaskName = { readonly run?: string; readonly task: string };
type Lookup = { readonly ok: true; readonly task: Task } | { readonly ok: false; readonly refusal: Denied };

/** Finds a task by its id, in the run that is named or in the only run in which it can be meant. */
export function findTask(ledger: Ledger, { run, task: id }: TaskName): Lookup {
  const runs = run === undefined ? workRuns(ledger).map((each) => each.id) : [run];
  const found = runs.flatMap((each) => taskOf(ledger, each, id) ?? []).sort((a, b) => a.order - b.order);
  const open = found.filter(({ status }) => !isTerminal(status));
  const [task, another] = open.length > 0 ? open : found;
  if (task && !another) return { ok: true, task };
  if (task) {
    const names = found.map((each) => each.run);
    const reason = `${id} is in ${names.length} runs; name the one that you mean.`;
    return { ok: false, refusal: deny('LEDGER_INCONSISTENT', reason, { task: id, runs: names.slice(0, 20) }) };
  }
  const where = run === undefined ? 'the ledger' : `run ${run}`;
  const reason = `There is no task ${id} in ${where}; create it first, or correct the id.`;
  return { ok: false, refusal: deny('LEDGER_INCONSISTENT', reason, { run: run ?? null, task: id }) };
}

/** The statuses of a task. Repeating a final status is a harmless replay; repeating any other is no move. */
export const TASK_STATUSES = ['todo', 'in_progress', 'blocked', 'done', 'failed', 'canceled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
type Move = 'move' | 'replay' | 'illegal';

const MOVES: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  todo: ['in_progress', 'blocked', 'failed', 'canceled'],
  in_progress: ['blocked', 'done', 'failed', 'canceled'],
  blocked: ['todo', 'in_progress', 'failed', 'canceled'],
  done: [],
  failed: [],
  canceled: [],
};

export function isTaskStatus(value: unknown): value is TaskStatus {
  return TASK_STATUSES.some((status) => status === value);
}

export function isTerminal(status: TaskStatus): boolean {
  return MOVES[status].length === 0;
}

/** The statuses a task may move to. */
function movesFrom(status: TaskStatus): readonly TaskStatus[] {
  return MOVES[status];
}

export function moveOf(from: TaskStatus, to: TaskStatus): Move {
  if (from === to) return isTerminal(from) ? 'replay' : 'illegal';
  return MOVES[from].includes(to) ? 'move' : 'illegal';
}

/** Whether a task may go from one status to another; a replay is allowed and marked as such. */
export function mayMove(from: TaskStatus, to: TaskStatus): Verdict {
  const allowed = movesFrom(from);
  const move = moveOf(from, to);
  if (move !== 'illegal') return allow(`${from} → ${to}`, { from, to, replay: move === 'replay' });
  const moves = allowed.length === 0 ? `${from} is final` : `from ${from} it may go to ${allowed.join(', ')}`;
  return deny('INVALID_TRANSITION', `A task cannot go from ${from} to ${to}: ${moves}.`, { from, to, allowed });
}

/** Runs in which nothing is open, by hand and not of a cast, in the order in which they were opened. */
export function closedRuns(ledger: Ledger): readonly string[] {
  return Object.values(ledger.runs)
    .filter(({ open, cast }) => open === 0 && !cast)
    .map(({ id }) => id);
}

/** Only for a run in which nothing is in progress: its locks were given back. */
export function forgetRun(ledger: Ledger, id: string): void {
  for (const task of runOf(ledger, id)?.tasks ?? []) {
    const key = taskKey(id, task);
    delete ledger.tasks[key];
    delete ledger.ready[key];
    delete ledger.waiting[key];
  }
  delete ledger.runs[nameKey(id)];
}

/** The keys of all tasks of these runs. */
export function keysOfRuns(ledger: Ledger, ids: readonly string[]): ReadonlySet<string> {
  return new Set(ids.flatMap((id) => (runOf(ledger, id)?.tasks ?? []).map((task) => taskKey(id, task))));
}
