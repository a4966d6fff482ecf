// Where everything is once people have placed the sockets. Frames follow their sockets. For each way a few orthogonal
// lines are compared; the one that runs through the fewest boxes and along the fewest other lines is drawn.
import {
  type Box,
  backEdges,
  END,
  END_SIZE,
  edgesOf,
  type Frame,
  type Layout,
  NODE_H,
  NODE_W,
  type Plan,
  type PlanEdge,
  type Point,
  type Route,
  STEP,
  selfRoute,
  sizeOfAll,
} from '../graph/layout.ts';

export type Places = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

const PAD = { left: 40, right: 34, top: 64, bottom: 52 } as const;
const INNER_PAD = { left: 16, right: 16, top: 34, bottom: 18 } as const;
const EXIT = { gap: 20, half: 9, apart: 24 } as const;

/** What it costs to run through a socket. */
const THROUGH = 900;

type Segment = readonly [x1: number, y1: number, x2: number, y2: number];
type Candidate = { readonly points: readonly Point[]; readonly sort: Route['sort']; readonly cost: number };

/** `before` and `moved` are for a drag: ways between sockets that did not move are kept. */
export function freeLayout(plan: Plan, places: Places, before?: Layout, moved?: ReadonlySet<string>): Layout {
  const ways = edgesOf(plan).filter(({ to }) => to === END || places.has(to));
  const members = new Set(plan.loops.flatMap(({ steps }) => steps));
  const nodes = new Map<string, Box>();
  for (const { id } of plan.sockets) {
    const at = places.get(id);
    if (at) nodes.set(id, { ...at, w: NODE_W, h: members.has(id) ? NODE_H.inside : NODE_H.outside });
  }
  const ends = ways.filter(({ to }) => to === END);
  if (ends.length > 0) nodes.set(END, endBox(ends, nodes));
  const frames = framesOf(plan, nodes);
  const routes = new Map<string, Route>();
  const exits = new Map<string, Point>();
  const drawn = new Lines();
  const back = backEdges(plan, ways);
  const isMoved = ({ from, to }: PlanEdge): boolean => {
    if (!moved) return true;
    if (moved.has(from) || moved.has(to)) return true;
    // The end goes where the last socket goes, and an exit where the frame goes.
    return to === END || plan.loops.some(({ steps }) => steps.includes(from) && steps.some((step) => moved.has(step)));
  };
  const open: PlanEdge[] = [];
  for (const way of ways) {
    const kept = isMoved(way) ? undefined : before?.routes.get(way.id);
    if (!kept) {
      open.push(way);
      continue;
    }
    routes.set(way.id, kept);
    drawn.add(kept.points);
    const exit = before?.exits.get(way.id);
    if (exit) exits.set(way.id, exit);
  }
  // Short ways first: a long one has more room to go around.
  const span = ({ from, to }: PlanEdge): number => {
    const [a, b] = [nodes.get(from), nodes.get(to)];
    return a && b ? Math.abs(a.x - b.x) + Math.abs(a.y - b.y) : 0;
  };
  const boxes = [...nodes].map(([id, box]) => ({ id, ...box }));
  const atFrame = new Map<string, number>();
  for (const way of open.toSorted((one, other) => span(one) - span(other))) {
    const [from, to] = [nodes.get(way.from), nodes.get(way.to)];
    if (!from || !to) continue;
    if (way.from === way.to) {
      routes.set(way.id, selfRoute(from));
      continue;
    }
    let candidates: readonly Candidate[];
    if (way.kind === 'exit') {
      const frame = frameOf(way, frames);
      if (!frame) continue;
      const n = atFrame.get(frame.loop) ?? 0;
      atFrame.set(frame.loop, n + 1);
      const at: Point = [frame.x + frame.w, from.y + from.h / 2 + shiftOf(n)];
      exits.set(way.id, at);
      candidates = exitCandidates(from, at, to, shiftOf(n) === 0 && isLastInLine(from, boxes, frame));
    } else candidates = candidatesOf(way, from, to, back.has(way.id));
    let best = cheapest(candidates, boxes, way, drawn, frames);
    if (best === null || best.total >= THROUGH) {
      const longer = cheapest([...candidates, ...aroundAll(way, from, to, boxes)], boxes, way, drawn, frames);
      if (longer && (best === null || longer.total < best.total)) best = longer;
    }
    if (!best) continue;
    const { points, sort } = best.candidate;
    drawn.add(points);
    routes.set(way.id, { points, label: labelAt(points), sort });
  }
  return { nodes, frames, routes, exits, size: sizeOfAll(nodes, frames, routes) };
}

function shiftOf(n: number): number {
  return n === 0 ? 0 : (n % 2 === 1 ? 1 : -1) * Math.ceil(n / 2) * EXIT.apart;
}

