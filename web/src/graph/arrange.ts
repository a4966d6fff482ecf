// dagre, as the layout asks for it: the boxes of one row, from left to right.
import { Graph, layout } from '@dagrejs/dagre';
import type { Arrange } from './layout.ts';
import { inLine } from './layout.ts';

export const arrange: Arrange = (nodes, ways) => {
  // A chain needs no ranking, and long ones would take seconds.
  const wayOf = new Map(ways.map((way) => [way.from, way]));
  const isChain =
    ways.length === nodes.length - 1 &&
    nodes.every(({ id }, at) => at === ways.length || wayOf.get(id)?.to === nodes[at + 1]?.id);
  if (ways.length === 0 || isChain) {
    const labels = nodes.map(({ id }) => wayOf.get(id)?.label ?? 0);
    return inLine(nodes, labels);
  }
  const graph = new Graph();
  graph.setGraph({
    rankdir: 'LR',
    nodesep: 36,
    ranksep: 48,
    edgesep: 12,
    ranker: nodes.length > 300 ? 'longest-path' : 'network-simplex',
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, w, h } of nodes) graph.setNode(id, { width: w, height: h });
  for (const { from, to, label } of ways)
    graph.setEdge(from, to, label === 0 ? {} : { width: label, height: 18, labelpos: 'c' });
  layout(graph);
  return new Map(
    nodes.map(({ id, w, h }) => {
      const { x, y } = graph.node(id) as { x: number; y: number };
      return [id, [x - w / 2, y - h / 2] as const];
    }),
  );
};
