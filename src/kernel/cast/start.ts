// Starts a cast, a socket, and the items of a loop that run side by side.
import { END, type ExitRoute, type Loop } from '../graph/config.ts';
import { emptyEntryTarget, exitTarget, isOnWay, loopOf, NO_HANDOFF } from '../graph/route.ts';
import type { Input } from '../input.ts';
import { claimBest, refusalOfClaim } from '../ledger/claim.ts';
import { namingCast } from '../ledger/fact.ts';
import { refusalOfInconsistency } from '../ledger/run-index.ts';
import { runOf, type Task, taskOf } from '../ledger/state.ts';
import { refusalOfQuest, startQuest } from '../quest/decide.ts';
import { scrub } from '../secrets.ts';
import { fail, type Pen } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { NO_ROUNDS, tracked } from './bookkeeping.ts';
import { itemsAt } from './data.ts';
import {
  exitByLast,
  freeLaneNumber,
  hasOpen,
  hasOpenLanes,
  idsIn,
  inProgress,
  isLeftOut,
  isParked,
  itemAt,
  lanesTaken,
  leaveAll,
  lengthOf,
  mayPark,
  placeOf,
  selectItem,
  taskOfTurn,
  tasksOfLoop,
  tasksWalking,
  totalOf,
  unstarted,
  waitForParked,
} from './item.ts';
import { hasLanes, nextScripted, ownerOf, socketOf } from './rules.ts';
import { type Cast, FREE, type Item, postponedBy, type Turn, walkOf } from './state.ts';
import { barrierAround, beginningOf, enteredBy, exitOfSettled, failedIn, fanIn, settleFailed } from './streams.ts';
import { blockPlanned, blockTask, planItems, planTurn, taskIdOf } from './task.ts';

export function startCast(pen: Pen, input: Extract<Input, { kind: 'cast.start' }>): Verdict {
  const { cast: id, request, loadout, rules, script, runId, root, capabilities, quest } = input;
  if (pen.state.casts[id]) return deny('NOT_ALLOWED_NOW', `there is a cast ${id} already`);
  const refusal = quest ? refusalOfQuest(pen, quest) : null;
  if (refusal) return refusal;
  if (quest) startQuest(pen, quest, id);
  pen.write({
    kind: 'cast.started',
    cast: id,
    request: scrub(request).text,
    loadout,
    rules,
    script,
    data: input.data ?? {},
    ...(runId === undefined ? {} : { runId }),
    ...(root === undefined ? {} : { root }),
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(quest === undefined ? {} : { quest: quest.id }),
  });
  const cast = pen.state.casts[id];
  if (cast) startSocket(pen, cast, rules.graph.entry, false);
  return allow(`cast ${id} started`);
}

/**
 * Starts `target`, or what follows from it: an exit where its list is empty, the end of the cast at `end`. An item that
 * walks on its own takes its lane with it as long as it stays inside the loop.
 */
export function startSocket(pen: Pen, cast: Cast, target: string, budgeted: boolean, from: Turn | null = null): void {
  const loop = from?.lane ? cast.rules.graph.loops.find(({ id }) => id === from.lane) : undefined;
  if (from?.lane && loop && isOnWay(loop, target)) {
    openTurn(pen, cast, target, from.item, budgeted, from.lane);
    return;
  }
  const passed = new Set<string>();
  // The sockets before the loop run within its lanes.
  let socket = enteredBy(cast.rules.graph, target);
  for (;;) {
    if (socket === END) return completeIfDone(pen, cast);
    const selection = selectItem(cast, socket);
    if (selection.found) {
      if (selection.item && skipLeftOut(pen, cast, selection.item)) continue;
      const entered = loopOf(cast.rules.graph, socket);
      if (selection.item && hasLanes(cast, entered)) return enterLanes(pen, cast, entered, socket);
      return openTurn(pen, cast, socket, selection.item, budgeted);
    }
    if (passed.has(socket)) {
      const reason = `the empty loop at ${socket} leads back to itself; give it an exit that leads on`;
      return fail(pen, cast, deny('NO_PROGRESS', reason, { sockets: [...passed] }), null, {
        at: 'start',
        socket: target,
      });
    }
    passed.add(socket);
    socket = passOver(pen, cast, socket, selection.loop?.id ?? null);
  }
}

/** An item that a person has taken out before it began is passed over. */
function skipLeftOut(pen: Pen, cast: Cast, item: Item): boolean {
  const id = taskIdOf(cast, item);
  if (id === null || !isLeftOut(taskOf(pen.ledger, cast.id, id))) return false;
  const { cursorKey: cursor, key, index, total } = item;
  const step = { cursor, to: index + 1, item: key, exhausted: index + 1 >= total };
  pen.write({ kind: 'cursor.advanced', cast: cast.id, turn: cast.turnsStarted, ...step });
  return true;
}

