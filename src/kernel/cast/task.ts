// A cast's side of the ledger: every item of a list is a task, and so is a turn without an item that changes files. The
// task is claimed with all its paths before the first dispatch, and is over when its item is.
import { dialectCan } from '../capabilities.ts';
import type { Code } from '../codes.ts';
import type { Iterator } from '../graph/config.ts';
import type { JsonObject } from '../json.ts';
import { claimTask } from '../ledger/claim.ts';
import { bareSpec } from '../ledger/create.ts';
import { MAIN_ROOT } from '../ledger/lock-tree.ts';
import { settle } from '../ledger/move.ts';
import { isTerminal, runOf, type Task, type TaskSpec, taskOf, tasksOf } from '../ledger/state.ts';
import { agentIdOf } from '../report/contract.ts';
import type { Cast, Item, State, Turn } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';
import { itemAt, listOf } from './item.ts';
import { refusalOfCrowd } from './lanes.ts';
import { FORBIDDEN, isBound, isTemplated, lockScopeOf } from './lock-scope.ts';
import { materiaOf, type Pen, socketOf } from './pen.ts';
import { idAt, lengthOf, numbered } from './task-list.ts';
import { objectiveOf, wishesIn } from './task-words.ts';

export function taskOfTurn({ ledger }: Pick<State, 'ledger'>, cast: Cast, turn: Turn): Task | null {
  return (turn.task !== null && taskOf(ledger, cast.id, turn.task)) || null;
}

/** The task of an item: null where its list was not planned. */
export function taskIdOf(cast: Cast, { cursorKey, index }: Item): string | null {
  return idAt(cast.lists[cursorKey], index);
}

/** Makes tasks of the items of a list that are none yet. Answers what is wrong with their scopes, or null. */
export function planItems(pen: Pen, cast: Cast, iterator: Iterator, sockets: readonly string[]): Denied | null {
  const list = listOf(cast, iterator.items);
  const known = lengthOf(cast.lists[iterator.cursorKey]);
  if (known >= list.length) return null;
  const items = list.slice(known).map((_, index) => itemAt(iterator, list, known + index));
  const common = lockScopeOf(cast, isTemplated(cast, sockets) ? [] : sockets, null);
  const rows: Partial<TaskSpec>[] = [];
  const isBriefed = sockets.some((id) => getsPacket(cast, id));
  for (const item of items) {
    const scope = isTemplated(cast, sockets) ? lockScopeOf(cast, sockets, item) : common;
    if (!scope.ok) return scope.refusal;
    rows.push({
      title: bareSpec(item.label).title,
      ...(scope === common ? {} : { lockScope: scope.paths }),
      ...(isBriefed ? wishesIn(bareSpec(item.label).title, list[item.index]) : {}),
    });
  }
  write(pen, cast, iterator.cursorKey, common.ok ? common.paths : [], rows, isBriefed);
  return null;
}

/** The task of a turn that has no item and may change files, or gets a packet; null for any other. */
export function planTurn(pen: Pen, cast: Cast, socket: string): string | null | Denied {
  const isBriefed = getsPacket(cast, socket);
  if (!isBound(cast, socket) && !isBriefed) return null;
  const scope = lockScopeOf(cast, [socket], null);
  if (!scope.ok) return scope.refusal;
  const { title } = bareSpec(materiaOf(cast, socket).label);
  const row = { title, ...(isBriefed ? wishesIn(title, undefined) : {}) };
  const [id = null] = write(pen, cast, null, scope.paths, [row], isBriefed);
  return id;
}

/** Whether a turn without an item is no task: it may change nothing and gets no packet. */
function ownsNothing(cast: Cast, { item, socket }: Pick<Turn, 'item' | 'socket'>): boolean {
  return item === null && !isBound(cast, socket) && !getsPacket(cast, socket);
}

