// The layout of the draft. A worker makes it; until it answers, the layout before stays. A drag is followed at once.
import { useEffect, useMemo, useRef, useState } from 'react';
import { END, type Layout, NODE_W, type Plan } from '../graph/layout.ts';
import type { Drawn } from './drawn.ts';
import { freeLayout, type Places } from './free-routes.ts';
import type { LayoutAnswer, LayoutAsked } from './layout-worker.ts';

/** A graph of so many sockets is routed in the page: the answer of a worker would come later. */
const AT_ONCE_MAX = 40;

export type Shown = {
  readonly layout: Layout | null;
  /** The layout of this very draft is shown. */
  readonly isCurrent: boolean;
};

export function useLayout({ plan, places }: Drawn, dragged: Places | null): Shown {
  const key = JSON.stringify([plan, places ? [...places] : null]);
  // The key holds the plan and the places by value.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const whole = useMemo(() => (places ? completed(places, plan) : null), [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const atOnce = useMemo(() => (whole && plan.sockets.length <= AT_ONCE_MAX ? freeLayout(plan, whole) : null), [key]);
  const [answer, setAnswer] = useState<{ readonly key: string; readonly layout: Layout } | null>(null);
  const worker = useRef<Worker | null>(null);
  const asked = useRef({ n: 0, key: '' });
  useEffect(() => {
    const made = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
    made.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => {
      if (data.n === asked.current.n) setAnswer({ key: asked.current.key, layout: data.layout });
    };
    worker.current = made;
    return () => {
      made.terminate();
      worker.current = null;
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (atOnce) return;
    asked.current = { n: asked.current.n + 1, key };
    worker.current?.postMessage({ n: asked.current.n, plan, places: whole } satisfies LayoutAsked);
  }, [key]);
  const still = atOnce ?? answer?.layout ?? null;
  const isCurrent = atOnce !== null || answer?.key === key;
  const last = useRef<Layout | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the layout is of the plan
  const moved = useMemo(() => {
    if (!dragged || !still) return null;
    const all = new Map(placesIn(still, plan));
    for (const [id, at] of dragged) all.set(id, at);
    // While it is dragged only its own ways are routed again.
    return freeLayout(plan, all, places ? still : undefined, places ? new Set(dragged.keys()) : undefined);
  }, [dragged, still]);
  const layout = moved ?? still;
  last.current = layout;
  return { layout, isCurrent };
}

/** Where all sockets are. */
export function placesIn(layout: Layout, plan: Plan): Places {
  return new Map(
    plan.sockets.flatMap(({ id }) => {
      const box = layout.nodes.get(id);
      return box && id !== END ? [[id, { x: Math.round(box.x), y: Math.round(box.y) }] as const] : [];
    }),
  );
}

/** Sockets that nobody placed go below the others. */
export function completed(places: Places, plan: Plan): Places {
  const missing = plan.sockets.filter(({ id }) => !places.has(id));
  if (missing.length === 0) return places;
  const all = new Map(places);
  const left = Math.min(...[...places.values()].map(({ x }) => x));
  const low = Math.max(...[...places.values()].map(({ y }) => y));
  for (const [n, { id }] of missing.entries())
    all.set(id, { x: left + (n % 5) * (NODE_W + 48), y: low + 140 + Math.floor(n / 5) * 120 });
  return all;
}
