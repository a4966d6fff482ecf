// Starting a cast, and starting a socket of it: the item is chosen, the guard asked, the turn opened.
import { END, type ExitRoute, type Loop } from '../graph/config.ts';
import { emptyEntryTarget, exitTarget, loopOf } from '../graph/route.ts';
import type { Input } from '../input.ts';
import { taskOf } from '../ledger/state.ts';
import { scrub } from '../secrets.ts';
import { type Cast, type Item, type Turn, walkOf } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { NO_ROUNDS, tracked } from './bookkeeping.ts';
import { idsIn, listOf, selectItem } from './item.ts';
import { enterLanes, fillAllLanes, hasLanes, hasOpenLanes } from './lanes.ts';
import { exitByLast } from './park.ts';
import { fail, type Pen, socketOf } from './pen.ts';
import { leaveAll } from './route.ts';
import { nextScripted } from './runner-choice.ts';
import { planItems, planTurn, taskIdOf } from './task.ts';
import { isLeftOut } from './task-by-hand.ts';

export function startCast(pen: Pen, input: Extract<Input, { kind: 'cast.start' }>): Verdict {
  const { cast: id, request, loadout, rules, script, runId, root, capabilities } = input;
  if (pen.state.casts[id]) return deny('NOT_ALLOWED_NOW', `there is a cast ${id} already`);
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
  if (from?.lane && loop?.sockets.includes(target)) {
    openTurn(pen, cast, target, from.item, budgeted, from.lane);
    return;
  }
  const passed = new Set<string>();
  let socket = target;
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
export function leaveLoop(pen: Pen, cast: Cast, { id, iterator }: Loop, entry: string): void {
  if (iterator) {
    const to = listOf(cast, iterator.items).length;
    const step = { cursor: iterator.cursorKey, to, item: null, exhausted: true };
    pen.write({ kind: 'cursor.advanced', cast: cast.id, turn: cast.turnsStarted, ...step });
  }
  const exit = iterator && exitByLast(cast, iterator.cursorKey);
  if (!exit) return startSocket(pen, cast, passOver(pen, cast, entry, id), false);
  const { id: route, from, targetSocketId: target } = exit.route;
  pen.write({ kind: 'exit.taken', cast: cast.id, turn: null, loop: id, route, from, to: target, empty: false });
  startSocket(pen, cast, target, false);
}

/** An empty list: nothing of the loop runs, and its `always` exit leads on. */
function passOver(pen: Pen, cast: Cast, from: string, loopId: string | null): string {
  const { graph } = cast.rules;
  const loop = graph.loops.find(({ id }) => id === loopId);
  // The entered socket's own route first; a plan without items still has its summary to write, so then the whole loop's.
  const always = exitTarget(graph, from, null)?.route ?? (loop && emptyEntryTarget(graph, loop));
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

/** Where items are still open beside the one that came to the end, they go on, or the cast waits for a person. */
function completeIfDone(pen: Pen, cast: Cast): void {
  if (Object.keys(cast.turns).length > 0 || hasOpenLanes(pen, cast)) return fillAllLanes(pen, cast);
  leaveAll(pen, cast);
  pen.write({ kind: 'cast.completed', cast: cast.id });
}

// Opening a turn: the guard is asked, the task of its item is looked up or made, the visit is counted.
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
  if (count > maxNoAdvanceCycles) {
    const round = [...guard.path, ...path];
    const what = item ? `item ${item.key} (${item.label})` : 'the cast';
    const reason = `${what} went round ${round.join(' → ')} ${count} times without getting on; the limit is ${maxNoAdvanceCycles}`;
    const details = { item: item?.key ?? null, cycle: round, count, limit: maxNoAdvanceCycles };
    return fail(pen, cast, deny('NO_PROGRESS', reason, details), null, { at: 'start', socket });
  }
  const task = taskFor(pen, cast, socket, item);
  if (task !== null && typeof task !== 'string') return fail(pen, cast, task, null, { at: 'start', socket });
  const turn = cast.turnsStarted + 1;
  const visit = (cast.visits[socket] ?? 0) + 1;
  const script = lane === null ? null : nextScripted(cast, { id: turn, socket, script: null });
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
