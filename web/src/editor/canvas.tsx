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
import { Distance, fitted, neighbour, Tips } from '../graph/flow.tsx';
import { END, type Layout, NODE_H, NODE_W } from '../graph/layout.ts';
import { Button } from '../parts/button.tsx';
import { useIsPhone } from '../parts/phone.ts';
import { useEdges, useNodes } from './canvas-nodes.ts';
import { centreOf, freePlace, isSeen, pointOfWay, snapped, socketAtPoint, wayAtPoint } from './canvas-places.ts';
import { type Draft, type DraftState, wayRef } from './draft.ts';
import type { Drawn } from './drawn.ts';
import { type AnyNode, type CanvasActs, CanvasContext, type Flag, NODE_TYPES } from './nodes.tsx';
import { completed, placesIn, useLayout } from './use-layout.ts';
import { ChosenTip, EDGE_TYPES, FarContext, useIsFar, type WayEdge, WayPopover } from './ways.tsx';
import '@xyflow/react/dist/base.css';
import '../graph/graph.css';
import './canvas.css';

/** What a row of the list of materia carries while it is dragged. */
export const MATERIA_TYPE = 'application/x-baton-materia';
/** The same for a row of another loadout. */
export const LOADOUT_TYPE = 'application/x-baton-loadout';
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

  const nameIn = useMemo(() => {
    const names = new Map(drawn.sockets.map(({ id, name }) => [id, name]));
    return (id: string) => names.get(id) ?? id;
  }, [drawn]);
  const isFar = useIsFar();
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

  const follow = useRef((_id: string, _key: string): void => {});
  follow.current = (id, key) => {
    const next = layout ? neighbour(layout, drawn.ways, id, key) : null;
    if (next === null) return;
    draft.select({ sockets: [next] });
    focus(next);
  };
  const acts: CanvasActs = useMemo(
    () => ({
      isReadOnly,
      pickSocket: (id, isMore) => {
        const { sockets } = draft.read().selection;
        const others = sockets.filter((each) => each !== id);
        draft.select({ sockets: isMore ? (sockets.includes(id) ? others : [...sockets, id]) : [id] });
      },
      pickWay: (way) => draft.select({ way }),
      pickLoop: (loop) => draft.select({ loop }),
      cycle: (way) => draft.edit({ edit: 'edge.cycle', edge: wayRef(way) }),
      follow: (id, key) => follow.current(id, key),
    }),
    [isReadOnly, draft],
  );

  const nodes = useNodes(drawn, layout, selection, aim.socket, here, nameIn, flags, isReadOnly);
  const edges = useEdges(drawn, layout, selection.way, aim.way, nameIn, flags);
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
  /** What styles ask of the whole canvas. Nothing is drawn again for it. */
  const markConnecting = (isOn: boolean): void => void frame.current?.toggleAttribute('data-connecting', isOn);
  const onConnect = ({ source, target }: Connection): void => {
    const to = target === END ? END : target;
    if (source && to) draft.edit({ edit: 'edge.add', from: source, to });
  };

  return (
    <CanvasContext value={acts}>
      <FarContext value={isFar}>
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
              markConnecting(false);
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
            onConnectStart={() => markConnecting(true)}
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
              <WayPopover way={chosenWay} route={chosenRoute} draft={draft} isFlagged={flags.has(chosenWay.id)} />
            ) : null}
          </ReactFlow>
          {children}
        </div>
      </FarContext>
    </CanvasContext>
  );
}
