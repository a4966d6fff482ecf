// Checks of a whole ledger: whether rows, locks and events agree, and which tasks in progress are silent for too long.
import type { OperatorCode } from '../../kernel/codes/operator.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { isAhead, isSilent, SKEW_MS_MAX } from '../../kernel/ledger/move.ts';
import { normalPath, PATH_FAULTS } from '../../kernel/ledger/path.ts';
import { unmetOf } from '../../kernel/ledger/run-index.ts';
import { isTaskStatus, isTerminal, moveOf } from '../../kernel/ledger/state.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { type OperatorOptions, RECONCILE, SILENT, WATCHDOG } from './contract.ts';
import {
  checkExtensions,
  checkMembers,
  checkOptionalHead,
  elementsOf,
  instantOf,
  isTaskId,
  OperatorFindings,
  payloadOf,
} from './findings.ts';
import { activeLocks, conflictsOf } from './locks.ts';

type Row = {
  readonly id: string;
  readonly status: Json | undefined;
  readonly dependencies: readonly string[];
  readonly index: number;
};
type Issue = { readonly code: OperatorCode; readonly message: string; readonly [detail: string]: JsonObject[string] };

const LISTED_MAX = 1000;

/** Checks `{ledger, active_locks?, events?}`. */
export function validateReconcile(input: unknown, options: OperatorOptions = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const { payload } = given;
  const found = new OperatorFindings(options);
  const refusal = found.through([
    () => {
      if (Array.isArray(payload.ledger)) return;
      found.add('MISSING_REQUIRED_INPUT', 'ledger', 'must be there and be an array', { missing: ['ledger'] });
    },
    () => {
      checkOptionalHead(found, payload, RECONCILE);
      checkExtensions(found, payload, RECONCILE, '');
      for (const name of ['active_locks', 'events']) {
        if (payload[name] !== undefined && !Array.isArray(payload[name])) {
          found.add('SCHEMA_INVALID', name, 'must be an array, or be left out');
        }
      }
    },
  ]);
  if (refusal) return refusal;
  const [ledger, locks, events] = [
    elementsOf(payload.ledger),
    elementsOf(payload.active_locks),
    elementsOf(payload.events),
  ];
  const issues: Issue[] = [];
  const rows = readRows(ledger, issues);
  checkDependencies(rows, issues);
  checkCycles(rows, issues);
  checkLocks(locks, rows, issues);
  checkEvents(events, rows, issues);
  const [first] = issues;
  if (!first) {
    const active = locks.filter((lock) => isObject(lock) && lock.active === true).length;
    const counts = { task_count: ledger.length, active_lock_count: active, event_count: events.length };
    return found.allowed('ledger, locks and events agree', counts);
  }
  const more = issues.length === 1 ? '' : ` (and ${issues.length - 1} more)`;
  const omitted = issues.length > LISTED_MAX ? { omitted: issues.length - LISTED_MAX } : {};
  return deny('LEDGER_INCONSISTENT', `${first.message}${more}.`, { issues: issues.slice(0, LISTED_MAX), ...omitted });
}

/** The rows that can be spoken about; of two with the same id the first stays. */
function readRows(ledger: readonly Json[], issues: Issue[]): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  for (const [index, row] of ledger.entries()) {
    const id = isObject(row) ? row.task_id : undefined;
    if (!isObject(row) || !isTaskId(id)) {
      note(issues, 'SCHEMA_INVALID', `ledger[${index}] must be an object with a task id`, { index });
    } else if (rows.has(id)) {
      note(issues, 'LEDGER_INCONSISTENT', `${id} is in the ledger twice`, { index, task_id: id });
    } else rows.set(id, readRow(row, id, index, issues));
  }
  return rows;
}

function readRow(row: JsonObject, id: string, index: number, issues: Issue[]): Row {
  const { status, dependencies = [], owner } = row;
  const details = { index, task_id: id };
  if (!isTaskStatus(status)) note(issues, 'SCHEMA_INVALID', `${id} has an unknown status`, details);
  const isList = Array.isArray(dependencies) && dependencies.every(isString);
  if (!isList) note(issues, 'SCHEMA_INVALID', `the dependencies of ${id} must be an array of task ids`, details);
  if (status === 'in_progress' && !isText(owner)) {
    note(issues, 'LEDGER_INCONSISTENT', `${id} is in progress without an owner`, details);
  }
  return { id, status, dependencies: isList ? dependencies.filter(isString) : [], index };
}

