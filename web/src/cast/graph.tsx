// The graph of a cast, with where it is now. It is drawn from the page of the cast, live or as of an entry of the past.
import {
  Background,
  BackgroundVariant,
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  Handle,
  MiniMap,
  type Node,
  type NodeProps,
  Panel,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react';
import {
  createContext,
  memo,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { CastPage, LiveLine, PageEdge, PageItem, PageLoop, PageSocket } from '../../../src/app/views/cast-page.ts';
import { arrange } from '../graph/arrange.ts';
import { Distance, fitted, Kept, markNodes, neighbour, placed, Tips, ZOOM_MIN } from '../graph/flow.tsx';
import { edgesOf, type Frame, type Layout, laneRows, layoutOf, type Route } from '../graph/layout.ts';
import { colourOf, EndMark, ExitMark, Legends, type MarkNode, sortOf, WayLine, wordsAt } from '../graph/marks.tsx';
import { useKeys } from '../keys.ts';
import { Button } from '../parts/button.tsx';
import { Glyph, Icon } from '../parts/glyphs.tsx';
import { ItemPill, ItemTrack } from '../parts/items.tsx';
import { Foreign, Name } from '../parts/text.tsx';
import { clockSeconds, count as grouped, inLine, plural, stopwatch } from '../words.ts';
import { belowName, cellOf, isWaiting, pillOf, SAYS, SIGN, saysOf } from './shown.ts';
import { useTick } from './tick.ts';
import '@xyflow/react/dist/base.css';
import '../graph/graph.css';

type Acts = {
  readonly selected: string | null;
  readonly open: (turn: number, attempt?: number) => void;
  readonly openSocket: (socket: string) => void;
  readonly follow: (socket: string, key: string) => void;
  readonly isLive: boolean;
  readonly now: number;
};
const ActsContext = createContext<Acts>({
  selected: null,
  open: () => {},
  openSocket: () => {},
  follow: () => {},
  isLive: true,
  now: 0,
});

type SocketNode = Node<{ readonly socket: PageSocket; readonly isOutside: boolean }, 'socket'>;
type FrameNode = Node<
  {
    readonly loop: PageLoop;
    readonly frame: Frame;
    readonly items: readonly PageItem[];
    readonly names: ReadonlyMap<string, string>;
  },
  'frame'
>;
type AnyNode = SocketNode | FrameNode | MarkNode;
type WayEdge = Edge<
  { readonly way: ShownWay; readonly route: Route; readonly isTaken: boolean; readonly item: Carried | null },
  'way'
>;
type Carried = { readonly n: number; readonly title: string };
type ShownWay = Pick<PageEdge, 'id' | 'from' | 'to' | 'when' | 'kind' | 'count' | 'max' | 'last' | 'perItem'> & {
  readonly words: string;
};

const NODE_TYPES = { socket: memo(SocketBox), frame: memo(LoopFrame), exit: memo(ExitMark), end: memo(EndMark) };
const EDGE_TYPES = { way: memo(Way) };
type GraphFaceProps = {
  readonly page: CastPage;
  /** The entry that is looked at; null for now. */
  readonly at: number | null;
  readonly selected: string | null;
  readonly onTurn: (turn: number, attempt?: number) => void;
  readonly onSocket: (socket: string) => void;
  readonly isNarrow: boolean;
};

export default function GraphFace(props: GraphFaceProps): ReactNode {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  );
}

function Canvas({ page, at, selected, onTurn, onSocket }: GraphFaceProps): ReactNode {
  const { setViewport, setCenter, getZoom, zoomIn, zoomOut } = useReactFlow();
  // The rules of a cast never change, so neither does its layout.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const layout = useMemo(() => layoutOf(page.graph, arrange), [page.cast]);
  const nodes = useNodes(page, layout);
  const edges = useEdges(page, layout, at);
  const frame = useRef<HTMLDivElement>(null);
  const fit = useCallback(() => {
    const element = frame.current;
    if (element && element.clientWidth > 0) void setViewport(fitted(layout, element.clientWidth, element.clientHeight));
  }, [setViewport, layout]);
  const live = page.graph.sockets.find((socket) => socket.live.length > 0)?.id ?? null;
  useKeys('Graph', [
    { keys: '0', says: 'Fit the graph', run: fit },
    { keys: '.', says: 'Go to what is live', run: () => centre(live) },
    { keys: '+', says: 'Nearer', run: () => void zoomIn() },
    { keys: '-', says: 'Farther', run: () => void zoomOut() },
  ]);
  const centre = (id: string | null): void => {
    const box = id === null ? undefined : layout.nodes.get(id);
    if (box) void setCenter(box.x + box.w / 2, box.y + box.h / 2, { zoom: Math.max(0.7, getZoom()), duration: 180 });
  };
  const follow = (id: string, key: string): void => {
    const next = neighbour(layout, page.graph.edges, id, key);
    if (next === null) return;
    const box = frame.current?.querySelector<HTMLElement>(`[data-socket="${CSS.escape(next)}"] .node-open`);
    if (box) box.focus({ preventScroll: true });
    centre(next);
  };
  const now = useTick(at === null && page.status !== 'completed');
  const acts: Acts = {
    selected,
    open: onTurn,
    openSocket: onSocket,
    follow,
    isLive: at === null,
    now: at === null ? now : Date.parse(page.time),
  };
  // The canvas changes its size with the window and the panes; what was fitted stays fitted.
  const isFitted = useRef(true);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const watch = new ResizeObserver(() => isFitted.current && fit());
    watch.observe(element);
    return () => watch.disconnect();
  }, [fit]);
  return (
    <ActsContext value={acts}>
      <div ref={frame} className="graph" data-sockets={page.graph.sockets.length}>
        <Tips />
        <ReactFlow<AnyNode, WayEdge>
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          deleteKeyCode={null}
          disableKeyboardA11y
          onlyRenderVisibleElements={page.graph.sockets.length > 60}
          minZoom={ZOOM_MIN}
          maxZoom={2}
          proOptions={{ hideAttribution: true }}
          onMoveStart={(event) => {
            if (event) isFitted.current = false;
          }}
        >
          <Background variant={BackgroundVariant.Dots} gap={20} size={1.4} />
          <Distance />
          {page.graph.sockets.length > 40 ? (
            <MiniMap pannable zoomable ariaLabel="All sockets" className="graph-map" />
          ) : null}
          <Panel position="bottom-left" className="graph-tools">
            <Button icon="plus" label="Nearer" onPress={() => void zoomIn()} />
            <Button
              keys="0"
              onPress={() => {
                isFitted.current = true;
                fit();
              }}
            >
              Fit
            </Button>
          </Panel>
        </ReactFlow>
      </div>
    </ActsContext>
  );
}