/** A loop whose items are all over, without one of them leading out of it, is left as if there were nothing more in it. */
export function leaveLoop(pen: Pen, cast: Cast, loop: Loop, entry: string): void {
  const { id, iterator } = loop;
  if (iterator) {
    const to = itemsAt(cast, iterator.items).length;
    const step = { cursor: iterator.cursorKey, to, item: null, exhausted: true };
    pen.write({ kind: 'cursor.advanced', cast: cast.id, turn: cast.turnsStarted, ...step });
  }
  const found = exitOfSettled(pen, cast, loop) ?? (iterator && exitByLast(cast, iterator.cursorKey)?.route);
  if (!found) return startSocket(pen, cast, passOver(pen, cast, entry, id), false);
  const { id: route, from, targetSocketId: to } = found;
  const streams = fanIn(pen, cast, loop);
  pen.write({ kind: 'exit.taken', cast: cast.id, turn: null, loop: id, route, from, to, empty: false, ...streams });
  startSocket(pen, cast, to, false);
}

/** An empty list: nothing of the loop runs, and its `always` exit leads on. */
function passOver(pen: Pen, cast: Cast, from: string, loopId: string | null): string {
  const { graph } = cast.rules;
  const loop = graph.loops.find(({ id }) => id === loopId);
  // The entered socket's own route first; a plan without items still has its summary to write, so then the whole loop's.
  const always = exitTarget(graph, from, NO_HANDOFF)?.route ?? (loop && emptyEntryTarget(graph, loop));
  const route = always ?? (loop && exitOfRest(pen, cast, loop)) ?? null;
  const to = route?.targetSocketId ?? END;
  pen.write({
    kind: 'exit.taken',
    cast: cast.id,
    turn: null,
    loop: loopId,
    route: route?.id ?? null,
    from,
    to,
    empty: true,
  });
  return to;
}

/** Where some items were done and the last ones left out, what was done leads on. */
function exitOfRest({ ledger }: Pen, cast: Cast, { iterator, exits }: Loop): ExitRoute | null {
  const ids = iterator ? idsIn(cast.lists[iterator.cursorKey]) : [];
  const tasks = ids.flatMap((id) => taskOf(ledger, cast.id, id) ?? []);
  if (!tasks.some(isLeftOut) || !tasks.some(({ status }) => status === 'done')) return null;
  return exits.find(({ condition }) => condition === 'satisfied') ?? null;
}

/** Items that are still open go on, or the cast waits for a person. */
function completeIfDone(pen: Pen, cast: Cast): void {
  if (Object.keys(cast.turns).length > 0 || hasOpenLanes(pen, cast)) return fillAllLanes(pen, cast);
  leaveAll(pen, cast);
  pen.write({ kind: 'cast.completed', cast: cast.id });
}

/** Opens a turn, unless the guard finds a cycle or the task of its item cannot be planned. */
export function openTurn(
  pen: Pen,
  cast: Cast,
  socket: string,
  item: Item | null,
  budgeted: boolean,
  lane: string | null = null,
  place: number | null = null,
): void {
  const guard = lane === null ? cast.guard : (walkOf(cast, { lane, item })?.guard ?? NO_ROUNDS);
  const { count, path } = tracked(guard, item?.key ?? '', socket, budgeted);
  const { maxNoAdvanceCycles } = cast.rules.limits;
  const isStuck = count > maxNoAdvanceCycles;
  let refusal: Denied | null = null;
  if (isStuck) {
    const round = [...guard.path, ...path];
    const what = item ? `item ${item.key} (${item.label})` : 'the cast';
    const reason = `${what} went round ${round.join(' → ')} ${count} times without getting on; the limit is ${maxNoAdvanceCycles}`;
    const details = { item: item?.key ?? null, cycle: round, count, limit: maxNoAdvanceCycles };
    refusal = deny('NO_PROGRESS', reason, details);
    if (!barrierAround(cast, { lane })) return fail(pen, cast, refusal, null, { at: 'start', socket });
  }
  const task = taskFor(pen, cast, socket, item);
  if (task !== null && typeof task !== 'string') return fail(pen, cast, task, null, { at: 'start', socket });
  const turn = cast.turnsStarted + 1;
  const visit = (cast.visits[socket] ?? 0) + 1;
  const script = lane === null || refusal ? null : nextScripted(cast, { id: turn, socket, script: null });
  pen.write({
    kind: 'turn.started',
    cast: cast.id,
    turn,
    socket,
    visit,
    item,
    budgeted,
    ...(lane === null ? {} : { lane }),
    ...(place === null ? {} : { place }),
    ...(task === null ? {} : { task }),
    ...(script === null ? {} : { script }),
  });
  const opened = cast.turns[turn];
  if (refusal && opened) endLane(pen, cast, opened, refusal);
}

