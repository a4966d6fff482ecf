// How a way is drawn, in a cast and in the editor: its line, its tip, and where its words are.
import { BaseEdge } from '@xyflow/react';
import { type CSSProperties, type ReactNode, useMemo } from 'react';
import { pathOf, type Route } from './layout.ts';

export type WaySort = 'plain' | 'rework' | 'exit';

export function sortOf({ kind, when }: { readonly kind: string; readonly when: string }): WaySort {
  if (kind === 'exit') return 'exit';
  return when === 'not_satisfied' ? 'rework' : 'plain';
}

export function WayLine({
  route,
  sort,
  className = '',
  tip = sort === 'rework' ? 'rework' : 'plain',
  reach = 0,
}: {
  route: Route;
  sort: WaySort;
  className?: string;
  tip?: string;
  /** How near a press must be. */
  reach?: number;
}): ReactNode {
  const path = useMemo(() => pathOf(route.points), [route]);
  return (
    <BaseEdge
      path={path}
      className={`way way-${sort} ${className}`}
      markerEnd={`url(#tip-${tip})`}
      interactionWidth={reach}
    />
  );
}

/** The words of an exit end at their point; all others lie around it. */
export function wordsAt({ label: [x, y] }: Route, sort: WaySort): CSSProperties {
  return { transform: `translate(${sort === 'exit' ? '-82%' : '-50%'}, -50%) translate(${x}px, ${y}px)` };
}