/** The sign of the end is next to the first socket that leads there. */
function endBox(ends: readonly PlanEdge[], nodes: ReadonlyMap<string, Box>): Box {
  const { w, h } = END_SIZE;
  const from = nodes.get(ends[0]?.from ?? '');
  if (!from) return { x: 0, y: 0, w, h };
  const middle = from.y + (from.h - h) / 2;
  const around: readonly Box[] = [
    { x: from.x + from.w + 48, y: middle, w, h },
    { x: from.x - 48 - w, y: middle, w, h },
    { x: from.x + (from.w - w) / 2, y: from.y + from.h + 40, w, h },
    { x: from.x + (from.w - w) / 2, y: from.y - 40 - h, w, h },
  ];
  const isFree = (box: Box): boolean => [...nodes.values()].every((each) => !meets(each, box, 12));
  return around.find(isFree) ?? { x: from.x + from.w + 48, y: middle, w, h };
}

function meets(a: Box, b: Box, by: number): boolean {
  return a.x - by < b.x + b.w && a.x + a.w + by > b.x && a.y - by < b.y + b.h && a.y + a.h + by > b.y;
}

function framesOf(plan: Plan, nodes: ReadonlyMap<string, Box>): readonly Frame[] {
  return plan.loops.flatMap((loop) => {
    const boxes = loop.steps.flatMap((step) => nodes.get(step) ?? []);
    if (boxes.length === 0) return [];
    const isInner = plan.loops.some(
      (other) =>
        other !== loop &&
        other.steps.length > loop.steps.length &&
        loop.steps.every((step) => other.steps.includes(step)),
    );
    const pad = isInner ? INNER_PAD : PAD;
    const x = Math.min(...boxes.map((box) => box.x)) - pad.left;
    const y = Math.min(...boxes.map((box) => box.y)) - pad.top;
    const right = Math.max(...boxes.map((box) => box.x + box.w)) + pad.right;
    const bottom = Math.max(...boxes.map((box) => box.y + box.h)) + pad.bottom;
    return [{ loop: loop.id, x, y, w: right - x, h: bottom - y, lanesTop: bottom, isInner }];
  });
}

function frameOf({ id }: PlanEdge, frames: readonly Frame[]): Frame | undefined {
  return frames.find(({ loop }) => id.startsWith(`loop-exit:${loop}:`));
}

function isLastInLine(from: Box, boxes: readonly Box[], frame: Frame): boolean {
  return !boxes.some(
    (box) => box.x > from.x && box.x < frame.x + frame.w && Math.abs(box.y - from.y) < Math.max(box.h, from.h),
  );
}