function checkDependencies(rows: ReadonlyMap<string, Row>, issues: Issue[]): void {
  const statusOf = (id: string) => {
    const status = rows.get(id)?.status;
    return isTaskStatus(status) ? status : undefined;
  };
  for (const { id, status, dependencies, index } of rows.values()) {
    for (const { depends_on, status: depends_on_status } of unmetOf(dependencies, statusOf)) {
      const edge = { index, task_id: id, depends_on };
      if (!rows.has(depends_on)) {
        note(issues, 'LEDGER_INCONSISTENT', `${id} depends on a task that is not in the ledger`, edge);
      } else if (status === 'in_progress' || status === 'done') {
        const message = `${id} is ${status} although ${depends_on} is not done`;
        note(issues, 'DEPENDENCY_NOT_MET', message, { ...edge, depends_on_status });
      }
    }
  }
}

/** Takes away what depends on nothing, again and again; what stays waits for itself. */
function checkCycles(rows: ReadonlyMap<string, Row>, issues: Issue[]): void {
  const waiting = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const { id, dependencies } of rows.values()) {
    const open = [...new Set(dependencies)].filter((other) => rows.has(other));
    waiting.set(id, open.length);
    for (const other of open) {
      const list = dependents.get(other);
      if (list) list.push(id);
      else dependents.set(other, [id]);
    }
  }
  const free = [...waiting].filter(([, count]) => count === 0).map(([id]) => id);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    waiting.delete(id);
    for (const other of dependents.get(id) ?? []) {
      const count = (waiting.get(other) ?? 0) - 1;
      waiting.set(other, count);
      if (count === 0) free.push(other);
    }
  }
  for (const cycle of cyclesIn([...waiting.keys()], rows)) {
    const message = `these tasks wait for each other: ${cycle.slice(0, 10).join(', ')}`;
    note(issues, 'LEDGER_INCONSISTENT', message, { task_id: cycle[0] ?? '', cycle });
  }
}

/** Of tasks that all wait for one of them: the rounds one comes to by following one dependency of each. */
function cyclesIn(ids: readonly string[], rows: ReadonlyMap<string, Row>): readonly string[][] {
  const stuck = new Set(ids);
  const done = new Set<string>();
  const cycles: string[][] = [];
  for (const start of ids) {
    const path = new Map<string, number>();
    let at: string | undefined = start;
    while (at !== undefined && !done.has(at) && !path.has(at)) {
      path.set(at, path.size);
      at = rows.get(at)?.dependencies.find((other) => stuck.has(other));
    }
    const round = at === undefined ? undefined : path.get(at);
    if (round !== undefined) cycles.push([...path.keys()].slice(round));
    for (const id of path.keys()) done.add(id);
  }
  return cycles;
}

function checkLocks(locks: readonly Json[], rows: ReadonlyMap<string, Row>, issues: Issue[]): void {
  for (const [index, lock] of locks.entries()) {
    if (!isObject(lock) || !isTaskId(lock.task_id)) {
      note(issues, 'SCHEMA_INVALID', `active_locks[${index}] must name a task`, { index });
      continue;
    }
    const id = lock.task_id;
    const status = rows.get(id)?.status;
    const details = { index, task_id: id };
    if (!rows.has(id)) {
      note(issues, 'LEDGER_INCONSISTENT', `a lock belongs to ${id}, which is not in the ledger`, details);
    } else if (lock.active === true && isTaskStatus(status) && isTerminal(status)) {
      note(issues, 'LEDGER_INCONSISTENT', `${id} is ${status} and still holds a lock`, details);
    }
    const fault = faultOfLock(lock);
    if (fault) note(issues, 'SCHEMA_INVALID', `active_locks[${index}]${fault}`, details);
  }
  for (const [a, b] of conflictsOf(activeLocks(locks)).pairs) {
    const conflict = { conflict_task_id: b.holder, conflict_resource: b.path };
    const details = { task_id: a.holder, resource: a.path, ...conflict };
    note(issues, 'LOCK_CONFLICT', `${a.holder} and ${b.holder} hold overlapping paths`, details);
  }
}

/** A stated part of a lock must be usable. A missing part is not asked for here. */
function faultOfLock({ resource, active }: JsonObject): string | null {
  if (active !== undefined && typeof active !== 'boolean') return '.active must be true or false';
  if (resource === undefined) return null;
  if (!isString(resource)) return '.resource must be a path';
  const normal = normalPath(resource);
  return normal.ok ? null : `.resource ${PATH_FAULTS[normal.fault]}`;
}

function checkEvents(events: readonly Json[], rows: ReadonlyMap<string, Row>, issues: Issue[]): void {
  for (const [index, event] of events.entries()) {
    if (!isObject(event) || !isTaskId(event.task_id)) {
      note(issues, 'SCHEMA_INVALID', `events[${index}] must name a task`, { index });
      continue;
    }
    const { task_id: id, from_state: from, to_state: to } = event;
    const details = { index, task_id: id };
    if (!rows.has(id)) {
      note(issues, 'LEDGER_INCONSISTENT', `an event belongs to ${id}, which is not in the ledger`, details);
    }
    if (isTaskStatus(from) && isTaskStatus(to) && moveOf(from, to) === 'illegal') {
      note(issues, 'INVALID_TRANSITION', `an event moves ${id} from ${from} to ${to}, which no task can do`, details);
    }
  }
}

