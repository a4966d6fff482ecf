// The picture of a draft, to be edited by mouse and by keys. It shows the document and sends edits; it holds no rule.
import {
  Background,
  BackgroundVariant,
  type Connection,
  ConnectionMode,
  MiniMap,
  type NodeChange,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
  useReactFlow,
} from '@xyflow/react';
import {
  type DragEvent,
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Distance, fitted, neighbour, placed, Tips } from '../cast/graph.tsx';
import { type Box, END, edgesOf, type Layout, NODE_H, NODE_W, type Point } from '../cast/layout.ts';
import { Button } from '../parts/button.tsx';
import { useIsPhone } from '../parts/phone.ts';
import { type Draft, type DraftState, wayRef } from './draft.ts';
import type { Drawn, DrawnWay } from './drawn.ts';
import { type AnyNode, advancesOf, type CanvasActs, CanvasContext, type Flag, NODE_TYPES } from './nodes.tsx';
import { completed, placesIn, useLayout } from './use-layout.ts';
import { ChosenTip, EDGE_TYPES, type WayEdge, WayPopover } from './ways.tsx';
import '@xyflow/react/dist/base.css';
import '../cast/graph.css';
import './canvas.css';

/** What a row of the list of materia carries while it is dragged. */
export const MATERIA_TYPE = 'application/x-baton-materia';
/** The same for a row of another loadout. */
export const LOADOUT_TYPE = 'application/x-baton-loadout';
const GRID = 4;
const MAP_FROM = 12;
/** A finger still hits the lowest socket, which is then 44 px high. */
const FINGER_ZOOM = 44 / NODE_H.outside;

export type CanvasHandle = {
  readonly fit: () => void;
  readonly focus: (socket: string) => void;
  readonly zoom: (by: 1 | -1) => void;
  /** Adds a socket: on the chosen edge, after the chosen socket, or alone. */
  readonly add: (materia: string | undefined) => void;
  /** Where the sockets are now, also those that nobody placed. */
  readonly places: () => Readonly<Record<string, { readonly x: number; readonly y: number }>>;
  readonly middle: () => { readonly x: number; readonly y: number };
  readonly layout: () => Layout | null;
};

export type CanvasProps = {
  readonly draft: Draft;
  readonly state: DraftState;
  readonly drawn: Drawn;
  readonly flags: ReadonlyMap<string, Flag>;
  readonly isReadOnly: boolean;
  readonly isStale: boolean;
  /** What a trial does at which socket. */
  readonly here: ReadonlyMap<string, string>;
  readonly onAdd: () => void;
  readonly onConnectTo: (from: string) => void;
  /** Another loadout was dropped; without a place the layout finds one. */
  readonly onLoadout: (name: string, at: { readonly x: number; readonly y: number } | undefined) => void;
  readonly ref: Ref<CanvasHandle>;
  readonly children?: ReactNode;
};

export function Canvas(props: CanvasProps): ReactNode {
  return (
    <ReactFlowProvider>
      <Picture {...props} />
    </ReactFlowProvider>
  );
}

type Aim = { readonly socket: string | null; readonly way: string | null };
const NO_AIM: Aim = { socket: null, way: null };