function candidatesOf(way: PlanEdge, from: Box, to: Box, isBack: boolean): readonly Candidate[] {
  const found: Candidate[] = [];
  const isRework = way.when === 'not_satisfied';
  const add = (sort: Route['sort'], extra: number, ...points: readonly Point[]): void => {
    found.push({ points, sort, cost: lengthOf(points) * 0.35 + points.length * 12 + extra });
  };
  const [fromX, fromY] = [from.x + from.w / 2, from.y + from.h / 2];
  const [toX, toY] = [to.x + to.w / 2, to.y + to.h / 2];
  const [fromRight, fromLow, toRight, toLow] = [from.x + from.w, from.y + from.h, to.x + to.w, to.y + to.h];
  const forth = isBack ? 260 : 0;
  for (const shift of [0, 16, -16]) {
    const [a, b, extra] = [fromY + shift, toY + shift, shift === 0 ? forth : forth + 20];
    if (to.x >= fromRight + 16)
      for (const x of [(fromRight + to.x) / 2, fromRight + 22, to.x - 22])
        if (Math.abs(a - b) < 2) add('forth', extra, [fromRight, a], [to.x, b]);
        else add('forth', extra, [fromRight, a], [x, a], [x, b], [to.x, b]);
    if (toRight <= from.x - 16)
      for (const x of [(from.x + toRight) / 2, from.x - 22, toRight + 22])
        if (Math.abs(a - b) < 2) add('forth', extra + 10, [from.x, a], [toRight, b]);
        else add('forth', extra + 10, [from.x, a], [x, a], [x, b], [toRight, b]);
    if (to.y >= fromLow + 20)
      for (const y of [(fromLow + to.y) / 2, fromLow + 24, to.y - 24]) {
        const [x1, x2] = [fromX + shift, toX + shift];
        if (Math.abs(x1 - x2) < 2) add('forth', extra, [x1, fromLow], [x2, to.y]);
        else add('forth', extra + 10, [x1, fromLow], [x1, y], [x2, y], [x2, to.y]);
      }
    if (toLow <= from.y - 20)
      for (const y of [(from.y + toLow) / 2, from.y - 24]) {
        const [x1, x2] = [fromX + shift, toX + shift];
        if (Math.abs(x1 - x2) < 2) add('forth', extra + 20, [x1, from.y], [x2, toLow]);
        else add('forth', extra + 30, [x1, from.y], [x1, y], [x2, y], [x2, toLow]);
      }
  }
  // Down and into the side, or out of the side and down.
  if (to.y + to.h / 2 > fromLow + 10 && to.x > fromX + 12)
    add('forth', forth, [fromX, fromLow], [fromX, toY], [to.x, toY]);
  if (to.y > fromY + 24 && toX > fromRight + 16) add('forth', forth + 6, [fromRight, fromY], [toX, fromY], [toX, to.y]);
  for (let n = 0; n < 5; n++) {
    const [high, low] = [Math.min(from.y, to.y) - 38 - STEP * n, Math.max(fromLow, toLow) + 32 + STEP * n];
    const isLeft = to.x < from.x;
    const [a, b] = [from.x + from.w * (isLeft ? 0.4 : 0.82), to.x + to.w * (isLeft ? 0.82 : 0.4)];
    const over = isBack ? (isRework ? 0 : 120) : 90;
    add('back', over + n * 6, [a, from.y], [a, high], [b, high], [b, to.y]);
    const under = isBack ? (isRework ? 120 : 0) : 100;
    const shift = STEP * n;
    add(
      isBack && !isRework ? 'next' : 'back',
      under + n * 6,
      [fromX, fromLow],
      [fromX, low],
      [toX - shift, low],
      [toX - shift, toLow],
    );
    const [left, right] = [Math.min(from.x, to.x) - 28 - STEP * n, Math.max(fromRight, toRight) + 28 + STEP * n];
    add('back', 70 + n * 6, [fromRight, fromY], [right, fromY], [right, toY], [toRight, toY]);
    add('back', 80 + n * 6, [from.x, fromY], [left, fromY], [left, toY], [to.x, toY]);
    // Below the source, along a gutter at the left, and in at the left.
    const channel = fromLow + 24 + STEP * n;
    add('forth', 60 + forth + n * 6, [fromX, fromLow], [fromX, channel], [left, channel], [left, toY], [to.x, toY]);
  }
  return found;
}

function exitCandidates(from: Box, [x, y]: Point, to: Box, isLast: boolean): readonly Candidate[] {
  const start: Point = [isLast ? from.x + from.w : x + EXIT.half, y];
  const [toX, toY, toRight] = [to.x + to.w / 2, to.y + to.h / 2, to.x + to.w];
  const found: Candidate[] = [];
  const add = (extra: number, ...points: readonly Point[]): void => {
    found.push({
      points: [start, ...points],
      sort: 'exit',
      cost: lengthOf([start, ...points]) * 0.35 + points.length * 12 + extra,
    });
  };
  for (let n = 0; n < 4; n++) {
    const out = x + EXIT.gap + STEP * n;
    if (to.x > out + 8) add(n * 6, [out, y], [out, toY], [to.x, toY]);
    if (to.x > out + 8 && Math.abs(y - toY) < 2) add(-10, [to.x, toY]);
    if (toRight + 12 < out) add(n * 6, [out, y], [out, toY], [toRight, toY]);
    for (const side of to.y > y ? [to.y - 22 - STEP * n] : [to.y + to.h + 22 + STEP * n])
      add(10 + n * 6, [out, y], [out, side], [toX, side], [toX, to.y > y ? to.y : to.y + to.h]);
    const far = Math.max(out, toRight + 28 + STEP * n);
    add(30 + n * 6, [far, y], [far, toY], [toRight, toY]);
  }
  return found;
}

/** Out above or below, along the row to a gap between sockets, along the gap, and in above or below. Only for what has no shorter way. */
function aroundAll(way: PlanEdge, from: Box, to: Box, boxes: readonly Box[]): readonly Candidate[] {
  const gaps = [...new Set(boxes.flatMap(({ x, w }) => [x - 26, x + w + 26]))];
  const found: Candidate[] = [];
  const sort = way.kind === 'exit' ? 'exit' : 'forth';
  const [fromX, toX] = [from.x + from.w / 2, to.x + to.w / 2];
  for (const [start, out] of [
    [from.y + from.h, from.y + from.h + 26],
    [from.y, from.y - 26],
  ] as const)
    for (const [end, into] of [
      [to.y, to.y - 26],
      [to.y + to.h, to.y + to.h + 26],
    ] as const)
      for (const gap of gaps)
        for (const n of [0, STEP, -STEP]) {
          const points: readonly Point[] = [
            [fromX + n, start],
            [fromX + n, out + n / 2],
            [gap + n / 2, out + n / 2],
            [gap + n / 2, into + n / 2],
            [toX + n, into + n / 2],
            [toX + n, end],
          ];
          found.push({ points, sort, cost: lengthOf(points) * 0.35 + 200 + Math.abs(n) });
        }
  return found;
}

