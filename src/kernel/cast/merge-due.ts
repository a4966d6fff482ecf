// When the work of an item that walks in a worktree of its own has to be merged into the cast's branch: before the item is
// over, or leaves the loop in which it has that worktree.
import { firstEdge } from '../graph/route.ts';
import { type Cast, type Turn, walkOf } from '../state.ts';
import { socketOf } from './pen.ts';

/** `isOver` says that the accepted turn ends the walk of its item. */
export function isToMerge(cast: Cast, turn: Turn, isOver: boolean): boolean {
  if (turn.merged || walkOf(cast, turn)?.place === undefined) return false;
  return isOver || leavesLoop(cast, turn);
}

function leavesLoop(cast: Cast, { socket, lane, handoff }: Turn): boolean {
  const loop = cast.rules.graph.loops.find(({ id }) => id === lane);
  const found = handoff && firstEdge(socketOf(cast, socket), handoff.satisfied);
  return found ? !loop?.sockets.includes(found.edge.to) : false;
}
