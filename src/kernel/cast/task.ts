// A cast's side of the ledger: every item of a list is a task, and so is a turn without an item that changes files. The
// task is claimed with all its paths before the first dispatch, and is over when its item is.
import type { Code } from '../codes.ts';
import type { Handoff } from '../dialect.ts';
import type { Iterator } from '../graph/config.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../json.ts';
import type { LedgerFact } from '../ledger/fact.ts';
import { MAIN_ROOT } from '../ledger/lock-tree.ts';
import { settle } from '../ledger/move.ts';
import { normalPath } from '../ledger/path.ts';
import { applyDeltas, bareSpec, createTask, draftFor } from '../ledger/plan.ts';
import { refusalOfInconsistency, refusalOfUnknownDependencies } from '../ledger/run-index.ts';
import { isTerminal, runOf, type Task, type TaskSpec, taskOf, tasksOf } from '../ledger/state.ts';
import type { Pen } from '../state.ts';
import { truncate } from '../text.ts';
import { type Denied, deny } from '../verdict.ts';
import { itemsAt } from './data.ts';
import { idAt, itemAt, lengthOf, numbered, taskOfTurn } from './item.ts';
import { FORBIDDEN, isBound, isTemplated, lockScopeOf, refusalOfChosenConfig } from './lock-scope.ts';
import { agentIdOf, assignsTasks, getsPacket, materiaOf } from './rules.ts';
import type { Cast, Item, Turn } from './state.ts';
import { itemBefore, streamsOf } from './streams.ts';

/** The task of an item: null where its list was not planned. */
export function taskIdOf(cast: Cast, { cursorKey, index }: Item): string | null {
  return idAt(cast.lists[cursorKey], index);
}

/** Makes tasks of the items of a list that are none yet. Answers what is wrong with their scopes, or null. */
export function planItems(pen: Pen, cast: Cast, iterator: Iterator, sockets: readonly string[]): Denied | null {
  const list = itemsAt(cast, iterator.items);
  const known = lengthOf(cast.lists[iterator.cursorKey]);
  if (known >= list.length) return null;
  const items = list.slice(known).map((_, index) => itemAt(iterator, list, known + index));
  const common = lockScopeOf(cast, isTemplated(cast, sockets) ? [] : sockets, null);
  const rows: Partial<TaskSpec>[] = [];
  const isBriefed = sockets.some((id) => getsPacket(cast, id));
  const ids = freeIds(pen, cast, items.length);
  const loop = cast.rules.graph.loops.find((each) => each.iterator?.cursorKey === iterator.cursorKey);
  const streams = loop ? streamsOf(cast, loop) : [];
  const planned = cast.lists[iterator.cursorKey];
  for (const item of items) {
    const scope = isTemplated(cast, sockets) ? lockScopeOf(cast, sockets, item) : common;
    if (!scope.ok) return scope.refusal;
    const before = itemBefore(streams, item.index);
    const follows = before === null ? null : (ids[before - known] ?? idAt(planned, before));
    rows.push({
      title: bareSpec(item.label).title,
      ...(follows ? { dependencies: [follows] } : {}),
      ...(scope === common ? {} : { lockScope: scope.paths }),
      ...(isBriefed ? criteriaAndContext(bareSpec(item.label).title, list[item.index]) : {}),
    });
  }
  const lockScope = common.ok ? common.paths : [];
  write(
    pen,
    cast,
    { cursor: iterator.cursorKey, sequential: !shareFolder(cast, iterator) },
    lockScope,
    rows,
    isBriefed,
    ids,
  );
  return null;
}

/** Whether items go side by side in one folder, so that those with overlapping paths take turns. */
function shareFolder({ root, rules }: Cast, { cursorKey }: Iterator): boolean {
  const walks = rules.graph.loops.filter(({ iterator }) => iterator?.cursorKey === cursorKey);
  return root === undefined && walks.some(({ isParallel }) => isParallel);
}

