// Which sockets can come after which: over edges, and over the routes out of loops.
import { END, type Graph } from './config.ts';

/** The sockets that can follow directly on this one. */
export function successorsOf(graph: Graph, id: string): readonly string[] {
  const edges = (graph.sockets[id]?.edges ?? []).map((edge) => edge.to).filter((to) => to !== END);
  const loops = graph.loops.filter((loop) => loop.sockets.includes(id));
  // A loop with nothing to walk over is left by its `always` routes, whichever socket is entered.
  const routes = loops.flatMap(({ exits }) =>
    exits.filter(({ from, condition }) => from === id || condition === 'always'),
  );
  return [...edges, ...routes.map((route) => route.targetSocketId)];
}

/** These sockets and all that can follow on them. */
export function reachedFrom(graph: Graph, starts: readonly string[]): ReadonlySet<string> {
  // A set that grows while it is walked is its own queue.
  const reached = new Set(starts);
  for (const id of reached) for (const next of successorsOf(graph, id)) reached.add(next);
  return reached;
}
