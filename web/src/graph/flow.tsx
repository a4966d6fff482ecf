// What the graph of a cast and the canvas of the editor share: how much is in sight, where things are, and the tips of ways.
import { Position, useStore } from '@xyflow/react';
import { type ReactNode, useEffect, useRef } from 'react';
import type { PageEdge } from '../../../src/app/views/cast-page.ts';
import { type Box, END, type Layout } from './layout.ts';
import type { MarkNode } from './marks.tsx';

const HANDLES = [
  { type: 'source' as const, position: Position.Right, x: 0, y: 0 },
  { type: 'target' as const, position: Position.Left, x: 0, y: 0 },
];

export const ZOOM_MIN = 0.02;

/** All of it, and no larger than life; where that is too small, its start. At the top there is room for the choice of the face. */
export function fitted(
  { size: { x, y, w, h } }: Layout,
  width: number,
  height: number,
  zoomMin = ZOOM_MIN,
): { x: number; y: number; zoom: number } {
  const [edge, head, foot] = [20, 52, 20];
  const zoom = Math.max(zoomMin, Math.min(1, (width - 2 * edge) / w, (height - head - foot) / h));
  return {
    zoom,
    x: Math.max(edge, (width - w * zoom) / 2) - x * zoom,
    y: Math.max(head, (height - foot - h * zoom) / 2) - y * zoom,
  };
}

/** From afar, a node shows less. The steps are classes, so that nothing is drawn anew while somebody zooms. */
export function Distance(): ReactNode {
  const step = useStore(({ transform: [, , zoom] }) => (zoom < 0.3 ? 'far' : zoom < 0.6 ? 'middle' : 'near'));
  const mark = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const flow = mark.current?.closest<HTMLElement>('.graph');
    if (flow) flow.dataset.distance = step;
  }, [step]);
  return <span ref={mark} hidden />;
}

export function placed(id: string, { x, y, w, h }: Box) {
  return {
    id,
    position: { x, y },
    width: w,
    height: h,
    measured: { width: w, height: h },
    handles: HANDLES.map((handle) => ({ ...handle, width: 1, height: 1 })),
  };
}

/** The socket that lies in the direction of the key: along a way if there is one, else the nearest. */
export function neighbour(
  layout: Layout,
  edges: readonly Pick<PageEdge, 'from' | 'to'>[],
  id: string,
  key: string,
): string | null {
  const own = layout.nodes.get(id);
  if (!own) return null;
  const along = new Set(edges.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : [])));
  let best: { readonly id: string; readonly cost: number } | null = null;
  for (const [other, box] of layout.nodes) {
    if (other === id || other === END) continue;
    const [dx, dy] = [box.x + box.w / 2 - own.x - own.w / 2, box.y + box.h / 2 - own.y - own.h / 2];
    const isAcross = key === 'ArrowLeft' || key === 'ArrowRight';
    const sign = key === 'ArrowLeft' || key === 'ArrowUp' ? -1 : 1;
    const [ahead, aside] = isAcross ? [dx * sign, dy] : [dy * sign, dx];
    if (ahead < 10) continue;
    const cost = ahead + Math.abs(aside) * 2 - (along.has(other) ? 10_000 : 0);
    if (best === null || cost < best.cost) best = { id: other, cost };
  }
  return best?.id ?? null;
}

/** The tips of all ways. They stand once in the page. */
export function Tips(): ReactNode {
  return (
    <svg width="0" height="0" className="tips" aria-hidden="true">
      <defs>
        {['plain', 'rework'].map((sort) => (
          <marker
            key={sort}
            id={`tip-${sort}`}
            viewBox="0 0 8 8"
            refX="7.5"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0 .6 8 4 0 7.4Z" className={`tip-${sort}`} />
          </marker>
        ))}
      </defs>
    </svg>
  );
}

/** Parts that keep their identity as long as what they are made of stays the same, so that they are not drawn again. */
export class Kept<Part> {
  #before = new Map<string, { readonly about: readonly unknown[]; readonly part: Part }>();
  #now = new Map<string, { readonly about: readonly unknown[]; readonly part: Part }>();

  /** Begins a picture. What the one before had and this one does not ask for is forgotten. */
  begin(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }

  /** `about` is all that the part is made of, as plain data. */
  part<P extends Part>(id: string, about: readonly unknown[], make: () => P): Part {
    const before = this.#before.get(id);
    const part = before && isAlike(before.about, about) ? before.part : make();
    this.#now.set(id, { about, part });
    return part;
  }
}

/** The same things, which costs nothing to see, or things that say the same. */
function isAlike(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.every((each, at) => {
    const its = other[at];
    if (Object.is(each, its)) return true;
    return typeof each === 'object' && typeof its === 'object' && JSON.stringify(each) === JSON.stringify(its);
  });
}

/** The diamonds where loops are left, and the end of the cast. */
export function markNodes<Part>(layout: Layout, kept: Kept<Part | MarkNode>): readonly (Part | MarkNode)[] {
  const fixed = { draggable: false, selectable: false, connectable: false };
  const exits = [...layout.exits].map(([id, [x, y]]) =>
    kept.part(`mark:${id}`, [x, y], () => ({
      ...placed(`mark:${id}`, { x: x - 9, y: y - 9, w: 18, h: 18 }),
      ...fixed,
      type: 'exit' as const,
      zIndex: 2,
      data: { says: `Taken when no item is left (${id})` },
    })),
  );
  const box = layout.nodes.get(END);
  if (!box) return exits;
  // A way can be led to the end.
  const end = { ...placed(END, box), ...fixed, connectable: true, type: 'end' as const, data: { says: 'end' } };
  return [...exits, kept.part(END, [box], () => end)];
}
