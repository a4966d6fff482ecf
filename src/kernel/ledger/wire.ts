// The ledger in the words of the operator contract: rows, locks, assignments, codes, and the bundle from which a new session
// continues a run without the conversation before it.
import { OPERATOR_CODES, type OperatorCode, type OperatorRule } from '../codes/operator.ts';
import type { Retry } from '../codes/row.ts';
import { CODES, type Code } from '../codes.ts';
import type { Json, JsonObject } from '../json.ts';
import { locksOf, MAIN_ROOT, seenFrom } from './lock-tree.ts';
import { inOrder } from './rank.ts';
import { forbiddenText } from './scope.ts';
import { isTerminal, type Ledger, runOf, type Task, taskOf, tasksOf } from './state.ts';

const SCHEMA_VERSION = '1.0.0';

/** By task id, the last sign of life of the owner, in milliseconds. A claim counts as one. */
export type Heartbeats = Readonly<Record<string, number>>;

/** The rows of a run: what reconciliation and the watchdog ask for, and what a list shows. */
export function ledgerRows(ledger: Ledger, run: string, heartbeats: Heartbeats = {}): JsonObject[] {
  return tasksOf(ledger, run).map((task) => ({
    ...rowOf(task, heartbeats),
    type: task.type,
    dependencies: task.dependencies,
    version: task.version,
    retry_count: task.retries,
    ...(task.code === null ? { code: null } : contractCode(task.code)),
    reason: task.reason,
    fence: task.fence,
    acceptance_criteria: task.criteria,
    worklog_path: task.worklogPath,
  }));
}

/**
 * Whether a name has a form of the contract. Older programs called the row of a blocked turn `turn-N`; such a row cannot be
 * in a packet.
 */
export function isNamedByContract(task: string): boolean {
  return !task.startsWith('turn-');
}

type LockFilter = { readonly run?: string; readonly root?: string };

/**
 * The records of the write locks, of all runs or of one, in all roots or in one. The contract knows no readers, so that
 * records of two of them would look like a conflict. Nor does it know roots: a lock elsewhere than in the workspace itself
 * says so in `x_root`, because the same path below two roots is two places.
 */
export function lockRows(ledger: Ledger, { run, root }: LockFilter = {}): JsonObject[] {
  return heldLocks(ledger, run)
    .filter(({ mode }) => mode === 'write')
    .flatMap((lock) => {
      const resource = root === undefined ? lock.path : seenFrom(root, lock);
      const elsewhere = root === undefined && lock.root !== MAIN_ROOT ? { x_root: lock.root } : {};
      return resource === null ? [] : [{ task_id: lock.task, resource, active: true, ...elsewhere }];
    });
}

export type HeldLock = {
  readonly run: string;
  readonly task: string;
  readonly owner: string;
  readonly fence: number | null;
  readonly root: string;
  readonly path: string;
  readonly mode: 'write' | 'read';
  readonly since: number | null;
};

/** Every lock that is held, by age of the tasks and in the order of their scopes. */
export function heldLocks(ledger: Ledger, run?: string): HeldLock[] {
  return holders(ledger, run)
    .sort((a, b) => a.order - b.order)
    .flatMap(({ run, id, owner, fence, claimedAt }) =>
      locksOf(ledger.locks, `${run}/${id}`).map((lock) => ({ run, task: id, owner, fence, ...lock, since: claimedAt })),
    );
}

/** Of one run, tasks in progress hold locks, and such with which something is wrong. */
function holders(ledger: Ledger, run: string | undefined): Task[] {
  if (run === undefined) return Object.keys(ledger.locks.held).flatMap((key) => ledger.tasks[key] ?? []);
  const { atWork = {}, suspects = {} } = runOf(ledger, run)?.index ?? {};
  const ids = new Set([...Array.from(inOrder(atWork), ({ id }) => id), ...Object.values(suspects)]);
  return [...ids].flatMap((id) => taskOf(ledger, run, id) ?? []);
}