// What the flow library gets. A node whose socket did not change keeps its identity, so it is not drawn again.
function useNodes(page: CastPage, layout: Layout): AnyNode[] {
  const [kept] = useState(() => new Kept<AnyNode>());
  return useMemo(() => {
    kept.begin();
    const names = new Map(page.graph.sockets.map(({ id, name }) => [id, name]));
    const nodes: AnyNode[] = [];
    for (const frame of layout.frames) {
      const loop = page.graph.loops.find(({ id }) => id === frame.loop);
      if (!loop) continue;
      const items = page.items.filter(({ list }) => list === loop.list);
      const shown = items.map(({ shown, socket, since }) => [shown, socket, since]);
      nodes.push(
        kept.part(`frame:${loop.id}`, [loop.isLeft, loop.isEmpty, shown], () => ({
          ...placed(`frame:${loop.id}`, frame),
          type: 'frame',
          zIndex: -1,
          data: { loop, frame, items, names },
        })),
      );
    }
    for (const socket of page.graph.sockets) {
      const box = layout.nodes.get(socket.id);
      if (!box) continue;
      const { shown, turns, refused, live, advanced } = socket;
      nodes.push(
        kept.part(socket.id, [shown, turns, refused?.count, live, advanced], () => ({
          ...placed(socket.id, box),
          type: 'socket',
          data: { socket, isOutside: box.h < 70 },
        })),
      );
    }
    return [...nodes, ...markNodes(layout, kept)];
  }, [page, layout, kept]);
}

