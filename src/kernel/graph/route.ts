// Which way a cast goes: the first edge that matches, and the route out of a loop whose list is used up.
import type { Condition, Edge, ExitRoute, Graph, Loop, Socket } from './config.ts';

/** Without a boolean only `always` matches. */
export function matches(condition: Condition, satisfied: boolean | null): boolean {
  switch (condition) {
    case 'always':
      return true;
    case 'satisfied':
      return satisfied === true;
    case 'not_satisfied':
      return satisfied === false;
  }
}

/** The first edge in order whose condition matches. Without one the cast is over. */
export function firstEdge(
  socket: Socket,
  satisfied: boolean | null,
): { readonly edge: Edge; readonly index: number } | null {
  const index = socket.edges.findIndex((edge) => matches(edge.when, satisfied));
  const edge = socket.edges[index];
  return edge ? { edge, index } : null;
}

/** Where an exhausted list leads from this socket: the guarded route of the first loop that has one, else its `always` route. */
export function exitTarget(
  graph: Graph,
  socketId: string,
  satisfied: boolean | null,
): { readonly loop: Loop; readonly route: ExitRoute } | null {
  for (const loop of graph.loops) {
    const routes = loop.exits.filter((route) => route.from === socketId && matches(route.condition, satisfied));
    const route = routes.find((each) => each.condition !== 'always') ?? routes[0];
    if (route) return { loop, route };
  }
  return null;
}

/**
 * Where a loop leads that is entered with nothing to walk over. Nothing ran, so only `always` routes can be taken; the
 * whole loop is looked at, because routes mostly leave from its last socket and the first is the one entered.
 */
export function emptyEntryTarget(_graph: Graph, loop: Loop): ExitRoute | null {
  return loop.exits.find((route) => route.condition === 'always') ?? null;
}

/** The loop whose items a socket works on: the first in declaration order that walks over something. */
export function loopOf(graph: Graph, socketId: string): Loop | null {
  return graph.loops.find((loop) => loop.iterator !== null && loop.sockets.includes(socketId)) ?? null;
}