function lengthOf(points: readonly Point[]): number {
  return points.slice(1).reduce((sum, [x, y], at) => {
    const [px, py] = points[at] ?? [x, y];
    return sum + Math.abs(x - px) + Math.abs(y - py);
  }, 0);
}

function cheapest(
  candidates: readonly Candidate[],
  boxes: readonly (Box & { readonly id: string })[],
  way: PlanEdge,
  drawn: Lines,
  frames: readonly Frame[],
): { readonly candidate: Candidate; readonly total: number } | null {
  let best: { readonly candidate: Candidate; readonly total: number } | null = null;
  for (const candidate of candidates.toSorted((one, other) => one.cost - other.cost)) {
    if (best && candidate.cost >= best.total) break;
    let cost = candidate.cost;
    const segments = segmentsOf(candidate.points);
    const last = segments.length - 1;
    for (const [at, segment] of segments.entries()) {
      for (const box of boxes) {
        // Its own boxes are touched where the way begins and ends, and nowhere else.
        const isOwn = (box.id === way.from && at === 0) || (box.id === way.to && at === last);
        if (!isOwn && runsThrough(segment, box, box.id === way.from || box.id === way.to ? 1 : 7)) cost += THROUGH;
      }
      for (const frame of frames) if (runsThrough(segment, legendOf(frame), 2)) cost += 150;
      for (const { x, y, w, h } of frames)
        for (const side of [
          [x, y, x + w, y],
          [x, y + h, x + w, y + h],
          [x, y, x, y + h],
          [x + w, y, x + w, y + h],
        ] as const)
          if (runsAlong(segment, side)) cost += 80;
      if (best && cost >= best.total) break;
    }
    if (best && cost >= best.total) continue;
    cost += drawn.costOf(segments, best?.total ?? Number.POSITIVE_INFINITY, cost);
    if (!best || cost < best.total) best = { candidate, total: cost };
  }
  return best;
}

/** Where the words of a loop are, about. */
function legendOf({ x, y, w }: Frame): Box {
  return { x: x + 36, y: y - 13, w: Math.min(180, w / 2), h: 26 };
}

function segmentsOf(points: readonly Point[]): readonly Segment[] {
  return points.slice(1).map(([x, y], at) => {
    const [px, py] = points[at] ?? [x, y];
    return [Math.min(px, x), Math.min(py, y), Math.max(px, x), Math.max(py, y)];
  });
}

function runsThrough([x1, y1, x2, y2]: Segment, { x, y, w, h }: Box, by: number): boolean {
  return x1 < x + w + by && x2 > x - by && y1 < y + h + by && y2 > y - by;
}

const NEAR = 7;

/** Whether two lines of one direction are so near that they read as one. */
function runsAlong([ax1, ay1, ax2, ay2]: Segment, [bx1, by1, bx2, by2]: Segment): boolean {
  if (ay1 === ay2 && by1 === by2) return Math.abs(ay1 - by1) < NEAR && ax1 < bx2 - 2 && ax2 > bx1 + 2;
  if (ax1 === ax2 && bx1 === bx2) return Math.abs(ax1 - bx1) < NEAR && ay1 < by2 - 2 && ay2 > by1 + 2;
  return false;
}

/** The lines that are drawn already. */
class Lines {
  readonly #segments: Segment[] = [];

  add(points: readonly Point[]): void {
    this.#segments.push(...segmentsOf(points));
  }

  costOf(segments: readonly Segment[], most: number, start: number): number {
    let cost = 0;
    for (const segment of segments) {
      for (const other of this.#segments) {
        if (runsAlong(segment, other)) cost += 130;
        else if (
          runsThrough(segment, { x: other[0], y: other[1], w: other[2] - other[0], h: other[3] - other[1] }, 0.5)
        )
          cost += 24;
      }
      if (start + cost >= most) return cost;
    }
    return cost;
  }
}

/** In the middle of the longest part that is level; else of the longest one. */
function labelAt(points: readonly Point[]): Point {
  let best: { readonly at: Point; readonly score: number } | null = null;
  for (const [x1, y1, x2, y2] of segmentsOf(points)) {
    const score = x2 - x1 + (y2 - y1) * 0.6;
    if (!best || score > best.score) best = { at: [(x1 + x2) / 2, (y1 + y2) / 2], score };
  }
  return best?.at ?? points[0] ?? [0, 0];
}