function useEdges(page: CastPage, layout: Layout, at: number | null): WayEdge[] {
  const [kept] = useState(() => new Kept<WayEdge>());
  return useMemo(() => {
    kept.begin();
    const counts = new Map(page.graph.edges.map((edge) => [edge.id, edge]));
    const generators = new Set(
      page.graph.loops.flatMap(({ generator, list }) => (generator === null || list === null ? [] : [generator])),
    );
    return edgesOf(page.graph).flatMap((way): WayEdge[] => {
      const route = layout.routes.get(way.id);
      if (!route) return [];
      const known = counts.get(way.id);
      const isTaken = at !== null && known?.last?.seq !== undefined && known.last.seq <= at && at - known.last.seq < 3;
      const loop = page.graph.loops.find(({ generator, steps }) => generator === way.from && steps.includes(way.to));
      const total = loop && generators.has(way.from) ? page.items.filter(({ list }) => list === loop.list).length : 0;
      const isEmpty = loop?.isEmpty === true && generators.has(way.from);
      const words = isEmpty ? 'no items' : wordsOf(way.when, route.sort, way.kind, total);
      const count = isEmpty ? 0 : total > 0 ? total : (known?.count ?? 0);
      // Between two turns the item is on the way that was just taken.
      const carried = isTaken ? page.graph.sockets.find(({ id }) => id === way.from)?.last : undefined;
      const item = carried?.number == null ? null : { n: carried.number, title: carried.title ?? '' };
      const about = [count, isTaken, item?.n, words, known?.last?.seq, known?.perItem];
      const shown: ShownWay = {
        ...way,
        words,
        count,
        max: known?.max ?? null,
        last: known?.last ?? null,
        perItem: known?.perItem ?? [],
      };
      const source = way.kind === 'exit' ? `mark:${way.id}` : way.from;
      return [
        kept.part(way.id, about, () => ({
          id: way.id,
          source,
          target: way.to,
          type: 'way',
          data: { way: shown, route, isTaken, item },
        })),
      ];
    });
  }, [page, layout, at, kept]);
}

function wordsOf(when: string, sort: Route['sort'], kind: string, items: number): string {
  const condition = when.replace('_', ' ');
  if (kind === 'exit') return `exit, ${condition}`;
  if (items > 0) return items === 1 ? 'item' : 'items';
  if (when !== 'always') return condition;
  return sort === 'next' ? 'next item' : '';
}

function Way({ data }: EdgeProps<WayEdge>): ReactNode {
  if (!data) return null;
  const { way, route, isTaken, item } = data;
  const sort = sortOf(way);
  const hasLabel = way.count > 0 || way.words !== '';
  const said = wayInWords(way);
  return (
    <>
      <WayLine {...{ route, sort }} className={isTaken ? 'way-taken' : ''} />
      {hasLabel ? (
        <EdgeLabelRenderer>
          <div
            className={`way-label way-label-${sort}${way.count === 0 ? ' way-label-open' : ''}`}
            style={wordsAt(route, sort)}
            title={said}
            data-way={way.id}
          >
            {way.kind === 'exit' ? <span className="diamond" aria-hidden="true" /> : null}
            {item ? <ItemPill n={item.n} state="waiting" title={item.title} /> : null}
            {sort === 'rework' && !item ? <Glyph status="rework" isQuiet /> : null}
            {way.count > 0 && way.words.startsWith('item') ? <b>{grouped(way.count)}</b> : null}
            {way.words}
            {way.count > 0 && !way.words.startsWith('item') ? <b>{grouped(way.count)}</b> : null}
          </div>
        </EdgeLabelRenderer>
      ) : null}
    </>
  );
}