function note(issues: Issue[], code: OperatorCode, message: string, details: JsonObject): void {
  issues.push({ code, message, ...details });
}

/** Finds the tasks in progress that have been silent for longer than their limit. The time is an input. */
const TIMEOUT_RULE = 'R-WD-001';
const SKEW_RULE = 'R-WD-002';

type Silent = {
  readonly task_id: string;
  readonly last_heartbeat_at: string;
  readonly timeout_seconds: number;
  readonly age_seconds: number;
};

/** Checks `{now, tasks: [{task_id, status, timeout_seconds, last_heartbeat_at}]}`; `options.now` replaces `now`. */
export function validateWatchdog(input: unknown, options: OperatorOptions = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const { payload } = given;
  const found = new OperatorFindings(options);
  const now = payload.now === undefined ? options.now : payload.now;
  const instant = isString(now) ? instantOf(now) : null;
  const silent: Silent[] = [];
  const refusal = found.through([
    () => checkInputs(found, now, payload.tasks),
    () => {
      checkOptionalHead(found, payload, WATCHDOG);
      checkExtensions(found, payload, WATCHDOG, '');
      if (instant === null) found.add('SCHEMA_INVALID', 'now', 'must be a time, such as 2026-01-31T09:30:00Z');
    },
    // A row that cannot be judged is reported first, and hides none of the silent ones.
    () => silent.push(...findSilent(found, payload.tasks, instant ?? 0)),
    () => {
      if (silent.length > 0) {
        const names = silent.slice(0, 5).map(({ task_id }) => task_id);
        const message = `no heartbeat within the limit: ${names.join(', ')}${silent.length > 5 ? ' and others' : ''}`;
        found.add(TIMEOUT_RULE, 'tasks', message, { contract_code: 'TASK_TIMEOUT', timed_out: silent });
      }
    },
  ]);
  if (!refusal) return found.allowed('no task is silent for too long', { timed_out_count: 0 });
  if (silent.length === 0 || refusal.code === TIMEOUT_RULE) return refusal;
  return { ...refusal, details: { ...refusal.details, timed_out: silent } };
}

function checkInputs(found: OperatorFindings, now: unknown, tasks: Json | undefined): void {
  const missing = [];
  if (!isText(now)) missing.push('now');
  if (!Array.isArray(tasks)) missing.push('tasks');
  if (missing.length === 0) return;
  const message = `required: ${missing.join(', ')}; now is a time and tasks is an array`;
  found.add('MISSING_REQUIRED_INPUT', '$', message, { missing });
}

function findSilent(found: OperatorFindings, tasks: Json | undefined, now: number): readonly Silent[] {
  const rows = elementsOf(tasks);
  return rows.flatMap((task, index) => {
    const path = `tasks[${index}]`;
    if (!isObject(task)) {
      found.add('SCHEMA_INVALID', path, 'must be an object', { index });
      return [];
    }
    return task.status === 'in_progress' ? judge(found, task, path, index, now) : [];
  });
}

function judge(found: OperatorFindings, task: JsonObject, path: string, index: number, now: number): readonly Silent[] {
  const { task_id, timeout_seconds, last_heartbeat_at } = task;
  const before = found.count;
  checkMembers(found, task, SILENT, ['task_id'], { at: path, details: { index } });
  checkMembers(found, task, SILENT, ['timeout_seconds'], { at: path });
  checkMembers(found, task, SILENT, ['last_heartbeat_at'], { at: path, details: { index } });
  const heartbeat = isString(last_heartbeat_at) ? instantOf(last_heartbeat_at) : null;
  if (heartbeat === null || found.count > before || !isString(task_id) || !isString(last_heartbeat_at)) return [];
  const age_seconds = now - heartbeat;
  if (isAhead(heartbeat * 1000, now * 1000)) {
    const message = `lies ${-age_seconds} s in the future; at most ${SKEW_MS_MAX / 1000} s of skew are tolerated`;
    const details = { index, contract_code: 'SCHEMA_INVALID', task_id, age_seconds };
    found.add(SKEW_RULE, `${path}.last_heartbeat_at`, message, details);
  }
  const limit = Number(timeout_seconds);
  return isSilent(age_seconds, limit) ? [{ task_id, last_heartbeat_at, timeout_seconds: limit, age_seconds }] : [];
}
