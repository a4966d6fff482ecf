// Where everything of a graph stands. Sockets outside of loops form rows, each loop is a row in a frame of its own, and rows
// follow each other from top to bottom; a row after a loop reads from right to left, so that its first socket stands below
// the way out. dagre places the sockets within a row. Ways are orthogonal and run in the space between.
import type { PageEdge, PageLoop, PageSocket } from '../../../src/app/views/cast-page.ts';

export type Box = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
export type Point = readonly [x: number, y: number];
export type Route = {
  readonly points: readonly Point[];
  readonly label: Point;
  readonly sort: 'forth' | 'back' | 'next' | 'exit' | 'self';
};
export type Frame = Box & { readonly loop: string; readonly lanesTop: number; readonly isInner: boolean };
export type Layout = {
  readonly nodes: ReadonlyMap<string, Box>;
  readonly frames: readonly Frame[];
  readonly routes: ReadonlyMap<string, Route>;
  /** The middle of the diamond of each exit. */
  readonly exits: ReadonlyMap<string, Point>;
  readonly size: Box;
};

/** What the layout needs of a graph: nothing of it changes while a cast runs. */
export type Plan = {
  readonly sockets: readonly Pick<PageSocket, 'id' | 'isEntry'>[];
  readonly edges: readonly PlanEdge[];
  readonly loops: readonly PlanLoop[];
};
export type PlanEdge = Pick<PageEdge, 'id' | 'from' | 'to' | 'when' | 'kind'>;
type PlanLoop = Pick<PageLoop, 'id' | 'steps' | 'lanes' | 'list'>;

export const END = 'end';
export const NODE_W = 168;
export const NODE_H = { inside: 76, outside: 60 } as const;
export const END_SIZE = { w: 44, h: 22 } as const;
const GAP = 48;
const LANE_H = 26;
const LANES_SHOWN = 4;
const PAD = { left: 40, right: 24, top: 64, bottom: 20 } as const;
export const STEP = 12;
/** The legends of a loop and the titles of its items need so much. */
const LOOP_W_MIN = 600;

/** Places boxes that are joined by ways; from left to right. */
export type Arrange = (
  nodes: readonly { readonly id: string; readonly w: number; readonly h: number }[],
  ways: readonly { readonly from: string; readonly to: string; readonly label: number }[],
) => ReadonlyMap<string, Point>;

type Row = {
  readonly ids: readonly string[];
  readonly loop: PlanLoop | null;
  isMirrored: boolean;
};

/** The rows of lanes that a frame keeps free: the most that it shows, and one line for the others. */
export function laneRows({ lanes, list }: Pick<PlanLoop, 'lanes' | 'list'>): number {
  if (list === null) return 0;
  return lanes > LANES_SHOWN ? LANES_SHOWN : Math.max(1, lanes);
}

/** A socket without a way out ends the cast; that way is drawn, too. */
export function edgesOf({ sockets, edges }: Plan): readonly PlanEdge[] {
  const leaving = new Set(edges.map(({ from }) => from));
  const ends = sockets
    .filter(({ id }) => !leaving.has(id))
    .map(({ id }) => ({ id: `${id}:end`, from: id, to: END, when: 'always', kind: 'edge' as const }));
  return [...edges, ...ends];
}

