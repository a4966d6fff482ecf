// Lays a graph out away from the page, so that the page never waits for it.
import { arrange } from '../graph/arrange.ts';
import { type Layout, layoutOf, type Plan } from '../graph/layout.ts';
import { freeLayout, type Places } from './free-routes.ts';

export type LayoutAsked = { readonly n: number; readonly plan: Plan; readonly places: Places | null };
export type LayoutAnswer = { readonly n: number; readonly layout: Layout };

addEventListener('message', ({ data: { n, plan, places } }: MessageEvent<LayoutAsked>) => {
  const layout = places ? freeLayout(plan, places) : layoutOf(plan, arrange);
  postMessage({ n, layout } satisfies LayoutAnswer);
});