/** The packet by which the task was assigned, with the locks that others of its run hold now. */
export function assignmentOf(ledger: Ledger, task: Task): JsonObject {
  const { run, id } = task;
  const locks = lockRows(ledger, { run, root: task.root }).filter(({ task_id }) => task_id !== id);
  const wanted: Record<string, Json> = {
    task_id: id,
    title: task.title,
    type: task.type,
    dependencies: task.dependencies,
    // Every packet names a path. A task that changes nothing else may still write its worklog.
    lock_scope: task.lockScope.length > 0 ? task.lockScope : [task.worklogPath].filter((path) => path !== ''),
    forbidden_scope: forbiddenText(task),
    acceptance_criteria: task.criteria,
    worklog_path: task.worklogPath,
    timeout_seconds: task.timeoutS,
    heartbeat_interval_seconds: task.heartbeatS,
    priority: task.priority,
  };
  if (task.reportPath !== null) wanted.report_path = task.reportPath;
  if (task.readScope.length > 0) wanted.x_read_scope = task.readScope;
  if (Object.keys(task.checkers).length > 0) wanted.x_checkers = task.checkers;
  return {
    schema_version: SCHEMA_VERSION,
    run_id: runOf(ledger, run)?.runId ?? run,
    packet_type: 'assignment',
    global_objective: task.objective,
    task: wanted,
    active_locks: locks,
    context_package: task.context,
    required_output_schema: 'subagent_result_v1',
  };
}

type BundleOptions = {
  readonly constraints?: JsonObject;
  readonly heartbeats?: Heartbeats;
  readonly at?: number;
};

/** The fresh-context bundle of a run. Without an objective of its own it takes that of the oldest assignment. */
export function bundleOf(ledger: Ledger, run: string, objective = '', options: BundleOptions = {}): JsonObject {
  const tasks = tasksOf(ledger, run).filter(({ id }) => isNamedByContract(id));
  const open = tasks.filter(({ status }) => !isTerminal(status));
  const known = tasks.find((task) => task.objective !== '')?.objective;
  return {
    schema_version: SCHEMA_VERSION,
    run_id: runOf(ledger, run)?.runId ?? run,
    ...(options.at === undefined ? {} : { generated_at: new Date(options.at).toISOString() }),
    objective: objective.trim() === '' ? (known ?? 'not stated') : objective,
    constraints: { ...statedIn(open), ...options.constraints },
    ledger: tasks.map((task) => ({ ...rowOf(task, options.heartbeats ?? {}), ...packetParts(task) })),
    active_locks: lockRows(ledger, { run }),
    dependencies: tasks.flatMap(({ id, dependencies }) =>
      dependencies.map((other) => ({ task_id: id, depends_on_task_id: other })),
    ),
    open_blockers: tasks
      .filter(({ status }) => status === 'blocked')
      .map(({ id, code, reason }) => ({
        task_id: id,
        ...contractCode(code ?? 'MISSING_REQUIRED_INPUT'),
        reason: reason.trim() === '' ? 'no reason was given' : reason,
      })),
    acceptance_targets: open.map(({ id, criteria }) => ({ task_id: id, criteria })),
  };
}

const STATED_MAX = 50;

/** The constraints that the packets of open tasks bring along, each once. */
function statedIn(open: readonly Task[]): JsonObject {
  const given = open.flatMap(({ context }) => context.filter(({ kind }) => kind === 'constraint'));
  const stated = [...new Set(given.map(({ value }) => String(value)))];
  return stated.length === 0 ? {} : { stated: stated.slice(0, STATED_MAX) };
}

/** What the packet of a task has and the row of the contract lacks, so that the packet can be built from the bundle alone. */
function packetParts(task: Task): JsonObject {
  const { type, root, objective, reportPath, readScope, checkers, context } = task;
  return {
    x_type: type,
    x_forbidden_scope: forbiddenText(task),
    x_worklog_path: task.worklogPath,
    x_context_package: context,
    ...(objective === '' ? {} : { x_objective: objective }),
    ...(root === MAIN_ROOT ? {} : { x_root: root }),
    ...(reportPath === null ? {} : { x_report_path: reportPath }),
    ...(readScope.length === 0 ? {} : { x_read_scope: readScope }),
    ...(Object.keys(checkers).length === 0 ? {} : { x_checkers: checkers }),
  };
}