export function layoutOf(plan: Plan, arrange: Arrange): Layout {
  const edges = edgesOf(plan);
  const known = new Set(plan.sockets.map(({ id }) => id));
  const ways = edges.filter(({ from, to }) => known.has(from) && (known.has(to) || to === END));
  const rows = rowsOf(plan, ways);
  const rowOf = new Map(rows.flatMap((row, at) => row.ids.map((id) => [id, at] as const)));
  const nodes = new Map<string, Box>();
  const frames: Frame[] = [];
  const boxes: Box[] = [];
  const back = backEdges(plan, ways);
  const hasLoops = rows.some(({ loop }) => loop !== null);
  let top = 20;
  let width = 0;
  for (const [at, row] of rows.entries()) {
    const inner = ways.filter(
      ({ from, to, kind }) => kind === 'edge' && rowOf.get(from) === at && rowOf.get(to) === at,
    );
    const forth = inner.filter(({ id, from, to }) => !back.has(id) && from !== to);
    const above = inner.filter(({ id, when }) => back.has(id) && when === 'not_satisfied').length;
    const below = inner.filter(
      ({ id, when, from, to }) => back.has(id) && when !== 'not_satisfied' && from !== to,
    ).length;
    const sizes = row.ids.map((id) => ({ id, ...sizeOf(id, row.loop !== null) }));
    const labels = forth.map(({ from, to, when }) => ({ from, to, label: when === 'always' ? 0 : 62 }));
    const placed = arrange(sizes, labels);
    const extent = extentOf(sizes, placed);
    const up = above === 0 ? 0 : 22 + above * STEP;
    const down = below === 0 ? 0 : 34 + below * STEP;
    const [left, head] = row.loop ? [PAD.left, PAD.top] : [0, 0];
    const foot = row.loop ? PAD.bottom + laneRows(row.loop) * LANE_H : 0;
    const needed = extent.w + left + (row.loop ? PAD.right + 10 : 0);
    const w = row.loop?.list != null ? Math.max(LOOP_W_MIN, needed) : needed;
    const h = extent.h + head + up + down + foot;
    // Sockets of one column stand below each other, inside of a loop and outside.
    const x = hasLoops && row.loop === null ? 20 + PAD.left : 20;
    for (const { id, w: own, h: high } of sizes) {
      const [px, py] = placed.get(id) ?? [0, 0];
      const from = row.isMirrored ? extent.w - (px - extent.x) - own : px - extent.x;
      nodes.set(id, { x: x + left + from, y: top + head + up + py - extent.y, w: own, h: high });
    }
    boxes.push({ x, y: top, w, h });
    if (row.loop) {
      const lanesTop = top + h - laneRows(row.loop) * LANE_H;
      frames.push({ loop: row.loop.id, x, y: top, w, h, lanesTop, isInner: false });
    }
    width = Math.max(width, w);
    top += h + 64 + STEP * Math.min(4, crossing(ways, rowOf, at) - 1);
  }
  alignMirrored(rows, boxes, nodes);
  frames.push(...innerFrames(plan, nodes, frames));
  const routes = new Map<string, Route>();
  const exits = new Map<string, Point>();
  route({ ways, rows, rowOf, nodes, boxes, frames, back, routes, exits });
  return { nodes, frames, routes, exits, size: sizeOfAll(nodes, frames, routes) };
}

function sizeOf(id: string, isInside: boolean): { w: number; h: number } {
  if (id === END) return END_SIZE;
  return { w: NODE_W, h: isInside ? NODE_H.inside : NODE_H.outside };
}

function extentOf(
  sizes: readonly { readonly id: string; readonly w: number; readonly h: number }[],
  placed: ReadonlyMap<string, Point>,
): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { id, w, h } of sizes) {
    const [x, y] = placed.get(id) ?? [0, 0];
    [left, top] = [Math.min(left, x), Math.min(top, y)];
    [right, bottom] = [Math.max(right, x + w), Math.max(bottom, y + h)];
  }
  return sizes.length === 0 ? { x: 0, y: 0, w: 0, h: 0 } : { x: left, y: top, w: right - left, h: bottom - top };
}

