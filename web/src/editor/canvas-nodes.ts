// What the flow library gets of a draft. A part that did not change keeps its identity, so it is not drawn again.
import { useMemo, useState } from 'react';
import { Kept, markNodes, placed } from '../graph/flow.tsx';
import { type Box, edgesOf, type Layout } from '../graph/layout.ts';
import type { DraftState } from './draft.ts';
import { type Drawn, sentenceOf } from './drawn.ts';
import { type AnyNode, advancesOf, type Flag } from './nodes.tsx';
import type { WayEdge } from './ways.tsx';

export function useNodes(
  drawn: Drawn,
  layout: Layout | null,
  selection: DraftState['selection'],
  aimed: string | null,
  here: ReadonlyMap<string, string>,
  nameIn: (id: string) => string,
  flags: ReadonlyMap<string, Flag>,
  isReadOnly: boolean,
): AnyNode[] {
  const [kept] = useState(() => new Kept<AnyNode>());
  return useMemo(() => {
    if (!layout) return [];
    kept.begin();
    const chosen = new Set(selection.sockets);
    const nodes: AnyNode[] = [];
    for (const loopFrame of layout.frames) {
      const loop = drawn.loops.find(({ id }) => id === loopFrame.loop);
      if (!loop) continue;
      const isChosen = selection.loop === loop.id;
      const advances = advancesOf(loop, nameIn);
      const flag = flags.get(`loop:${loop.id}`) ?? null;
      nodes.push(
        kept.part(`frame:${loop.id}`, [loop, loopFrame, isChosen, advances, flag], () => ({
          ...placed(`frame:${loop.id}`, loopFrame),
          type: 'frame',
          zIndex: -1,
          dragHandle: '.loop-legend',
          selectable: false,
          data: { loop, frame: loopFrame, isChosen, advances, flag },
        })),
      );
    }
    for (const socket of drawn.sockets) {
      const box = layout.nodes.get(socket.id);
      if (!box) continue;
      const [isChosen, isAimed, says] = [chosen.has(socket.id), aimed === socket.id, here.get(socket.id) ?? null];
      const flag = flags.get(socket.id) ?? null;
      nodes.push(
        kept.part(socket.id, [socket, box, isChosen, isAimed, says, flag, isReadOnly], () => ({
          ...placed(socket.id, box),
          handles: handlesOf(box),
          type: 'socket',
          selected: isChosen,
          data: { socket, isLow: box.h < 70, isChosen, isAimed, here: says, flag },
        })),
      );
    }
    return [...nodes, ...markNodes(layout, kept)];
  }, [drawn, layout, selection, aimed, here, nameIn, flags, isReadOnly, kept]);
}

/** Where a line begins that is dragged out of a socket, and where it may end. */
function handlesOf({ w, h }: Box): NonNullable<AnyNode['handles']> {
  return [
    { type: 'source', position: 'right' as never, x: w - 8, y: h / 2 - 8, width: 16, height: 16 },
    { type: 'target', position: 'left' as never, x: 0, y: 0, width: w, height: h },
  ];
}

export function useEdges(
  drawn: Drawn,
  layout: Layout | null,
  chosen: string | null,
  aimed: string | null,
  nameIn: (id: string) => string,
  flags: ReadonlyMap<string, Flag>,
): WayEdge[] {
  const [kept] = useState(() => new Kept<WayEdge>());
  return useMemo(() => {
    if (!layout) return [];
    kept.begin();
    const ways = new Map(drawn.ways.map((way) => [way.id, way]));
    return edgesOf(drawn.plan).flatMap((plan): WayEdge[] => {
      const route = layout.routes.get(plan.id);
      if (!route) return [];
      const way = ways.get(plan.id) ?? { ...plan, max: null, at: 0, of: 1, hasItems: false, isNextItem: false };
      const [isChosen, isAimed] = [chosen === plan.id, aimed === plan.id];
      const flag = flags.get(plan.id) ?? null;
      const says = sentenceOf(way, nameIn);
      const about = [route, isChosen, isAimed, flag, says, way.hasItems, way.isNextItem];
      return [
        kept.part(plan.id, about, () => ({
          id: plan.id,
          source: plan.kind === 'exit' ? `mark:${plan.id}` : plan.from,
          target: plan.to,
          type: 'way',
          selectable: false,
          // The words on it are its name.
          domAttributes: { 'aria-hidden': true },
          data: { way, route, isChosen, isAimed, flag, says },
        })),
      ];
    });
  }, [drawn, layout, chosen, aimed, nameIn, flags, kept]);
}