/**
 * Makes a row for a turn that is blocked and has none, so that its gap stands in the ledger; null where it has one. It gets no
 * number: a planner that comes after it begins with `T-1` and cannot know which ones are taken.
 */
export function planBlocked(pen: Pen, cast: Cast, turn: Turn): string | null {
  const task = taskOfTurn(pen.state, cast, turn);
  if (!ownsNothing(cast, turn) || (task && !isTerminal(task.status))) return null;
  const row = { title: bareSpec(materiaOf(cast, turn.socket).label).title };
  const [id = null] = write(pen, cast, null, [], [row], false, [freeName(pen, cast, turn)]);
  return id;
}

/** The rows of turns that own nothing are not left to anybody by a cast that a person ended. */
export function cancelBlocked(pen: Pen, cast: Cast, reason: string): void {
  for (const turn of Object.values(cast.turns)) {
    const task = taskOfTurn(pen.state, cast, turn);
    if (task?.status === 'blocked' && ownsNothing(cast, turn)) settle(pen, task, 'canceled', { reason });
  }
}

/** An agent whose dialect reports on a task gets that task as a packet, unless it plans. */
export function getsPacket(cast: Cast, socket: string): boolean {
  const materia = materiaOf(cast, socket);
  const isReporter = dialectCan(cast.rules, socketOf(cast, socket).contract, 'reportsTask');
  return isReporter && materia.type === 'agent' && !materia.generator;
}

function write(
  pen: Pen,
  cast: Cast,
  cursor: string | null,
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
    sequential: true,
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

/** Of version 8, whose digits are for whoever makes it to choose. */
function uuidOf({ id }: Cast, turn: Turn, place: number): string {
  const digits = agentIdOf(id, turn.socket, String(turn.id)).slice(1);
  const head = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(12, 15)}`;
  return `${head}-8000-${place.toString(16).padStart(12, '0')}`;
}

/** Takes the task of a turn for it. Answers what stands in the way, or null. */
export function claimFor(pen: Pen, cast: Cast, turn: Turn): Denied | null {
  const { hold } = pen.ledger;
  if (hold) return deny('NOT_ALLOWED_NOW', `${hold.by} holds the workspace: ${hold.reason}`, { hold: { ...hold } });
  const task = taskOfTurn(pen.state, cast, turn);
  if (!task || task.status === 'in_progress' || isTerminal(task.status)) return null;
  const crowded = refusalOfCrowd(pen, cast, turn);
  if (crowded) return crowded;
  reopen(pen, task, 'the cast goes on');
  const verdict = claimTask(pen, task, ownerOf(cast, turn.socket));
  return verdict.allow ? null : verdict;
}

/** The claim of its task may be over, because it timed out or a person took it away; then it is taken anew. */
export function reclaim(pen: Pen, cast: Cast, turn: Turn): Denied | null {
  const task = taskOfTurn(pen.state, cast, turn);
  return task && task.fence !== turn.fence ? claimFor(pen, cast, turn) : null;
}

export function ownerOf(cast: Cast, socket: string): string {
  return materiaOf(cast, socket).id;
}

/** A blocked task may be handed out again. */
export function reopen(pen: Pen, task: Task, reason: string): void {
  if (task.status === 'blocked') settle(pen, task, 'todo', { reason });
}

export function finish(pen: Pen, task: Task | null | undefined, turn: Turn, reason: string): void {
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

export function block(pen: Pen, task: Task, code: Code, reason: string, evidence: Task['context'][number] = {}): void {
  if (task.status === 'in_progress') settle(pen, task, 'blocked', { reason, code, evidence });
}

/** What a cast that goes no further has in progress is blocked, so that its paths are free and a recast can go on. */
export function blockAll(pen: Pen, cast: Cast, code: Code, reason: string): void {
  if ((runOf(pen.ledger, cast.id)?.running ?? 0) === 0) return;
  for (const task of tasksOf(pen.ledger, cast.id)) block(pen, task, code, reason);
}