// Rows.
function rowsOf(plan: Plan, ways: readonly PlanEdge[]): readonly Row[] {
  const outer = plan.loops.filter(
    (loop) =>
      !plan.loops.some(
        (other) =>
          other !== loop &&
          contains(other, loop) &&
          (!contains(loop, other) || plan.loops.indexOf(other) < plan.loops.indexOf(loop)),
      ),
  );
  const loopOf = new Map<string, PlanLoop>();
  for (const loop of outer) for (const id of loop.steps) if (!loopOf.has(id)) loopOf.set(id, loop);
  const order = orderOf(plan, ways, loopOf);
  const rows: Row[] = [];
  let run: string[] = [];
  const flush = (): void => {
    if (run.length > 0) rows.push(...wrapped(run, ways));
    run = [];
  };
  for (const group of order) {
    const loop = loopOf.get(group[0] ?? '');
    if (loop) {
      flush();
      rows.push({ ids: group, loop, isMirrored: false });
    } else run.push(...group);
  }
  flush();
  for (const [at, row] of rows.entries()) row.isMirrored = row.loop === null && rows[at - 1]?.loop != null;
  return rows;
}

function contains({ steps }: PlanLoop, other: PlanLoop): boolean {
  return other.steps.every((id) => steps.includes(id));
}

/** Sockets and whole loops in an order in which ways lead on, as far as that can be. */
function orderOf(plan: Plan, ways: readonly PlanEdge[], loopOf: ReadonlyMap<string, PlanLoop>): readonly string[][] {
  const groupOf = (id: string) => loopOf.get(id)?.id ?? id;
  const members = new Map<string, string[]>();
  for (const { id } of plan.sockets) members.set(groupOf(id), [...(members.get(groupOf(id)) ?? []), id]);
  const after = new Map<string, Set<string>>();
  for (const { from, to } of ways) {
    const [a, b] = [groupOf(from), groupOf(to)];
    if (a !== b) after.set(a, (after.get(a) ?? new Set()).add(b));
  }
  // Depth first, each group noted when all that follows it is: the reverse of that is the order.
  const done: string[] = [];
  const seen = new Set<string>();
  const visit = (start: string): void => {
    const stack: { id: string; next: string[] }[] = [];
    const enter = (id: string): void => {
      seen.add(id);
      stack.push({ id, next: [...(after.get(id) ?? [])].reverse() });
    };
    enter(start);
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const next = top.next.shift();
      if (next === undefined) {
        done.push(top.id);
        stack.pop();
      } else if (!seen.has(next)) enter(next);
    }
  };
  const entry = plan.sockets.find(({ isEntry }) => isEntry);
  if (entry) visit(groupOf(entry.id));
  const reached = done.splice(0).reverse();
  for (const group of members.keys()) if (!seen.has(group)) visit(group);
  const rest = done.reverse();
  const ids = [...reached, ...rest].filter((id) => id !== END);
  if (seen.has(END) || ways.some(({ to }) => to === END)) ids.push(END);
  return ids.map((id) => members.get(id) ?? [id]);
}

/** A chain that is long is broken into lines. */
function wrapped(run: readonly string[], ways: readonly PlanEdge[]): Row[] {
  const own = new Set(run);
  const inner = ways.filter(({ from, to, kind }) => kind === 'edge' && own.has(from) && own.has(to));
  const isChain = inner.every(({ from, to }) => run.indexOf(to) === run.indexOf(from) + 1);
  const perRow = Math.max(4, Math.ceil(Math.sqrt(run.length * 1.5)));
  const sockets = run.filter((id) => id !== END).length;
  if (!isChain || sockets <= perRow) return [{ ids: run, loop: null, isMirrored: false }];
  const rows: Row[] = [];
  for (let at = 0; at < run.length; at += perRow) {
    const ids = run.slice(at, at + perRow);
    const before = rows.at(-1);
    // The end alone is no line.
    if (before && ids.length === 1 && ids[0] === END) rows[rows.length - 1] = { ...before, ids: [...before.ids, END] };
    else rows.push({ ids, loop: null, isMirrored: false });
  }
  return rows;
}

