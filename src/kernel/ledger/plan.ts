// Tasks from an orchestrator: a row from each assignment, and a stream of deltas, applied all or nothing. The deltas go in
// order. One that was applied before is ignored, a row that does not exist is created only by a delta that says so, and a
// stream computed from older rows is refused.
import { canonicalJson, isObject, isString, isText, type Json, type JsonObject } from '../json.ts';
import { truncate } from '../text.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { applyLedger } from './apply.ts';
import { refusalOfClaim, refusalOfOwner, take } from './claim.ts';
import { type LedgerFact, type LedgerPen, type RequestOf, refuse } from './fact.ts';
import { addLock, keyIn, locksOf, MAIN_ROOT, newLockTree, rivalOf, type TaskLock } from './lock-tree.ts';
import { codeOfDelta, reasonOfDelta, refusalOfMove, settle } from './move.ts';
import { normalPath, PATH_FAULTS } from './path.ts';
import { refusalOfCycle, soundnessOf } from './run-index.ts';
import { refusalOfGoverning, refusalOfTaskFiles } from './scope.ts';
import {
  isTaskStatus,
  isTerminal,
  keyOf,
  type Ledger,
  locksToTake,
  nameKey,
  PRIORITIES,
  type RunIndex,
  runOf,
  type Task,
  type TaskSpec,
  taskKey,
  taskOf,
  tasksOf,
  UNASSIGNED,
} from './state.ts';

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
function reopening(ledger: Ledger, run: string): { readonly reopens?: true } {
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
  const reason = `${id} is in the ledger of this run already (${existing.status}); use a new task id.`;
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

type Request = RequestOf<'deltas.apply'>;

export function applyDeltas(pen: LedgerPen, request: Request): Verdict {
  const { run, stream } = request;
  const draft = draftFor(pen, run, stream.map(taskOfDelta));
  const applied = new Map<string, JsonObject>();
  const ignored: string[] = [];
  const touched = new Set<string>();
  for (const [index, delta] of stream.entries()) {
    const [id, deltaId] = [taskOfDelta(delta), String(delta.delta_id)];
    const place = { index, task: id, delta_id: deltaId };
    const refused = (refusal: Denied) =>
      refuse(pen, 'deltas', { run, task: id }, { ...refusal, details: { ...refusal.details, ...place } });
    const seen = seenBefore(pen, run, deltaId, applied.get(deltaId), delta);
    if (seen === 'other') return refused(refusalOfReuse(deltaId));
    if (seen === 'same') {
      ignored.push(deltaId);
      continue;
    }
    const task = taskOf(draft.ledger, run, id);
    const refusal =
      (touched.has(id) ? null : refusalOfBase(request, id, task)) ??
      (task ? change(draft, task, delta, request.blockers ?? []) : create(draft, run, id, delta));
    if (refusal) return refused(refusal);
    touched.add(id);
    applied.set(deltaId, delta);
  }
  for (const fact of draft.facts) pen.write(fact);
  if (applied.size > 0) pen.write({ kind: 'deltas.applied', run, deltas: [...applied.values()] });
  const counts = `${applied.size} deltas applied, ${ignored.length} ignored`;
  const claimed = draft.facts.flatMap((fact) => (fact.kind === 'task.claimed' ? [claimIn(draft, fact)] : []));
  const details = { run, applied: [...applied.keys()], ignored, claimed, reconcile_required: applied.size > 0 };
  return allow(`${counts}; reconcile before dispatching`, details);
}

/** The worker on a task that a delta started needs the fence of its claim. */
function claimIn({ ledger }: LedgerPen, { run, task, owner, fence }: Extract<LedgerFact, { kind: 'task.claimed' }>) {
  return { task, owner, fence, root: taskOf(ledger, run, task)?.root ?? MAIN_ROOT };
}

function taskOfDelta({ task_id }: JsonObject): string {
  return isString(task_id) ? task_id : '';
}

/** Whether a delta with this id was applied before, in this stream or an earlier one, and whether it is the same delta. */
function seenBefore(
  { ledger }: LedgerPen,
  run: string,
  id: string,
  earlier: JsonObject | undefined,
  delta: JsonObject,
): 'new' | 'same' | 'other' {
  const known = runOf(ledger, run);
  const text = earlier ? canonicalJson(earlier) : known?.deltas[nameKey(id)];
  if (text !== undefined) return text === canonicalJson(delta) ? 'same' : 'other';
  return known?.pastDeltas[nameKey(id)] ? 'same' : 'new';
}

function refusalOfReuse(id: string): Denied {
  const reason = `Another delta with the id ${JSON.stringify(id)} was applied; read the ledger again and use a new id.`;
  return deny('CONCURRENCY_CONFLICT', reason);
}

function refusalOfBase({ baseVersions = {} }: Request, id: string, task: Task | undefined): Denied | null {
  const expected = Object.hasOwn(baseVersions, id) ? baseVersions[id] : undefined;
  if (expected === undefined || expected === task?.version) return null;
  const versions = { expected_version: expected, actual_version: task?.version ?? null };
  const reason = `The row of ${id} was changed meanwhile; read the ledger again and compute the stream again.`;
  return deny('CONCURRENCY_CONFLICT', reason, versions);
}

function create(pen: LedgerPen, run: string, id: string, delta: JsonObject): Denied | null {
  const { status, title, owner, reason } = delta;
  if (!isCreateIntent(delta)) {
    const why = `There is no task ${id}; a delta that creates it has status todo, and x_create: true or a title.`;
    return deny('LEDGER_INCONSISTENT', why, { status: status ?? null });
  }
  const row = { owner: String(owner), reason: String(reason), notBefore: notBeforeOf(pen, delta) };
  pen.write({
    kind: 'task.created',
    run,
    task: id,
    ...row,
    spec: bareSpec(isText(title) ? title : id),
    ...reopening(pen.ledger, run),
  });
  return null;
}

function change(pen: LedgerPen, task: Task, delta: JsonObject, blockers: readonly JsonObject[]): Denied | null {
  const { status: to } = delta;
  const [owner, reason] = [String(delta.owner), reasonOfDelta(delta, blockers)];
  if (!isTaskStatus(to)) return deny('SCHEMA_INVALID', `${task.id} cannot have such a status.`, { status: to ?? null });
  const isSame = to === task.status && !isTerminal(to) && changesMore(task, delta, blockers);
  const refusal = isSame ? null : refusalOfMove(task, to);
  if (refusal) return refusal;
  if (to === 'in_progress') return start(pen, task, owner, reason, isSame);
  if (to === 'done' && task.status !== 'done') {
    const why = `${task.id} is done when a result shows that its criteria are met; finish it with a result.`;
    return deny('ACCEPTANCE_FAILED', why, { missing: task.criteria.slice(0, 20) });
  }
  const code = to === 'blocked' ? codeOfDelta(delta, blockers, task) : null;
  const wait = notBeforeOf(pen, delta);
  settle(pen, task, to, { owner, reason, code, ...(wait === null && to === 'todo' ? {} : { notBefore: wait }) });
  return null;
}

/**
 * Whether a delta that says an open status again changes another field of the row. Without that it is a move from a status
 * to itself, which there is not. Every delta brings a reason, so that a new one alone changes nothing; one that creates a row says
 * `todo` as the status of a new row, and not as a move.
 */
function changesMore(task: Task, delta: JsonObject, blockers: readonly JsonObject[]): boolean {
  if (isCreateIntent(delta) || String(delta.owner) !== task.owner) return true;
  if (delta.status === 'blocked' && codeOfDelta(delta, blockers, task) !== task.code) return true;
  const { last_heartbeat_at: heard, retry_after_ms: wait } = delta;
  return heard !== undefined || (typeof wait === 'number' && wait > 0);
}

/**
 * Whether a delta means to create its row: a new task starts as `todo`, and says so with `x_create: true` or by bringing a
 * title. Anything less would let a mistyped task id pass for a new task.
 */
export function isCreateIntent({ status, x_create, title }: JsonObject): boolean {
  return status === 'todo' && (x_create === true || isText(title));
}

/** A task that gets another owner is claimed again, so answers of the former owner are late. */
function start(pen: LedgerPen, task: Task, owner: string, reason: string, isSame: boolean): Denied | null {
  if (isSame && owner === task.owner) {
    settle(pen, task, 'in_progress', { owner, reason });
    return null;
  }
  const refusal = isSame
    ? refusalOfOwner(owner)
    : refusalOfClaim(pen.ledger, task, owner, pen.at, undefined, pen.isSound);
  if (!refusal) take(pen, task, owner);
  return refusal;
}

/** The earliest time of the next try, counted from the delta. */
function notBeforeOf({ at }: LedgerPen, { retry_after_ms: wait }: JsonObject): number | null {
  return typeof wait === 'number' && wait > 0 ? at + wait : null;
}

/** A copy of what a stream of deltas can see of the ledger. The stream is tried on it before anything is written. */
type DraftPen = LedgerPen & { readonly facts: readonly LedgerFact[] };

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
    return locksToTake(task).flatMap((lock) => rivalOf(locks, { ...lock, task: key }, touched) ?? []);
  });
}