/** The task of a turn that has no item and may change files, or gets a packet; null for any other. */
export function planTurn(pen: Pen, cast: Cast, socket: string): string | null | Denied {
  const isBriefed = getsPacket(cast, socket);
  if (!isBound(cast, socket) && !isBriefed) return null;
  const scope = lockScopeOf(cast, [socket], null);
  if (!scope.ok) return scope.refusal;
  const { title } = bareSpec(materiaOf(cast, socket).label);
  const row = { title, ...(isBriefed ? criteriaAndContext(title, undefined) : {}) };
  const [id = null] = write(pen, cast, ALONE, scope.paths, [row], isBriefed);
  return id;
}

/** Whether a turn without an item is no task: it may change nothing and gets no packet. */
function ownsNothing(cast: Cast, { item, socket }: Pick<Turn, 'item' | 'socket'>): boolean {
  return item === null && !isBound(cast, socket) && !getsPacket(cast, socket);
}

/**
 * Makes a row for a blocked turn that has none, so that the ledger shows its gap; null where it has one. The row gets no
 * number, because a later planner begins with `T-1` and cannot know which are taken.
 */
export function planBlocked(pen: Pen, cast: Cast, turn: Turn): string | null {
  const task = taskOfTurn(pen.state, cast, turn);
  if (!ownsNothing(cast, turn) || (task && !isTerminal(task.status))) return null;
  const row = { title: bareSpec(materiaOf(cast, turn.socket).label).title };
  const [id = null] = write(pen, cast, ALONE, [], [row], false, [freeName(pen, cast, turn)]);
  return id;
}

/** An aborted cast leaves no blocked rows of turns that own nothing. */
export function cancelBlocked(pen: Pen, cast: Cast, reason: string): void {
  for (const turn of Object.values(cast.turns)) {
    const task = taskOfTurn(pen.state, cast, turn);
    if (task?.status === 'blocked' && ownsNothing(cast, turn)) settle(pen, task, 'canceled', { reason });
  }
}

/** The list that the tasks belong to, and whether they follow one another. */
type Rows = { readonly cursor: string | null; readonly sequential: boolean };

const ALONE: Rows = { cursor: null, sequential: true };

function write(
  pen: Pen,
  cast: Cast,
  { cursor, sequential }: Rows,
  lockScope: readonly string[],
  rows: readonly Partial<TaskSpec>[],
  isBriefed: boolean,
  tasks = freeIds(pen, cast, rows.length),
): readonly string[] {
  const root = cast.root ?? MAIN_ROOT;
  const spec: TaskSpec = {
    ...bareSpec(''),
    root,
    lockScope,
    forbidden: FORBIDDEN,
    sequential,
    assigned: true,
    ...(isBriefed ? { own: true, objective: objectiveOf(cast) } : {}),
  };
  const written = isBriefed
    ? rows.map((row, index) => ({ ...row, worklogPath: `worklogs/${tasks[index] ?? ''}.jsonl` }))
    : rows;
  pen.write({ kind: 'items.planned', cast: cast.id, cursor, tasks, spec, rows: written });
  return tasks;
}

/** As many numbers in a row that no task of the run has: a planner, or a person, gives its tasks the numbers it likes. */
function freeIds({ ledger }: Pen, cast: Cast, count: number): readonly string[] {
  let first = (runOf(ledger, cast.id)?.tasks.length ?? 0) + 1;
  for (let next = first; next < first + count; next += 1) {
    if (taskOf(ledger, cast.id, numbered(next))) first = next + 1;
  }
  return Array.from({ length: count }, (_, index) => numbered(first + index));
}

/** The name of a row in the contract's other form, a UUID. No two rows of a run have the same place in it. */
function freeName({ ledger }: Pen, cast: Cast, turn: Turn): string {
  let place = runOf(ledger, cast.id)?.tasks.length ?? 0;
  while (taskOf(ledger, cast.id, uuidOf(cast, turn, place))) place += 1;
  return uuidOf(cast, turn, place);
}