/** Ways that lead to where the cast came from. */
export function backEdges({ sockets }: Plan, ways: readonly PlanEdge[]): ReadonlySet<string> {
  const next = new Map<string, PlanEdge[]>();
  // Work that is sent back is looked at last: what goes on shows the direction.
  const rank = ({ when }: PlanEdge) => (when === 'not_satisfied' ? 1 : 0);
  for (const way of [...ways].sort((a, b) => rank(a) - rank(b))) {
    if (way.kind === 'edge') next.set(way.from, [...(next.get(way.from) ?? []), way]);
  }
  const back = new Set<string>();
  const state = new Map<string, 'open' | 'done'>();
  const entry = sockets.find(({ isEntry }) => isEntry)?.id;
  for (const start of [...(entry === undefined ? [] : [entry]), ...sockets.map(({ id }) => id)]) {
    if (state.has(start)) continue;
    const stack = [{ id: start, at: 0 }];
    state.set(start, 'open');
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const way = next.get(top.id)?.[top.at];
      if (!way) {
        state.set(top.id, 'done');
        stack.pop();
        continue;
      }
      top.at += 1;
      const seen = state.get(way.to);
      if (seen === 'open') back.add(way.id);
      else if (seen === undefined) {
        state.set(way.to, 'open');
        stack.push({ id: way.to, at: 0 });
      }
    }
  }
  return back;
}

/** How many ways run through the space below a row. */
function crossing(ways: readonly PlanEdge[], rowOf: ReadonlyMap<string, number>, at: number): number {
  return Math.max(
    1,
    ways.filter(({ from, to }) => {
      const [a, b] = [rowOf.get(from) ?? 0, rowOf.get(to) ?? 0];
      return Math.min(a, b) <= at && Math.max(a, b) > at;
    }).length,
  );
}

/** A row that reads from right to left ends where the frame above it ends. */
function alignMirrored(rows: readonly Row[], boxes: Box[], nodes: Map<string, Box>): void {
  for (const [at, row] of rows.entries()) {
    const [above, box] = [boxes[at - 1], boxes[at]];
    if (!row.isMirrored || !above || !box) continue;
    const by = above.x + above.w - PAD.right - 10 - (box.x + box.w);
    boxes[at] = { ...box, x: box.x + by };
    for (const id of row.ids) {
      const node = nodes.get(id);
      if (node) nodes.set(id, { ...node, x: node.x + by });
    }
  }
}

/** A loop within a loop is a frame around its sockets. */
function innerFrames(plan: Plan, nodes: ReadonlyMap<string, Box>, outer: readonly Frame[]): readonly Frame[] {
  return plan.loops.flatMap(({ id, steps }) => {
    if (outer.some(({ loop }) => loop === id) || steps.length === 0) return [];
    const boxes = steps.flatMap((step) => nodes.get(step) ?? []);
    if (boxes.length === 0) return [];
    const x = Math.min(...boxes.map((box) => box.x)) - 14;
    const y = Math.min(...boxes.map((box) => box.y)) - 30;
    const right = Math.max(...boxes.map((box) => box.x + box.w)) + 14;
    const bottom = Math.max(...boxes.map((box) => box.y + box.h)) + 14;
    return [{ loop: id, x, y, w: right - x, h: bottom - y, lanesTop: bottom, isInner: true }];
  });
}

// Ways.
type Routing = {
  readonly ways: readonly PlanEdge[];
  readonly rows: readonly Row[];
  readonly rowOf: ReadonlyMap<string, number>;
  readonly nodes: ReadonlyMap<string, Box>;
  readonly boxes: readonly Box[];
  readonly frames: readonly Frame[];
  readonly back: ReadonlySet<string>;
  readonly routes: Map<string, Route>;
  readonly exits: Map<string, Point>;
};

