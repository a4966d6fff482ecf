// The cycles of a directed graph: its strongly connected components that hold one (Tarjan's algorithm, with a stack of
// its own so that a graph of any length can be walked).

type Frame = { readonly node: string; readonly next: Iterator<string> };

/** Each group of nodes that can all reach each other by at least one step; a node with an edge to itself counts. */
export function cyclesIn(nodes: readonly string[], successors: (node: string) => readonly string[]): string[][] {
  const inside = new Set(nodes);
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open = new Set<string>();
  const path: string[] = [];
  const cycles: string[][] = [];

  const enter = (node: string): Frame => {
    order.set(node, order.size);
    low.set(node, order.size - 1);
    open.add(node);
    path.push(node);
    return { node, next: successors(node)[Symbol.iterator]() };
  };
  const lower = (node: string, to: number) => low.set(node, Math.min(low.get(node) ?? to, to));

  for (const start of nodes) {
    if (order.has(start)) continue;
    const frames = [enter(start)];
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const { node, next } = frame;
      const step = next.next();
      if (!step.done) {
        const target = step.value;
        if (!inside.has(target)) continue;
        if (!order.has(target)) frames.push(enter(target));
        else if (open.has(target)) lower(node, order.get(target) ?? 0);
        continue;
      }
      frames.pop();
      const parent = frames.at(-1);
      if (parent) lower(parent.node, low.get(node) ?? 0);
      if (low.get(node) !== order.get(node)) continue;
      const component = path.splice(path.lastIndexOf(node));
      for (const member of component) open.delete(member);
      if (component.length > 1 || successors(node).includes(node)) cycles.push(component);
    }
  }
  return cycles;
}
