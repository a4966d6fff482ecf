// Making a row of the ledger out of an assignment.
import { isObject, isString, isText, type Json, type JsonObject } from '../json.ts';
import { truncate } from '../text.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { type LedgerPen, type RequestOf, refuse } from './fact.ts';
import { keyIn, MAIN_ROOT } from './lock-tree.ts';
import { normalPath, PATH_FAULTS } from './path.ts';
import { refusalOfCycle } from './run-index.ts';
import { refusalOfGoverning, refusalOfTaskFiles } from './scope.ts';
import { type Ledger, PRIORITIES, runOf, type Task, type TaskSpec, taskOf, UNASSIGNED } from './state.ts';

const RETRIES_MAX = 1;
/** No real path is longer or deeper; the tree of locks is as deep as the deepest path. */
export const PATH_CHARS_MAX = 4096;
export const PATH_SEGMENTS_MAX = 200;
/** The limits of a row that has no assignment yet. */
const TIMEOUT_S = 1800;
const HEARTBEAT_S = 120;
const TITLE_CHARS_MAX = 500;

export function createTask(pen: LedgerPen, request: RequestOf<'task.create'>): Verdict {
  const { packet } = request;
  const task = isObject(packet.task) ? packet.task : {};
  const [run, id] = [text(packet.run_id), text(task.task_id)];
  const twin = refusalOfTwin(pen, run, id, request.reassigns === true);
  if (twin) return refuse(pen, 'create', { run, task: id }, twin);
  const read = specOf(packet, task, request, taskOf(pen.ledger, run, id));
  if (!read.ok) return refuse(pen, 'create', { run, task: id }, read.refusal);
  const { spec } = read;
  const refusal =
    refusalOfGoverning(id, spec.lockScope, keyIn(pen.ledger.locks, spec.root)) ??
    refusalOfTaskFiles(id, spec) ??
    refusalOfCycle(pen.ledger, run, id, spec.dependencies);
  if (refusal) return refuse(pen, 'create', { run, task: id }, refusal);
  const row = { owner: UNASSIGNED, reason: 'assigned', notBefore: null };
  pen.write({ kind: 'task.created', run, task: id, ...row, spec, ...reopening(pen.ledger, run) });
  return allow(`${id} is in the ledger`, { run, task: id, version: taskOf(pen.ledger, run, id)?.version ?? 0 });
}

/** Whether a new task opens a run again in which everything was over. */
export function reopening(ledger: Ledger, run: string): { readonly reopens?: true } {
  const known = runOf(ledger, run);
  return known && known.open === 0 && known.tasks.length > 0 ? { reopens: true } : {};
}

/** A row without an assignment, as a delta makes it. */
export function bareSpec(title: string): TaskSpec {
  return {
    title: truncate(title, TITLE_CHARS_MAX),
    type: 'parallelizable',
    priority: 'normal',
    dependencies: [],
    root: MAIN_ROOT,
    lockScope: [],
    readScope: [],
    forbidden: [],
    criteria: [],
    checkers: {},
    timeoutS: TIMEOUT_S,
    heartbeatS: HEARTBEAT_S,
    worklogPath: '',
    reportPath: null,
    objective: '',
    context: [],
    retriesMax: RETRIES_MAX,
    sequential: false,
    assigned: false,
  };
}

/** An assignment makes a new row, or fills in one that only a delta has announced. */
function refusalOfTwin(pen: LedgerPen, run: string, id: string, reassigns: boolean): Denied | null {
  const existing = taskOf(pen.ledger, run, id);
  const isOpen = existing?.status === 'todo' || existing?.status === 'blocked';
  const mayFillIn = existing && isOpen && (reassigns || !existing.assigned);
  if (!existing || mayFillIn) return null;
  const reason = `${id} stands in the ledger of this run already (${existing.status}); use a new task id.`;
  return deny('LEDGER_INCONSISTENT', reason, { run, task: id, status: existing.status, version: existing.version });
}

type SpecReading = { readonly ok: true; readonly spec: TaskSpec } | { readonly ok: false; readonly refusal: Denied };

function specOf(
  packet: JsonObject,
  task: JsonObject,
  request: RequestOf<'task.create'>,
  existing: Task | undefined,
): SpecReading {
  const lockScope = pathsOf(task.lock_scope, 'task.lock_scope');
  if (!lockScope.ok) return lockScope;
  const readScope = pathsOf(task.x_read_scope ?? packet.x_read_scope ?? [], 'x_read_scope');
  if (!readScope.ok) return readScope;
  const forbidden = pathsOf(task.forbidden_scope, 'task.forbidden_scope');
  if (!forbidden.ok) return forbidden;
  const spec: TaskSpec = {
    title: text(task.title),
    type: task.type === 'serial' ? 'serial' : 'parallelizable',
    priority: PRIORITIES.find((priority) => priority === task.priority) ?? 'normal',
    dependencies: [...new Set(texts(task.dependencies))],
    root: request.root ?? MAIN_ROOT,
    lockScope: lockScope.paths,
    readScope: readScope.paths,
    forbidden: [...new Set([...forbidden.paths, ...(request.forbidden ?? [])])],
    criteria: texts(task.acceptance_criteria),
    checkers: { ...checkersOf(packet.x_checkers), ...checkersOf(task.x_checkers) },
    timeoutS: numberOf(task.timeout_seconds, TIMEOUT_S),
    heartbeatS: numberOf(task.heartbeat_interval_seconds, HEARTBEAT_S),
    worklogPath: text(task.worklog_path),
    reportPath: isText(task.report_path) ? task.report_path : null,
    objective: text(packet.global_objective),
    context: Array.isArray(packet.context_package) ? packet.context_package.filter(isObject) : [],
    retriesMax: request.retriesMax ?? RETRIES_MAX,
    sequential: false,
    assigned: true,
    // A packet for a task that a cast had made of an item takes its place.
    ...(existing?.own ? { own: false } : {}),
  };
  return { ok: true, spec };
}

type PathsReading = { readonly ok: true; readonly paths: readonly string[] } | Extract<SpecReading, { ok: false }>;

/** The normal forms of a scope, each once, or the first fault. */
function pathsOf(scope: Json | undefined, field: string): PathsReading {
  const fault = (path: string, message: string): PathsReading => {
    return { ok: false, refusal: deny('SCHEMA_INVALID', `${path} ${message}.`, { path }) };
  };
  if (!Array.isArray(scope)) return fault(field, 'must be an array of paths');
  const paths = new Set<string>();
  for (const [index, item] of scope.entries()) {
    const place = `${field}[${index}]`;
    const normal = isString(item) ? normalPath(item) : null;
    if (!normal?.ok) return fault(place, normal ? PATH_FAULTS[normal.fault] : 'must be a path');
    const { path } = normal;
    if (path.length > PATH_CHARS_MAX || path.split('/').length > PATH_SEGMENTS_MAX) {
      return fault(place, `may have at most ${PATH_CHARS_MAX} characters and ${PATH_SEGMENTS_MAX} segments`);
    }
    paths.add(path);
  }
  return { ok: true, paths: [...paths] };
}

function checkersOf(value: Json | undefined): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).flatMap(([key, name]) => (isText(name) ? [[key, name]] : [])));
}

function numberOf(value: Json | undefined, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

function text(value: Json | undefined): string {
  return isString(value) ? value : '';
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter(isString) : [];
}
