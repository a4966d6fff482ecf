// Opening a turn: the guard is asked, the task of its item is looked up or made, the visit is counted.
import { loopOf } from '../graph/route.ts';
import { type Cast, type Item, walkOf } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';
import { NO_ROUNDS, tracked } from './guard.ts';
import { fail, type Pen, socketOf } from './pen.ts';
import { nextScripted } from './script.ts';
import { planItems, planTurn, taskIdOf } from './task.ts';

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