function wayInWords({ id, kind, count, last, max, perItem, words }: ShownWay): string {
  const taken =
    count === 0 ? 'not taken yet' : words.startsWith('item') ? plural(count, 'item') : plural(count, 'handoff');
  const when = last === null ? '' : `, last ${clockSeconds(last.at)}`;
  const bound =
    max === null
      ? ''
      : perItem.length === 0
        ? `, at most ${max} for each item`
        : `; ${perItem.map((each) => `${each.item}: ${each.count} of ${max}`).join(', ')}`;
  const exit = kind === 'exit' ? `Taken when no item is left (${id}): ` : '';
  return `${exit}${taken}${when}${bound}`;
}

function SocketBox({ data: { socket, isOutside } }: NodeProps<SocketNode>): ReactNode {
  const { selected, open, openSocket, follow } = useContext(ActsContext);
  const { id, name, materia, shown, live, refused } = socket;
  const marks = [
    socket.isEntry && 'Entry',
    socket.isGenerator && 'Generator',
    socket.isConsumer && 'Loop consumer',
    socket.isConversation && 'Conversation',
  ].filter((mark) => mark !== false);
  const tone = isWaiting(shown)
    ? 'waits'
    : shown === 'runs'
      ? 'runs'
      : shown === 'failed'
        ? 'failed'
        : shown === 'idle' && socket.turns === 0
          ? 'idle'
          : 'plain';
  return (
    <div
      className={`node node-${tone}${isOutside ? ' node-low' : ''}${socket.isGenerator ? ' node-stack' : ''}${selected === id ? ' node-selected' : ''}`}
      data-socket={id}
      data-shown={shown}
    >
      <Handle type="source" position={Position.Right} isConnectable={false} />
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {socket.isGenerator ? <span className="sheets" aria-hidden="true" /> : null}
      <button
        type="button"
        className="node-open nodrag nopan"
        aria-current={selected === id ? 'true' : undefined}
        onClick={() => openSocket(id)}
        onKeyDown={(event) => {
          if (!event.key.startsWith('Arrow')) return;
          event.preventDefault();
          event.stopPropagation();
          follow(id, event.key);
        }}
      >
        <span className="unseen">
          {inLine(`${name}: ${saysOf(socket)}. ${[...marks, belowName(socket)].join(', ')}`)}
        </span>
        <span className="node-face" aria-hidden="true">
          <span className={`materia materia-${colourOf(materia)}`} />
          <span className="node-line">
            <Name text={name} className="node-name" />
            <Glyph status={SIGN[shown]} says={saysOf(socket)} />
          </span>
          <span className="node-below">{belowName(socket)}</span>
          <Now socket={socket} lines={live} />
        </span>
      </button>
      <Legends marks={marks} />
      {refused ? (
        <button
          type="button"
          className="node-refused nodrag nopan"
          aria-label={`${plural(refused.count, 'attempt')} refused, open the last one`}
          title={`${plural(refused.count, 'attempt')} refused`}
          onClick={() => open(refused.turn, refused.attempt)}
        >
          <Glyph status="refused" isQuiet />
          {refused.count}
        </button>
      ) : null}
    </div>
  );
}

const PILLS_MAX = 2;

function Now({ socket, lines }: { socket: PageSocket; lines: readonly LiveLine[] }): ReactNode {
  const [first] = lines;
  if (!first) {
    const { advanced } = socket;
    if (advanced > 0) return <span className="node-now node-count">{plural(advanced, 'item')} finished</span>;
    return null;
  }
  return (
    <span
      className={`node-now${isWaiting(first.shown) ? ' now-waits' : first.shown === 'failed' ? ' now-failed' : ''}`}
    >
      {lines
        .slice(0, PILLS_MAX)
        .map(({ turn, number, title, shown }) =>
          number === null ? null : <ItemPill key={turn} n={number} state={pillOf(shown)} title={title ?? ''} />,
        )}
      {lines.length > PILLS_MAX ? <b>+{lines.length - PILLS_MAX}</b> : null}
      {lines.length === 1 ? (
        <span className="now-words">
          {first.words}
          <Age line={first} />
        </span>
      ) : null}
    </span>
  );
}

function Age({ line: { shown, since } }: { line: LiveLine }): ReactNode {
  const { now } = useContext(ActsContext);
  if (shown !== 'runs') return null;
  return <>, {stopwatch(now - Date.parse(since))}</>;
}