function route(routing: Routing): void {
  const { ways, rows, rowOf, nodes, boxes, frames, back, routes, exits } = routing;
  const left = Math.min(...boxes.map(({ x }) => x), 20);
  const right = Math.max(...boxes.map(({ x, w }) => x + w), 20);
  const used = { above: new Map<number, number>(), below: new Map<number, number>(), left: 0, right: 0 };
  const between = new Map<number, number>();
  /** A free height in the space below a row. */
  const channel = (row: number): number => {
    const box = boxes[row];
    const n = between.get(row) ?? 0;
    between.set(row, n + 1);
    return (box ? box.y + box.h : 0) + 24 + STEP * Math.min(n, 4);
  };
  const isFront = (id: string, row: number): boolean => {
    const [node, others] = [nodes.get(id), rows[row]?.ids ?? []];
    if (!node) return false;
    const isMirrored = rows[row]?.isMirrored ?? false;
    return others.every((other) => {
      const box = nodes.get(other);
      if (!box || other === id || Math.abs(box.y + box.h / 2 - node.y - node.h / 2) > 30) return true;
      return isMirrored ? box.x < node.x : box.x > node.x;
    });
  };
  for (const way of ways) {
    const [from, to] = [nodes.get(way.from), nodes.get(way.to)];
    const [a, b] = [rowOf.get(way.from) ?? 0, rowOf.get(way.to) ?? 0];
    if (!from || !to) continue;
    if (way.kind === 'exit') continue;
    if (way.from === way.to) routes.set(way.id, selfRoute(from));
    else if (a === b) {
      const isBack = back.has(way.id);
      if (!isBack) routes.set(way.id, forth(way, from, to, rows[a], nodes, used.above, a));
      else {
        const isRework = way.when === 'not_satisfied';
        const lanes = isRework ? used.above : used.below;
        const n = lanes.get(a) ?? 0;
        lanes.set(a, n + 1);
        routes.set(way.id, isRework ? overRoute(from, to, n) : underRoute(from, to, n));
      }
    } else if (b > a) routes.set(way.id, downRoute(way, from, to, a, b));
    else {
      const [low, high] = [channel(a), (boxes[b]?.y ?? 0) - 14 - STEP * (used.right % 3)];
      const gutter = right + 28 + STEP * used.right++;
      const [x, end] = [from.x + from.w * 0.3, to.x + to.w * 0.8];
      const points: Point[] = [
        [x, from.y + from.h],
        [x, low],
        [gutter, low],
        [gutter, high],
        [end, high],
        [end, to.y],
      ];
      routes.set(way.id, { points, label: [gutter, (low + high) / 2], sort: 'back' });
    }
  }
  routeExits();

  function downRoute(_way: PlanEdge, from: Box, to: Box, a: number, b: number): Route {
    const isMirrored = rows[b]?.isMirrored ?? false;
    const y = channel(a);
    const [x, middle] = [from.x + from.w / 2, to.y + to.h / 2];
    const side = isMirrored ? to.x + to.w : to.x;
    const beside = isMirrored ? side + 20 : side - 20;
    const isSide = isFront(_way.to, b);
    const start: Point[] = [
      [x, from.y + from.h],
      [x, y],
    ];
    if (b === a + 1) {
      const end: Point[] = isSide
        ? [
            [beside, y],
            [beside, middle],
            [side, middle],
          ]
        : topEnd(to, b, y);
      const points = [...start, ...end];
      return { points, label: [(x + (points[2]?.[0] ?? x)) / 2, y], sort: 'forth' };
    }
    const gutter = left - 24 - STEP * used.left++;
    const above = (boxes[b]?.y ?? 0) - 14 - STEP * (used.left % 3);
    const end: Point[] = isSide
      ? [
          [beside, above],
          [beside, middle],
          [side, middle],
        ]
      : topEnd(to, b, above);
    return {
      points: [...start, [gutter, y], [gutter, above], ...end],
      label: [gutter, (y + above) / 2],
      sort: 'forth',
    };
  }

  function topEnd(to: Box, _row: number, y: number): Point[] {
    const x = to.x + to.w / 2;
    return [
      [x, y],
      [x, to.y],
    ];
  }

  function routeExits(): void {
    const count = new Map<string, number>();
    for (const way of ways) {
      if (way.kind !== 'exit') continue;
      const loop = way.id.split(':')[1] ?? '';
      const frame =
        frames.find((each) => each.loop === loop) ?? frames.find((each) => isInside(nodes.get(way.from), each));
      const [from, to] = [nodes.get(way.from), nodes.get(way.to)];
      if (!frame || !from || !to) continue;
      const n = count.get(frame.loop) ?? 0;
      count.set(frame.loop, n + 1);
      const shift = n === 0 ? 0 : (n % 2 === 1 ? 1 : -1) * Math.ceil(n / 2) * 24;
      const at: Point = [frame.x + frame.w, from.y + from.h / 2 + shift];
      exits.set(way.id, at);
      const [a, b] = [rowOf.get(way.from) ?? 0, rowOf.get(way.to) ?? 0];
      const out = right + 20 + STEP * n;
      const middle = to.y + to.h / 2;
      const side = to.x + to.w;
      // Below the frame, or above it where the loop is left to do something once more.
      const isClear = b === a + 1 && isMirroredFront(way.to, b);
      const end: Point[] = isClear
        ? [
            [out, middle],
            [side, middle],
          ]
        : [
            [out, b > a ? to.y - 22 - STEP * (n % 3) : to.y - 14],
            [to.x + to.w / 2, b > a ? to.y - 22 - STEP * (n % 3) : to.y - 14],
            [to.x + to.w / 2, to.y],
          ];
      // The last socket of its line is joined to the way out of the loop.
      const others = rows[a]?.ids.flatMap((id) => (id === way.from ? [] : (nodes.get(id) ?? []))) ?? [];
      const isLast = shift === 0 && !others.some((box) => box.x > from.x && Math.abs(box.y - from.y) < box.h);
      const points: Point[] = [[isLast ? from.x + from.w : at[0] + 9, at[1]], [out, at[1]], ...end];
      const last = points[2] ?? at;
      routes.set(way.id, {
        points,
        label: [out, Math.max(frame.y + frame.h + 26 + 22 * n, (at[1] + last[1]) / 2)],
        sort: 'exit',
      });
    }
  }

  function isMirroredFront(id: string, row: number): boolean {
    return (rows[row]?.isMirrored ?? false) && isFront(id, row);
  }
}

