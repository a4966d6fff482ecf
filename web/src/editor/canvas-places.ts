// Places on the canvas: what is at a point, what is in sight, and where there is room.
import { type Box, END, type Layout, NODE_H, NODE_W, type Point } from '../graph/layout.ts';
import type { DrawnWay } from './drawn.ts';

const GRID = 4;
export function snapped({ x, y }: { readonly x: number; readonly y: number }): { x: number; y: number } {
  return { x: Math.round(x / GRID) * GRID, y: Math.round(y / GRID) * GRID };
}

export function centreOf({ x, y }: { readonly x: number; readonly y: number }): Point {
  return [x + NODE_W / 2, y + NODE_H.outside / 2];
}

export function isSeen(
  box: Box,
  { x, y, zoom }: { x: number; y: number; zoom: number },
  { clientWidth, clientHeight }: Element,
): boolean {
  const [left, top] = [box.x * zoom + x, box.y * zoom + y];
  return left >= 0 && top >= 0 && left + box.w * zoom <= clientWidth && top + box.h * zoom <= clientHeight - 40;
}

export function socketAtPoint(layout: Layout, [x, y]: Point, except?: string): string | null {
  for (const [id, box] of layout.nodes)
    if (id !== END && id !== except && x > box.x && x < box.x + box.w && y > box.y && y < box.y + box.h) return id;
  return null;
}

const WAY_NEAR = 14;

export function wayAtPoint(layout: Layout, ways: readonly DrawnWay[], [x, y]: Point): string | null {
  let best: { readonly id: string; readonly far: number } | null = null;
  for (const { id } of ways) {
    const points = layout.routes.get(id)?.points ?? [];
    for (const [at, [bx, by]] of points.slice(1).entries()) {
      const [ax, ay] = points[at] ?? [bx, by];
      const dx = Math.max(Math.min(ax, bx) - x, 0, x - Math.max(ax, bx));
      const dy = Math.max(Math.min(ay, by) - y, 0, y - Math.max(ay, by));
      const far = Math.hypot(dx, dy);
      if (far <= WAY_NEAR && (best === null || far < best.far)) best = { id, far };
    }
  }
  return best?.id ?? null;
}

export function pointOfWay(layout: Layout, way: string): Point {
  return layout.routes.get(way)?.label ?? [0, 0];
}

/** The place that is nearest to the point and free of other sockets. */
export function freePlace([x, y]: Point, layout: Layout): { x: number; y: number } {
  const boxes = [...layout.nodes.values()];
  const isFree = ([cx, cy]: Point): boolean =>
    boxes.every(
      (box) => Math.abs(box.x + box.w / 2 - cx) > NODE_W + 20 || Math.abs(box.y + box.h / 2 - cy) > NODE_H.inside + 20,
    );
  for (let ring = 0; ring < 30; ring++)
    for (const [dx, dy] of [
      [0, ring],
      [0, -ring],
      [ring, ring],
      [ring, 0],
      [-ring, ring],
    ] as const) {
      const at: Point = [x + dx * 40, y + dy * 40];
      if (isFree(at)) return snapped({ x: at[0] - NODE_W / 2, y: at[1] - NODE_H.outside / 2 });
    }
  return snapped({ x: x - NODE_W / 2, y });
}