function rowOf(task: Task, heartbeats: Heartbeats): JsonObject {
  const { id, claimedAt } = task;
  const beat = (Object.hasOwn(heartbeats, id) ? heartbeats[id] : claimedAt) ?? 0;
  return {
    task_id: id,
    title: task.title,
    status: task.status,
    owner: task.owner,
    lock_scope: task.lockScope,
    timeout_seconds: task.timeoutS,
    heartbeat_interval_seconds: task.heartbeatS,
    priority: task.priority,
    last_heartbeat_at: claimedAt === null ? null : new Date(beat).toISOString(),
  };
}

/** Under which code a refusal by each rule of a gate is stored. */
export const CODE_OF_RULE: Readonly<Record<OperatorRule, OperatorCode>> = {
  'R-PD-001': 'MISSING_REQUIRED_INPUT',
  'R-PD-002': 'SCHEMA_INVALID',
  'R-PD-003': 'LOCK_CONFLICT',
  'R-PD-004': 'SCOPE_VIOLATION',
  'R-PD-005': 'SCHEMA_INVALID',
  'R-PD-006': 'SCHEMA_INVALID',
  'R-PD-007': 'SCHEMA_INVALID',
  'R-PE-001': 'DEPENDENCY_NOT_MET',
  'R-PW-001': 'SCOPE_VIOLATION',
  'R-PW-002': 'SCOPE_VIOLATION',
  'R-PO-001': 'SCHEMA_INVALID',
  'R-PO-002': 'SCOPE_VIOLATION',
  'R-PO-003': 'NON_COMPLIANT',
  'R-PO-004': 'UNTRUSTED_CONTEXT_BLOCK',
  'R-PC-001': 'ACCEPTANCE_FAILED',
  'R-PC-002': 'ACCEPTANCE_FAILED',
  'R-PC-003': 'ACCEPTANCE_FAILED',
  'R-LK-001': 'LOCK_CONFLICT',
  'R-WD-001': 'TASK_TIMEOUT',
  'R-WD-002': 'SCHEMA_INVALID',
};

/** Codes that say more plainly than their kind of retry what they come to. */
const NEAREST: Readonly<Partial<Record<Code, OperatorCode>>> = {
  CONTRACT_VIOLATION: 'SCHEMA_INVALID',
  AGENT_FAILED: 'TASK_TIMEOUT',
  AGENT_CRASHED: 'TASK_TIMEOUT',
  AGENT_TIMEOUT: 'TASK_TIMEOUT',
  NO_OUTPUT: 'TASK_TIMEOUT',
  ILLEGAL_TRANSITION: 'INVALID_TRANSITION',
  WRITE_NOT_PERMITTED: 'SCOPE_VIOLATION',
  APPROVER_IS_AGENT: 'NON_COMPLIANT',
};

/** For any other code: whether the cause passes, is in the payload, needs a person, or is final. */
const BY_RETRY: Readonly<Record<Retry, OperatorCode>> = {
  later: 'TASK_TIMEOUT',
  repaired: 'SCHEMA_INVALID',
  person: 'MISSING_REQUIRED_INPUT',
  never: 'NON_COMPLIANT',
};

type ContractCode = { readonly code: OperatorCode; readonly x_code?: Code };

export function contractCode(code: Code): ContractCode {
  if (isOperatorCode(code)) return { code };
  const rules: Readonly<Record<string, OperatorCode>> = CODE_OF_RULE;
  return { code: NEAREST[code] ?? rules[code] ?? BY_RETRY[CODES[code].retry], x_code: code };
}

function isOperatorCode(code: Code): code is OperatorCode {
  return Object.hasOwn(OPERATOR_CODES, code);
}