function isInside(box: Box | undefined, frame: Box): boolean {
  return (
    box !== undefined &&
    box.x >= frame.x &&
    box.x + box.w <= frame.x + frame.w &&
    box.y >= frame.y &&
    box.y < frame.y + frame.h
  );
}

export function selfRoute({ x, y, w }: Box): Route {
  const [a, b] = [x + w - 30, x + w + 20];
  return {
    points: [
      [a, y],
      [a, y - 26],
      [b, y - 26],
      [b, y + 18],
      [x + w, y + 18],
    ],
    label: [(a + b) / 2, y - 26],
    sort: 'self',
  };
}

function overRoute(from: Box, to: Box, n: number): Route {
  const y = Math.min(from.y, to.y) - 38 - STEP * n;
  const isLeft = to.x < from.x;
  const [a, b] = [from.x + from.w * (isLeft ? 0.4 : 0.82), to.x + to.w * (isLeft ? 0.82 : 0.4)];
  return {
    points: [
      [a, from.y],
      [a, y],
      [b, y],
      [b, to.y],
    ],
    label: [(a + b) / 2, y],
    sort: 'back',
  };
}

function underRoute(from: Box, to: Box, n: number): Route {
  const y = Math.max(from.y + from.h, to.y + to.h) + 32 + STEP * n;
  const [a, b] = [from.x + from.w / 2, to.x + to.w / 2 - STEP * n];
  return {
    points: [
      [a, from.y + from.h],
      [a, y],
      [b, y],
      [b, to.y + to.h],
    ],
    label: [(a + b) / 2, y],
    sort: 'next',
  };
}