function Picture({
  draft,
  state,
  drawn,
  flags,
  isReadOnly,
  isStale,
  here,
  onAdd,
  onConnectTo,
  onLoadout,
  ref,
  children,
}: CanvasProps): ReactNode {
  const { setViewport, setCenter, getZoom, getViewport, zoomIn, zoomOut, screenToFlowPosition } = useReactFlow();
  const { selection, document } = state;
  const [dragged, setDragged] = useState<ReadonlyMap<string, { x: number; y: number }> | null>(null);
  const [aim, setAim] = useState<Aim>(NO_AIM);
  /** What was dragged to where, also before it is drawn. */
  const moving = useRef(new Map<string, { x: number; y: number }>());
  const { layout, isCurrent } = useLayout(drawn, dragged);
  const frame = useRef<HTMLDivElement>(null);
  const isPhone = useIsPhone();
  const isFitted = useRef(true);
  const fit = useCallback(() => {
    const element = frame.current;
    if (!element || !layout || element.clientWidth === 0) return;
    void setViewport(fitted(layout, element.clientWidth, element.clientHeight - 40, isPhone ? FINGER_ZOOM : undefined));
  }, [setViewport, layout, isPhone]);

  // What was fitted stays fitted: while the window changes, and while the picture grows out of it. Never while something is dragged.
  const refit = useRef(fit);
  refit.current = dragged ? () => {} : fit;
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const watch = new ResizeObserver(() => isFitted.current && refit.current());
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    if (isFitted.current && !dragged && layout && frame.current && !isSeen(layout.size, getViewport(), frame.current))
      fit();
  }, [layout, dragged, fit, getViewport]);

  const nameIn = useCallback((id: string) => drawn.sockets.find((socket) => socket.id === id)?.name ?? id, [drawn]);
  const focus = useCallback(
    (id: string): void => {
      const box = layout?.nodes.get(id);
      const element = frame.current;
      if (box && element && !isSeen(box, getViewport(), element))
        void setCenter(box.x + box.w / 2, box.y + box.h / 2, { zoom: Math.max(0.6, getZoom()), duration: 0 });
      requestAnimationFrame(() =>
        frame.current
          ?.querySelector<HTMLElement>(`[data-socket="${CSS.escape(id)}"] .node-open`)
          ?.focus({ preventScroll: true }),
      );
    },
    [layout, getViewport, setCenter, getZoom],
  );
  const pinned = (): Readonly<Record<string, { x: number; y: number }>> =>
    layout ? Object.fromEntries(drawn.places ? completed(drawn.places, drawn.plan) : placesIn(layout, drawn.plan)) : {};
  const middle = (): { x: number; y: number } => {
    const { left = 0, top = 0, width = 0, height = 0 } = frame.current?.getBoundingClientRect() ?? {};
    const { x, y } = screenToFlowPosition({ x: left + width / 2, y: top + height / 2 });
    return snapped({ x: x - NODE_W / 2, y: y - NODE_H.outside / 2 });
  };
  const add = (materia: string | undefined): void => {
    const { sockets, way } = selection;
    const [after] = sockets;
    const given = materia === undefined ? {} : { materia };
    const places = drawn.places && layout ? pinned() : null;
    if (way !== null && !way.endsWith(':end')) {
      const at = places && layout ? freePlace(pointOfWay(layout, way), layout) : null;
      draft.edit({ edit: 'socket.add', ...given, onto: wayRef(way), ...(at ? { at } : {}) });
    } else if (after !== undefined && sockets.length === 1) {
      const box = layout?.nodes.get(after);
      const at = places && layout && box ? freePlace([box.x + box.w * 1.5 + 48, box.y + box.h / 2], layout) : null;
      draft.edit({ edit: 'socket.add', ...given, after, ...(at ? { at } : {}) });
    } else {
      const at = places && layout ? freePlace(centreOf(middle()), layout) : null;
      draft.edit({ edit: 'socket.add', ...given, ...(at ? { at } : {}) });
    }
  };
  useImperativeHandle(ref, () => ({
    fit: () => {
      isFitted.current = true;
      fit();
    },
    focus,
    zoom: (by) => void (by > 0 ? zoomIn() : zoomOut()),
    add,
    places: pinned,
    middle,
    layout: () => layout,
  }));

  const acts: CanvasActs = useMemo(
    () => ({
      isReadOnly,
      flags,
      nameIn,
      pickSocket: (id, isMore) => {
        const { sockets } = draft.read().selection;
        const others = sockets.filter((each) => each !== id);
        draft.select({ sockets: isMore ? (sockets.includes(id) ? others : [...sockets, id]) : [id] });
      },
      pickWay: (way) => draft.select({ way }),
      pickLoop: (loop) => draft.select({ loop }),
      cycle: (way) => draft.edit({ edit: 'edge.cycle', edge: wayRef(way) }),
      follow: (id, key) => {
        const next = layout ? neighbour(layout, drawn.ways, id, key) : null;
        if (next === null) return;
        draft.select({ sockets: [next] });
        focus(next);
      },
    }),
    [isReadOnly, flags, nameIn, draft, layout, drawn, focus],
  );

  const nodes = useNodes(drawn, layout, selection, aim.socket, here, nameIn, isReadOnly);
  const edges = useEdges(drawn, layout, selection.way, aim.way);
  const chosenWay = selection.way === null ? undefined : drawn.ways.find(({ id }) => id === selection.way);
  const chosenRoute = chosenWay ? layout?.routes.get(chosenWay.id) : undefined;

  const onNodesChange = (changes: readonly NodeChange<AnyNode>[]): void => {
    const moves = changes.flatMap((change) =>
      change.type === 'position' && change.position && change.dragging ? [[change.id, change.position] as const] : [],
    );
    if (moves.length > 0 && layout) {
      const next = new Map<string, { x: number; y: number }>();
      for (const [id, at] of moves) {
        if (!id.startsWith('frame:')) next.set(id, snapped(at));
        else {
          const loop = id.slice('frame:'.length);
          const box = layout.frames.find((each) => each.loop === loop);
          const steps = drawn.loops.find((each) => each.id === loop)?.steps ?? [];
          for (const step of steps) {
            const node = layout.nodes.get(step);
            if (box && node) next.set(step, snapped({ x: node.x + at.x - box.x, y: node.y + at.y - box.y }));
          }
        }
      }
      for (const [id, at] of next) moving.current.set(id, at);
      setDragged(new Map(moving.current));
      const over = overOf(moving.current);
      setAim(over === null ? NO_AIM : { socket: over, way: null });
    }
    const picks = changes.flatMap((change) => (change.type === 'select' && !change.id.includes(':') ? [change] : []));
    if (picks.length > 0) {
      const now = new Set(draft.read().selection.sockets);
      for (const { id, selected } of picks)
        if (selected) now.add(id);
        else now.delete(id);
      if (now.size > 0 || draft.read().selection.sockets.length > 0) draft.select({ sockets: [...now] });
    }
  };
  /** The socket on which a single one is dropped. */
  const overOf = (moved: ReadonlyMap<string, { x: number; y: number }>): string | null => {
    const [only] = moved;
    return layout && moved.size === 1 && only ? socketAtPoint(layout, centreOf(only[1]), only[0]) : null;
  };
  const onDragStop = (): void => {
    const moved = new Map(moving.current);
    moving.current.clear();
    const [only] = moved;
    if (!only) return;
    const onto = overOf(moved);
    if (onto !== null) draft.edit({ edit: 'materia.move', from: only[0], to: onto });
    else draft.edit({ edit: 'layout.move', to: { ...(drawn.places ? {} : pinned()), ...Object.fromEntries(moved) } });
    draft.settle();
    setDragged(null);
    setAim(NO_AIM);
  };
  const aimAt = (event: DragEvent): Aim => {
    if (!layout) return NO_AIM;
    const { x, y } = screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const socket = socketAtPoint(layout, [x, y]);
    return socket === null ? { socket: null, way: wayAtPoint(layout, drawn.ways, [x, y]) } : { socket, way: null };
  };
  const onDrop = (event: DragEvent): void => {
    const materia = event.dataTransfer.getData(MATERIA_TYPE);
    const team = event.dataTransfer.getData(LOADOUT_TYPE);
    setAim(NO_AIM);
    if ((materia === '' && team === '') || isReadOnly) return;
    event.preventDefault();
    const { x, y } = screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const at = snapped({ x: x - NODE_W / 2, y: y - NODE_H.outside / 2 });
    if (team !== '') return onLoadout(team, drawn.places ? at : undefined);
    const { socket, way } = aimAt(event);
    if (socket !== null) {
      draft.edit({ edit: 'materia.set', socket, materia });
      return;
    }
    if (way !== null && layout) {
      const free = freePlace(centreOf(at), layout);
      draft.edit({ edit: 'socket.add', materia, onto: wayRef(way), ...(drawn.places ? { at: free } : {}) });
    }
    // The first one goes where the layout puts it. Where others are, it stays where it was dropped.
    else if (drawn.sockets.length === 0) draft.edit({ edit: 'socket.add', materia });
    else if (drawn.places) draft.edit({ edit: 'socket.add', materia, at });
    else
      draft.edit({
        edit: 'all',
        edits: [
          { edit: 'layout.move', to: pinned() },
          { edit: 'socket.add', materia, at },
        ],
      });
  };
  const onConnect = ({ source, target }: Connection): void => {
    const to = target === END ? END : target;
    if (source && to) draft.edit({ edit: 'edge.add', from: source, to });
  };

  return (
    <CanvasContext value={acts}>
      <div
        ref={frame}
        className={`graph canvas${isStale ? ' canvas-stale' : ''}`}
        role="group"
        aria-label={`Picture of ${document.name}`}
        data-sockets={drawn.sockets.length}
        data-current={isCurrent}
        onDragOver={(event) => {
          const { types } = event.dataTransfer;
          if (isReadOnly || !(types.includes(MATERIA_TYPE) || types.includes(LOADOUT_TYPE))) return;
          event.preventDefault();
          event.dataTransfer.dropEffect = 'copy';
          // Sockets of another loadout join no socket and no edge.
          if (!types.includes(MATERIA_TYPE)) return;
          const next = aimAt(event);
          if (next.socket !== aim.socket || next.way !== aim.way) setAim(next);
        }}
        onDragLeave={() => setAim(NO_AIM)}
        onDrop={onDrop}
      >
        <Tips />
        <ChosenTip />
        <ReactFlow<AnyNode, WayEdge>
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          onNodesChange={onNodesChange}
          onNodeDragStop={onDragStop}
          onSelectionDragStop={onDragStop}
          onConnect={onConnect}
          onConnectEnd={(_, { isValid, fromNode, toNode }) => {
            if (!isValid && !toNode && fromNode) onConnectTo(fromNode.id);
          }}
          onEdgeClick={(_, { id }) => draft.select({ way: id })}
          onPaneClick={() => draft.select({})}
          nodesDraggable={!isReadOnly}
          nodesConnectable={!isReadOnly}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable
          selectNodesOnDrag={false}
          selectionMode={SelectionMode.Partial}
          multiSelectionKeyCode={['Shift', 'Meta', 'Control']}
          connectionMode={ConnectionMode.Strict}
          connectionRadius={28}
          deleteKeyCode={null}
          disableKeyboardA11y
          onlyRenderVisibleElements={drawn.sockets.length > 60}
          minZoom={0.02}
          maxZoom={3}
          proOptions={{ hideAttribution: true }}
          onMoveStart={(event) => {
            if (event) isFitted.current = false;
          }}
        >
          <Background variant={BackgroundVariant.Dots} gap={20} size={1.4} />
          <Distance />
          {drawn.sockets.length > MAP_FROM ? (
            <MiniMap pannable zoomable ariaLabel="All sockets" className="graph-map" />
          ) : null}
          <Panel position="bottom-left" className="graph-tools">
            {isReadOnly ? null : <Button icon="plus" label="Add a socket (A)" onPress={onAdd} />}
            <Button
              keys="0"
              onPress={() => {
                isFitted.current = true;
                fit();
              }}
            >
              Fit
            </Button>
            <Button icon="minus" label="Farther" onPress={() => void zoomOut()} />
            <Button icon="zoom" label="Nearer" onPress={() => void zoomIn()} />
            {isReadOnly ? null : (
              <>
                <Button
                  keys="shift+a"
                  refused={drawn.places ? undefined : 'The layout places everything already.'}
                  onPress={() => {
                    isFitted.current = true;
                    draft.edit({ edit: 'layout.clear' });
                  }}
                >
                  Arrange
                </Button>
                <Button
                  keys="l"
                  refused={selection.sockets.length === 0 ? 'Select the sockets of the loop first.' : undefined}
                  onPress={() => draft.edit({ edit: 'loop.make', sockets: selection.sockets })}
                >
                  Make loop
                </Button>
              </>
            )}
          </Panel>
          {chosenWay && chosenRoute && !isReadOnly ? (
            <WayPopover way={chosenWay} route={chosenRoute} draft={draft} />
          ) : null}
        </ReactFlow>
        {children}
      </div>
    </CanvasContext>
  );
}

