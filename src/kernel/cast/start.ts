// Starting a cast, and starting a socket of it: the item is chosen, the guard asked, the turn opened.
import { END } from '../graph/config.ts';
import { emptyEntryTarget, exitTarget, loopOf } from '../graph/route.ts';
import type { Input } from '../input.ts';
import { scrub } from '../secrets.ts';
import type { Cast, Turn } from '../state.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import { selectItem } from './item.ts';
import { enterLanes, hasLanes } from './lanes.ts';
import { openTurn } from './open-turn.ts';
import { fail, type Pen } from './pen.ts';

export function startCast(pen: Pen, input: Extract<Input, { kind: 'cast.start' }>): Verdict {
  const { cast: id, request, loadout, rules, script, runId, root } = input;
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

/** An empty list: nothing of the loop runs, and its `always` exit leads on. */
function passOver(pen: Pen, cast: Cast, from: string, loopId: string | null): string {
  const { graph } = cast.rules;
  const loop = graph.loops.find(({ id }) => id === loopId);
  // The entered socket's own route first; a plan without items still has its summary to write, so then the whole loop's.
  const route = exitTarget(graph, from, null)?.route ?? (loop && emptyEntryTarget(graph, loop)) ?? null;
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

function completeIfDone(pen: Pen, cast: Cast): void {
  if (Object.keys(cast.turns).length === 0) pen.write({ kind: 'cast.completed', cast: cast.id });
}