function forth(
  { from: source, to: target }: PlanEdge,
  from: Box,
  to: Box,
  row: Row | undefined,
  nodes: ReadonlyMap<string, Box>,
  above: Map<number, number>,
  at: number,
): Route {
  const isMirrored = row?.isMirrored ?? false;
  const [start, end] = isMirrored ? [from.x, to.x + to.w] : [from.x + from.w, to.x];
  const [y, yEnd] = [from.y + from.h / 2, to.y + to.h / 2];
  const isFree = (height: number, one: number, two: number): boolean => {
    const [low, high] = [Math.min(one, two), Math.max(one, two)];
    return !(row?.ids ?? []).some((id) => {
      const box = id === source || id === target ? undefined : nodes.get(id);
      return box && box.x < high && box.x + box.w > low && box.y - 6 < height && box.y + box.h + 6 > height;
    });
  };
  if (Math.abs(y - yEnd) < 2 && isFree(y, start, end))
    return {
      points: [
        [start, y],
        [end, yEnd],
      ],
      label: [(start + end) / 2, y],
      sort: 'forth',
    };
  const nearEnd = isMirrored ? end + 22 : end - 22;
  const nearStart = isMirrored ? start - 22 : start + 22;
  if (isFree(y, start, nearEnd))
    return {
      points: [
        [start, y],
        [nearEnd, y],
        [nearEnd, yEnd],
        [end, yEnd],
      ],
      label: [(start + nearEnd) / 2, y],
      sort: 'forth',
    };
  if (isFree(yEnd, nearStart, end))
    return {
      points: [
        [start, y],
        [nearStart, y],
        [nearStart, yEnd],
        [end, yEnd],
      ],
      label: [(nearStart + end) / 2, yEnd],
      sort: 'forth',
    };
  const n = above.get(at) ?? 0;
  above.set(at, n + 1);
  return { ...overRoute(from, to, n), sort: 'forth' };
}

export function sizeOfAll(
  nodes: ReadonlyMap<string, Box>,
  frames: readonly Frame[],
  routes: ReadonlyMap<string, Route>,
): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const see = (x: number, y: number): void => {
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  };
  // A legend stands on the upper border of its box.
  for (const { x, y, w, h } of [...nodes.values(), ...frames]) {
    see(x, y - 11);
    see(x + w, y + h);
  }
  for (const { points } of routes.values()) for (const [x, y] of points) see(x, y);
  return left > right ? { x: 0, y: 0, w: 1, h: 1 } : { x: left, y: top, w: right - left, h: bottom - top };
}

/** A path with corners of 6 pixels. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  const parts = [`M${first[0]},${first[1]}`];
  for (const [at, corner] of rest.entries()) {
    const [before, after] = [points[at], rest[at + 1]];
    if (!before || !after) {
      parts.push(`L${corner[0]},${corner[1]}`);
      continue;
    }
    const r = Math.min(6, distance(before, corner) / 2, distance(corner, after) / 2);
    const [ax, ay] = towards(corner, before, r);
    const [bx, by] = towards(corner, after, r);
    parts.push(`L${ax},${ay}Q${corner[0]},${corner[1]} ${bx},${by}`);
  }
  return parts.join('');
}

function distance([ax, ay]: Point, [bx, by]: Point): number {
  return Math.hypot(bx - ax, by - ay);
}

function towards(from: Point, to: Point, by: number): Point {
  const d = distance(from, to);
  if (d === 0) return from;
  return [from[0] + ((to[0] - from[0]) * by) / d, from[1] + ((to[1] - from[1]) * by) / d];
}

/** Without a way there is no rank: boxes one beside the other, with room for the label of the way to the next. */
export function inLine(
  nodes: readonly { readonly id: string; readonly w: number; readonly h: number }[],
  labels: readonly number[] = [],
): ReadonlyMap<string, Point> {
  let x = 0;
  const high = Math.max(0, ...nodes.map(({ h }) => h));
  return new Map(
    nodes.map(({ id, w, h }, n) => {
      const at: Point = [x, (high - h) / 2];
      x += w + GAP + (labels[n] ?? 0);
      return [id, at] as const;
    }),
  );
}