/** A UUID of version 8, whose digits its maker chooses. */
function uuidOf({ id }: Cast, turn: Turn, place: number): string {
  const digits = agentIdOf(id, turn.socket, String(turn.id)).slice(1);
  const head = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(12, 15)}`;
  return `${head}-8000-${place.toString(16).padStart(12, '0')}`;
}

/** A blocked task may be handed out again. */
export function reopen(pen: Pen, task: Task, reason: string): void {
  if (task.status === 'blocked') settle(pen, task, 'todo', { reason });
}

export function finishItem(pen: Pen, task: Task | null | undefined, turn: Turn, reason: string): void {
  if (task?.status === 'in_progress') settle(pen, task, 'done', { reason, evidence: { turn: turn.id } });
}

/** `owner` is named where the task was never claimed. */
export function blockPlanned(
  pen: Pen,
  task: Task,
  owner: string,
  code: Code,
  reason: string,
  evidence: JsonObject,
): void {
  if (task.status === 'todo') settle(pen, task, 'blocked', { reason, code, owner, evidence });
}

export function blockTask(
  pen: Pen,
  task: Task,
  code: Code,
  reason: string,
  evidence: Task['context'][number] = {},
): void {
  if (task.status === 'in_progress') settle(pen, task, 'blocked', { reason, code, evidence });
}

/** What a cast that goes no further has in progress is blocked, so that its paths are free and a recast can go on. */
export function blockAll(pen: Pen, cast: Cast, code: Code, reason: string): void {
  if ((runOf(pen.ledger, cast.id)?.running ?? 0) === 0) return;
  for (const task of tasksOf(pen.ledger, cast.id)) blockTask(pen, task, code, reason);
}

export type PlanReading =
  | { readonly ok: true; readonly facts: readonly LedgerFact[] }
  | { readonly ok: false; readonly refusal: Denied };

const NO_PLAN: PlanReading = { ok: true, facts: [] };

/** What a plan would write, or why it cannot be taken. A turn that is no orchestrator's plans nothing. */
export function planIn(pen: Pen, cast: Cast, turn: Turn, { outcome, payload }: Handoff): PlanReading {
  if (!assignsTasks(cast, turn) || outcome !== 'done' || !isObject(payload)) return NO_PLAN;
  const unsound = refusalOfInconsistency(pen.ledger, cast.id);
  if (unsound) return { ok: false, refusal: unsound };
  const assignments = objects(payload.assignments);
  const assigned = assignments.map(taskIdIn);
  // An assigned task starts when the gates let it. A delta that says it has started is ignored.
  const stream = objects(payload.ledger_delta).filter(
    ({ task_id, status }) => status !== 'in_progress' || !assigned.includes(String(task_id)),
  );
  const touched = [...assigned, ...stream.map(({ task_id }) => String(task_id))];
  const draft = draftFor(pen, cast.id, touched);
  if (stream.length > 0) {
    const verdict = applyDeltas(draft, {
      kind: 'deltas.apply',
      run: cast.id,
      stream,
      blockers: objects(payload.blockers),
    });
    if (!verdict.allow) return { ok: false, refusal: verdict };
  }
  for (const packet of assignments) {
    const refusal =
      refusalOfCheckers(cast, packet) ?? refusalOfAbsolute(packet) ?? refusalOfAgentConfigIn(cast, packet);
    if (refusal) return { ok: false, refusal };
    const request = { kind: 'task.create', packet: { ...packet, run_id: cast.id }, forbidden: FORBIDDEN } as const;
    const root = cast.root === undefined ? {} : { root: cast.root };
    const verdict = createTask(draft, { ...request, ...root, reassigns: true });
    if (!verdict.allow) return { ok: false, refusal: verdict };
  }
  const refusal = refusalOfUnknownDependencies(draft.ledger, cast.id);
  return refusal ? { ok: false, refusal } : { ok: true, facts: draft.facts };
}

/** Writes a plan down, and makes its assignments the list of the loops that consume it. */
export function takePlan(pen: Pen, cast: Cast, turn: Turn, handoff: Handoff, facts: readonly LedgerFact[]): void {
  const { payload } = handoff;
  if (!assignsTasks(cast, turn) || !isObject(payload)) return;
  if (isString(payload.run_id) && payload.run_id !== cast.runId) {
    pen.write({ kind: 'run.named', cast: cast.id, runId: payload.run_id });
  }
  for (const fact of facts) pen.write(fact);
  const tasks = objects(payload.assignments).map(taskIdIn);
  for (const { consumes, iterator } of cast.rules.graph.loops) {
    if (consumes !== turn.socket || !iterator) continue;
    pen.write({ kind: 'items.planned', cast: cast.id, cursor: iterator.cursorKey, tasks, spec: null, rows: [] });
  }
}

/** A packet may refer to checkers that a person declared, by name, and to no others. */
function refusalOfCheckers(cast: Cast, packet: JsonObject): Denied | null {
  const named = [packet, isObject(packet.task) ? packet.task : {}].flatMap(({ x_checkers }) =>
    isObject(x_checkers) ? Object.values(x_checkers) : [],
  );
  const known = Object.keys(cast.rules.checkers);
  const unknown = named.filter((name) => !isString(name) || !known.includes(name));
  if (unknown.length === 0) return null;
  const declared = known.length === 0 ? 'none is declared' : `these are declared: ${known.join(', ')}`;
  const reason = `${taskIdIn(packet)} refers to the checker ${JSON.stringify(unknown[0])}, which is not declared; ${declared}.`;
  return deny('MISSING_VALIDATOR', reason, { task: taskIdIn(packet), unknown: unknown.slice(0, 20), known });
}

/** A plan uses relative paths. An absolute one would be a second name for a locked file. */
function refusalOfAbsolute(packet: JsonObject): Denied | null {
  const { lock_scope: scope } = isObject(packet.task) ? packet.task : {};
  const absolute = Array.isArray(scope) ? scope.find((path) => isString(path) && /^\s*[\\/]/.test(path)) : undefined;
  if (absolute === undefined) return null;
  const reason = `${taskIdIn(packet)} wants ${JSON.stringify(absolute)}; write paths relative to the workspace.`;
  return deny('SCOPE_VIOLATION', reason, { task: taskIdIn(packet), resource: absolute });
}

function refusalOfAgentConfigIn(cast: Cast, packet: JsonObject): Denied | null {
  const { lock_scope: scope } = isObject(packet.task) ? packet.task : {};
  const paths = (Array.isArray(scope) ? scope.filter(isString) : []).flatMap((path) => {
    const normal = normalPath(path);
    return normal.ok ? [normal.path] : [];
  });
  return refusalOfChosenConfig(cast, taskIdIn(packet), paths);
}

function taskIdIn({ task }: JsonObject): string {
  return isObject(task) && isString(task.task_id) ? task.task_id : '';
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

const OBJECTIVE_CHARS_MAX = 5_000;
const CONTEXT_CHARS_MAX = 16_384;

/** The whole of which the task is a part. */
function objectiveOf({ request, loadout }: Pick<Cast, 'request' | 'loadout'>): string {
  return truncate(isText(request) ? request : `Run the loadout ${loadout}`, OBJECTIVE_CHARS_MAX);
}

/** Criteria and context of an item. An item that states no criterion is done when what its title says is done. */
function criteriaAndContext(title: string, item: Json | undefined): Pick<TaskSpec, 'criteria' | 'context'> {
  const { acceptance_criteria: written, acceptanceCriteria = written } = isObject(item) ? item : {};
  const stated = Array.isArray(acceptanceCriteria) ? acceptanceCriteria.filter(isText) : [];
  return { criteria: stated.length > 0 ? [...new Set(stated)] : [title], context: contextOf(item) };
}

/** Whether the only criterion of a task is its title, so that no criterion was stated. */
export function isUnstated({ own, title, criteria }: Pick<TaskSpec, 'own' | 'title' | 'criteria'>): boolean {
  return own === true && criteria.length === 1 && criteria[0] === title;
}

function contextOf(item: Json | undefined): readonly JsonObject[] {
  if (item === undefined) return [];
  if (!isObject(item)) return notes(typeof item === 'string' ? item : JSON.stringify(item));
  if (isText(item.context)) return notes(item.context);
  const { title: _title, name: _name, acceptance_criteria: _one, acceptanceCriteria: _other, ...rest } = item;
  return Object.keys(rest).length === 0 ? [] : notes(JSON.stringify(rest));
}

function notes(text: string): readonly JsonObject[] {
  return isText(text) ? [{ kind: 'note', value: truncate(text, CONTEXT_CHARS_MAX) }] : [];
}