/** The item of a turn goes no further, and the others of its loop go on. */
export function endLane(pen: Pen, cast: Cast, turn: Turn, { code, reason }: Denied): void {
  const task = taskOfTurn(pen.state, cast, turn);
  const { id, attempt } = turn;
  pen.write({ kind: 'turn.blocked', cast: cast.id, turn: id, attempt, output: '', usage: FREE, code, reason });
  if (task) blockTask(pen, task, code, reason, { turn: id });
  if (task) blockPlanned(pen, task, ownerOf(cast, turn.socket), code, reason, { turn: id });
  if (turn.lane !== null) fillLanes(pen, cast, turn.lane);
}

/** The task a turn works on; null where there is nothing to own. */
function taskFor(pen: Pen, cast: Cast, socket: string, item: Item | null): string | null | Denied {
  if (!item) return planTurn(pen, cast, socket);
  const loop = loopOf(cast.rules.graph, socket);
  const own = socketOf(cast, socket).foreach;
  const iterator = own ?? loop?.iterator;
  const refusal = iterator ? planItems(pen, cast, iterator, own || !loop ? [socket] : loop.sockets) : null;
  return refusal ?? taskIdOf(cast, item);
}

function enterLanes(pen: Pen, cast: Cast, loop: Loop, entry: string): void {
  pen.write({ kind: 'lanes.opened', cast: cast.id, loop: loop.id, entry });
  fillLanes(pen, cast, loop.id);
}

/** Starts whatever may start now in all loops of a cast that have lanes open. */
export function fillAllLanes(pen: Pen, cast: Cast): void {
  for (const loop of Object.keys(cast.lanes)) if (cast.status === 'running') fillLanes(pen, cast, loop);
}

/**
 * Starts as many items as may start now. Where more than one is in progress then, each new one walks in a worktree of its
 * own, if the cast works in one at all.
 */
export function fillLanes(pen: Pen, cast: Cast, loopId: string): void {
  const loop = cast.rules.graph.loops.find(({ id }) => id === loopId);
  const lanes = cast.lanes[loopId];
  if (!loop?.iterator || !lanes || cast.status !== 'running') return;
  const { sockets, prelude = [] } = loop;
  const refusal = loop.isParallel ? planItems(pen, cast, loop.iterator, [...prelude, ...sockets]) : null;
  if (refusal) return fail(pen, cast, refusal, null, { at: 'start', socket: lanes.entry });
  reopenMoved(pen, cast, loopId);
  const running = inProgress(cast, loopId).length;
  const claimed = claimFree(pen, cast, loop, lanes.entry, loop.maxConcurrency - lanesTaken(cast, loopId));
  // A parked item is taken out of a worktree, and the paths of plain items may overlap: each works alone in one.
  const isAlone = loop.isParallel === true || mayPark(cast.rules.graph, loop);
  const isBeside = cast.root !== undefined && (isAlone || running + claimed.length > 1);
  for (const task of claimed) {
    if (cast.status !== 'running') return;
    const place = isBeside ? freeLaneNumber(cast) : null;
    openTurn(pen, cast, beginningOf(loop, lanes.entry, task), itemOf(cast, loop, task), false, loopId, place);
  }
  if (cast.status !== 'running' || inProgress(cast, loopId).length > 0) return;
  const list = cast.lists[loop.iterator.cursorKey];
  if (lengthOf(list) > 0 && !hasOpen(pen.ledger, cast.id, list)) leaveLoop(pen, cast, loop, lanes.entry);
  else stall(pen, cast, loop);
}

/** A person may move a blocked task back to todo while nothing of its cast runs; then its turn is opened again. */
function reopenMoved(pen: Pen, cast: Cast, loop: string): void {
  for (const turn of Object.values(cast.turns)) {
    if (turn.lane !== loop || turn.phase !== 'blocked') continue;
    if (taskOfTurn(pen.state, cast, turn)?.status === 'todo') reopenTurn(pen, cast, turn);
  }
}

function claimFree(pen: Pen, cast: Cast, loop: Loop, entry: string, countMax: number): readonly Task[] {
  const claimed: Task[] = [];
  // A round of assignments: on top of a mistake nothing is handed out.
  if (refusalOfInconsistency(pen.ledger, cast.id)) return claimed;
  const run = runOf(pen.ledger, cast.id);
  const list = cast.lists[loop.iterator?.cursorKey ?? ''];
  const walking = tasksWalking(cast);
  const search = { runs: run ? [run] : [], has: ({ id }: Task) => placeOf(list, id) !== null && !walking.has(id) };
  while (claimed.length < countMax && !pen.ledger.hold) {
    const { task } = claimBest(pen, search, ownerOf(cast, entry));
    if (!task) break;
    claimed.push(task);
  }
  return claimed;
}