function LoopFrame({ data: { loop, frame, items, names } }: NodeProps<FrameNode>): ReactNode {
  const done = items.filter(({ shown }) => shown === 'done' || shown === 'skipped').length;
  const failed = items.filter(({ shown }) => shown === 'failed').length;
  return (
    <div className={`loop${frame.isInner ? ' loop-inner' : ''}`} data-loop={loop.id}>
      <Handle type="source" position={Position.Right} isConnectable={false} />
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="loop-legend">
        <Icon name="loop" size={13} />
        <b>
          {loop.over === null ? (
            'Loop'
          ) : (
            <>
              For each item of <Foreign text={loop.over} />
            </>
          )}
        </b>
        {loop.lanes > 1 ? <span>{loop.lanes} lanes</span> : null}
      </span>
      {items.length > 0 ? (
        <span className="loop-track">
          {done} of {items.length} done
          <ItemTrack done={done} total={items.length} failed={failed} states={items.map(cellOf)} />
        </span>
      ) : loop.isEmpty ? (
        <span className="loop-track">No items, so the loop was skipped</span>
      ) : null}
      {frame.isInner ? null : <Lanes {...{ loop, items, names }} />}
    </div>
  );
}

function Lanes({
  loop,
  items,
  names,
}: {
  loop: PageLoop;
  items: readonly PageItem[];
  names: ReadonlyMap<string, string>;
}): ReactNode {
  const rows = laneRows(loop);
  if (rows === 0) return null;
  const live = items.filter(({ turn, shown }) => turn !== null && shown !== 'done' && shown !== 'skipped');
  // What waits comes first where there is no room for all.
  const byNeed = live.toSorted(
    (a, b) => Number(isWaiting(b.shown)) - Number(isWaiting(a.shown)) || (b.since ?? '').localeCompare(a.since ?? ''),
  );
  const shown =
    live.length <= rows ? live.toSorted((a, b) => (a.lane ?? 0) - (b.lane ?? 0)) : byNeed.slice(0, rows - 1);
  return (
    <div className="lanes">
      {shown.map((item) => (
        <LaneRow key={item.key} item={item} names={names} isLane={loop.lanes > 1} />
      ))}
      {live.length > rows ? <div className="lane lane-more">{plural(live.length - rows + 1, 'more lane')}</div> : null}
      {live.length === 0 ? (
        <div className="lane lane-more">
          {loop.isEmpty
            ? 'No items'
            : loop.isLeft
              ? 'All items are done'
              : items.length === 0
                ? 'Starts when there are items'
                : 'Starts when a lane is free'}
        </div>
      ) : null}
    </div>
  );
}

function LaneRow({
  item,
  names,
  isLane,
}: {
  item: PageItem;
  names: ReadonlyMap<string, string>;
  isLane: boolean;
}): ReactNode {
  const { open, now } = useContext(ActsContext);
  const where = names.get(item.socket ?? '') ?? '';
  const tone = isWaiting(item.shown)
    ? 'lane-waits'
    : item.shown === 'runs'
      ? 'lane-runs'
      : item.shown === 'failed'
        ? 'lane-failed'
        : '';
  const age = item.since === null ? '' : `, ${stopwatch(now - Date.parse(item.since))}`;
  const says =
    item.shown === 'parked'
      ? `parked after ${where}`
      : isWaiting(item.shown)
        ? `${where} ${SAYS[item.shown]}`
        : item.shown === 'runs'
          ? `${where}${age}`
          : `${where}, ${item.words}`;
  return (
    <button type="button" className={`lane nodrag nopan ${tone}`} onClick={() => item.turn !== null && open(item.turn)}>
      <span className="lane-name">{isLane ? `Lane ${item.lane ?? ''}` : 'Now'}</span>
      <ItemPill n={item.number} state={pillOf(item.shown)} title={item.title} />
      <Name text={item.title} className="lane-title" />
      <span className="lane-where">{says}</span>
    </button>
  );
}
