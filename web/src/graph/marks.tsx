// What a graph is drawn with: the words on sockets, the marks where a loop is left and where a cast ends, and the lines of ways.
import { BaseEdge, Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { type CSSProperties, type ReactNode, useMemo } from 'react';
import { Icon, type IconName } from '../parts/glyphs.tsx';
import { pathOf, type Route } from './layout.ts';

export type MarkNode = Node<{ readonly says: string }, 'exit' | 'end'>;
const MARK_ICONS: Readonly<Record<string, IconName>> = {
  Generator: 'fan',
  'Loop consumer': 'loop',
  Conversation: 'say',
};

/** What a socket is, on its upper border. */
export function Legends({ marks }: { marks: readonly string[] }): ReactNode {
  if (marks.length === 0) return null;
  return (
    <span className="legends" aria-hidden="true">
      {marks.map((mark) => (
        <span key={mark} className="legend">
          {MARK_ICONS[mark] ? <Icon name={MARK_ICONS[mark]} size={11} /> : null}
          {mark}
        </span>
      ))}
    </span>
  );
}

/** The colour of a materia is a bar. Which one it is says nothing; it only helps to find the same one again. */
export function colourOf(materia: string): number {
  let sum = 0;
  for (const char of materia) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) >>> 0;
  return sum % 6;
}

export function ExitMark({ data: { says } }: NodeProps<MarkNode>): ReactNode {
  return (
    <span className="exit-mark" title={says}>
      <Handle type="source" position={Position.Right} isConnectable={false} />
      <svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
        <path d="M9 1 17 9 9 17 1 9Z" />
      </svg>
    </span>
  );
}

export function EndMark(): ReactNode {
  return (
    <span className="end-mark">
      <Handle type="target" position={Position.Left} isConnectable={false} />
      end
    </span>
  );
}

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