function itemOf(cast: Cast, { iterator }: Loop, { id }: Task): Item | null {
  if (!iterator) return null;
  const index = placeOf(cast.lists[iterator.cursorKey], id) ?? -1;
  return itemAt(iterator, itemsAt(cast, iterator.items), index);
}

/** Nothing is in progress. Either the cause passes with time, and it is noted, or a person decides. */
function stall(pen: Pen, cast: Cast, loop: Loop): void {
  const tasks = tasksOfLoop(pen, cast, loop);
  const owner = ownerOf(cast, cast.lanes[loop.id]?.entry ?? '');
  const waiting = unstarted(cast, tasks);
  const refusals = waiting.flatMap((task) => refusalOfClaim(pen.ledger, task, owner, pen.at) ?? []);
  const unsound = refusalOfInconsistency(pen.ledger, cast.id);
  if (unsound) refusals.unshift(unsound);
  const isLiftable = ({ code }: Denied) => code === 'LOCK_CONFLICT' || code === 'NOT_ALLOWED_NOW';
  const liftable = unsound ? undefined : refusals.find(isLiftable);
  const blocked = tasks.find((task) => task.status === 'blocked' && !isParked(task));
  if (liftable) return postponeLanes(pen, cast, loop, liftable);
  const failed = loop.barrier === undefined ? [] : failedIn(pen, cast, loop);
  if (failed.length > 0) return judgeFailed(pen, cast, loop, failed);
  const [refusal] = refusals;
  if (!blocked && waitForParked(pen, cast)) return;
  if (!blocked && !refusal) return;
  const code = blocked?.code ?? refusal?.code ?? 'NO_PROGRESS';
  const [first] = waiting;
  const dead = refusal?.details.dead !== undefined && first ? `; leave it out with: ${leavingOut(cast, first.id)}` : '';
  const why = blocked
    ? `${blocked.id} (${blocked.title}) is blocked: ${blocked.reason}`
    : `${String(refusal?.reason).replace(/\.$/, '')}${dead}`;
  pen.write({ kind: 'cast.waiting', cast: cast.id, code, reason: continued(cast, why, code) });
}

/** Everything else in the loop is over. */
function judgeFailed(pen: Pen, cast: Cast, loop: Loop, failed: ReturnType<typeof failedIn>): void {
  const [first] = failed;
  if (loop.barrier === 'settled') {
    settleFailed(pen, cast, loop);
    return fillLanes(pen, cast, loop.id);
  }
  if (!first) return;
  const { task, turn } = first;
  const done = tasksOfLoop(pen, cast, loop).filter(({ status }) => status === 'done').length;
  const which = `${task.id} (${task.title}) failed${failed.length > 1 ? `, and ${failed.length - 1} more` : ''}`;
  const reason = `${which}; ${done} of ${totalOf(cast, loop)} items are done: ${task.reason}`;
  const details = { loop: loop.id, failed: failed.map(({ task: { id, code } }) => ({ task: id, code })) };
  const code = task.code === 'TASK_TIMEOUT' ? 'AGENT_TIMEOUT' : (task.code ?? 'AGENT_FAILED');
  fail(pen, cast, deny(code, reason, details), turn.id);
}

function postponeLanes(pen: Pen, cast: Cast, loop: Loop, refusal: Denied): void {
  const held = postponedBy(namingCast(refusal, pen.stoppedRun));
  const before = cast.lanes[loop.id]?.held;
  if (before?.reason === held.reason && before.until === held.until) return;
  pen.write({ kind: 'lanes.held', cast: cast.id, loop: loop.id, ...held });
}

/** How a person takes a task out of a cast. */
function leavingOut({ id }: Cast, task: string): string {
  return `baton task move ${task} canceled --run ${id} --reason "…"`;
}

/** What a person reads who has to put something right. */
export function continued({ id, root }: Cast, why: string, code: string): string {
  // In a worktree an attempt begins from accepted work, so a person cannot repair what the last one left there.
  const isForAgent = code === 'SCOPE_VIOLATION' && root !== undefined;
  const fix = isForAgent
    ? 'That is for its agent: it begins over, and what its worktree holds is stashed. Change its prompt if need be, then go on with'
    : 'Put it right, then go on with';
  return `${why.replace(/\.$/, '')}. ${fix}: baton continue ${id}`;
}

/** A stray change is compared with the state before it until it is taken back. */
export function reopenTurn(pen: Pen, cast: Cast, turn: Turn): void {
  const isStray = taskOfTurn(pen.state, cast, turn)?.code === 'SCOPE_VIOLATION' && turn.seal !== null;
  pen.write({ kind: 'turn.reopened', cast: cast.id, turn: turn.id, ...(isStray ? { sealed: true } : {}) });
}