function snapped({ x, y }: { readonly x: number; readonly y: number }): { x: number; y: number } {
  return { x: Math.round(x / GRID) * GRID, y: Math.round(y / GRID) * GRID };
}

function centreOf({ x, y }: { readonly x: number; readonly y: number }): Point {
  return [x + NODE_W / 2, y + NODE_H.outside / 2];
}

function isSeen(
  box: Box,
  { x, y, zoom }: { x: number; y: number; zoom: number },
  { clientWidth, clientHeight }: Element,
): boolean {
  const [left, top] = [box.x * zoom + x, box.y * zoom + y];
  return left >= 0 && top >= 0 && left + box.w * zoom <= clientWidth && top + box.h * zoom <= clientHeight - 40;
}

function socketAtPoint(layout: Layout, [x, y]: Point, except?: string): string | null {
  for (const [id, box] of layout.nodes)
    if (id !== END && id !== except && x > box.x && x < box.x + box.w && y > box.y && y < box.y + box.h) return id;
  return null;
}

const WAY_NEAR = 14;

function wayAtPoint(layout: Layout, ways: readonly DrawnWay[], [x, y]: Point): string | null {
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

function pointOfWay(layout: Layout, way: string): Point {
  return layout.routes.get(way)?.label ?? [0, 0];
}

/** The place that is nearest to the point and free of other sockets. */
function freePlace([x, y]: Point, layout: Layout): { x: number; y: number } {
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

// What the flow library gets. A node that did not change keeps its identity, so it is not drawn again.
function useNodes(
  drawn: Drawn,
  layout: Layout | null,
  selection: DraftState['selection'],
  aimed: string | null,
  here: ReadonlyMap<string, string>,
  nameIn: (id: string) => string,
  isReadOnly: boolean,
): AnyNode[] {
  const kept = useRef(new Map<string, { readonly sign: string; readonly node: AnyNode }>());
  return useMemo(() => {
    if (!layout) return [];
    const next = new Map<string, { readonly sign: string; readonly node: AnyNode }>();
    const chosen = new Set(selection.sockets);
    const keep = (id: string, about: readonly unknown[], make: () => AnyNode): AnyNode => {
      const sign = JSON.stringify(about);
      const before = kept.current.get(id);
      const node = before?.sign === sign ? before.node : make();
      next.set(id, { sign, node });
      return node;
    };
    const nodes: AnyNode[] = [];
    for (const loopFrame of layout.frames) {
      const loop = drawn.loops.find(({ id }) => id === loopFrame.loop);
      if (!loop) continue;
      const isChosen = selection.loop === loop.id;
      const advances = advancesOf(loop, nameIn);
      nodes.push(
        keep(`frame:${loop.id}`, [loop, loopFrame, isChosen, advances], () => ({
          ...placed(`frame:${loop.id}`, loopFrame),
          type: 'frame',
          zIndex: -1,
          dragHandle: '.loop-legend',
          selectable: false,
          data: { loop, frame: loopFrame, isChosen, advances },
        })),
      );
    }
    for (const socket of drawn.sockets) {
      const box = layout.nodes.get(socket.id);
      if (!box) continue;
      const [isChosen, isAimed, says] = [chosen.has(socket.id), aimed === socket.id, here.get(socket.id) ?? null];
      nodes.push(
        keep(socket.id, [socket, box, isChosen, isAimed, says, isReadOnly], () => ({
          ...placed(socket.id, box),
          handles: handlesOf(box),
          type: 'socket',
          selected: isChosen,
          data: { socket, isLow: box.h < 70, isChosen, isAimed, here: says },
        })),
      );
    }
    for (const [id, [x, y]] of layout.exits)
      nodes.push(
        keep(`mark:${id}`, [x, y], () => ({
          ...placed(`mark:${id}`, { x: x - 9, y: y - 9, w: 18, h: 18 }),
          type: 'exit',
          zIndex: 2,
          ...{ draggable: false, selectable: false, connectable: false },
          data: { says: `Taken when no item is left (${id})` },
        })),
      );
    const end = layout.nodes.get(END);
    if (end)
      nodes.push(
        keep(END, [end], () => ({
          ...placed(END, end),
          type: 'end',
          ...{ draggable: false, selectable: false },
          data: { says: 'end' },
        })),
      );
    kept.current = next;
    return nodes;
  }, [drawn, layout, selection, aimed, here, nameIn, isReadOnly]);
}

/** Where a line begins that is dragged out of a socket, and where it may end. */
function handlesOf({ w, h }: Box): NonNullable<AnyNode['handles']> {
  return [
    { type: 'source', position: 'right' as never, x: w - 8, y: h / 2 - 8, width: 16, height: 16 },
    { type: 'target', position: 'left' as never, x: 0, y: 0, width: w, height: h },
  ];
}

function useEdges(drawn: Drawn, layout: Layout | null, chosen: string | null, aimed: string | null): WayEdge[] {
  const kept = useRef(new Map<string, { readonly sign: string; readonly edge: WayEdge }>());
  return useMemo(() => {
    if (!layout) return [];
    const next = new Map<string, { readonly sign: string; readonly edge: WayEdge }>();
    const ways = new Map(drawn.ways.map((way) => [way.id, way]));
    const edges = edgesOf(drawn.plan).flatMap((plan): WayEdge[] => {
      const route = layout.routes.get(plan.id);
      if (!route) return [];
      const way = ways.get(plan.id) ?? { ...plan, max: null, at: 0, of: 1, hasItems: false, isNextItem: false };
      const [isChosen, isAimed] = [chosen === plan.id, aimed === plan.id];
      const sign = JSON.stringify([way, route, isChosen, isAimed]);
      const before = kept.current.get(plan.id);
      const edge: WayEdge =
        before?.sign === sign
          ? before.edge
          : {
              id: plan.id,
              source: plan.kind === 'exit' ? `mark:${plan.id}` : plan.from,
              target: plan.to,
              type: 'way',
              selectable: false,
              // The words on it are its name.
              domAttributes: { 'aria-hidden': true },
              data: { way, route, isChosen, isAimed },
            };
      next.set(plan.id, { sign, edge });
      return [edge];
    });
    kept.current = next;
    return edges;
  }, [drawn, layout, chosen, aimed]);
}
