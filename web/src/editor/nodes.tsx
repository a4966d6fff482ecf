// Sockets, frames of loops and marks on the canvas of the editor. They look as on the graph of a cast, without its counts.
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { createContext, memo, type ReactNode, useContext } from 'react';
import type { Frame } from '../graph/layout.ts';
import { colourOf, EndMark, ExitMark, Legends, type MarkNode } from '../graph/marks.tsx';
import { Icon } from '../parts/glyphs.tsx';
import { Foreign, Name } from '../parts/text.tsx';
import { inLine, plural } from '../words.ts';
import type { DrawnLoop, DrawnSocket } from './drawn.ts';

export type Flag = { readonly level: 'error' | 'warning'; readonly says: string };

/** What parts of the canvas can do. It stays the same while the draft changes, so that nothing is drawn again for it. */
export type CanvasActs = {
  readonly isReadOnly: boolean;
  readonly pickSocket: (id: string, isMore: boolean) => void;
  readonly pickWay: (id: string) => void;
  readonly pickLoop: (id: string) => void;
  readonly cycle: (way: string) => void;
  readonly follow: (id: string, key: string) => void;
};
export const CanvasContext = createContext<CanvasActs>({
  isReadOnly: true,
  pickSocket: () => {},
  pickWay: () => {},
  pickLoop: () => {},
  cycle: () => {},
  follow: () => {},
});

export type SocketNode = Node<
  {
    readonly socket: DrawnSocket;
    readonly isLow: boolean;
    readonly isChosen: boolean;
    readonly isAimed: boolean;
    /** The step of a trial that is here. */
    readonly here: string | null;
    readonly flag: Flag | null;
  },
  'socket'
>;
export type FrameNode = Node<
  {
    readonly loop: DrawnLoop;
    readonly frame: Frame;
    readonly isChosen: boolean;
    readonly advances: string;
    readonly flag: Flag | null;
  },
  'frame'
>;
export type AnyNode = SocketNode | FrameNode | MarkNode;

export const NODE_TYPES = { socket: memo(SocketBox), frame: memo(LoopFrame), exit: memo(ExitMark), end: memo(EndMark) };

function SocketBox({ id, data: { socket, isLow, isChosen, isAimed, here, flag } }: NodeProps<SocketNode>): ReactNode {
  const { isReadOnly, pickSocket, follow } = useContext(CanvasContext);
  const { name, kind, marks, materia, below } = socket;
  const tone = here ? 'runs' : kind === 'unknown' ? 'failed' : kind === 'empty' ? 'idle' : 'plain';
  return (
    <div
      className={`node node-${tone} node-drawn${isLow ? ' node-low' : ''}${marks.includes('Generator') ? ' node-stack' : ''}${isChosen ? ' node-selected' : ''}${isAimed ? ' node-aimed' : ''}${kind === 'empty' ? ' node-empty' : ''}`}
      data-socket={id}
    >
      {marks.includes('Generator') ? <span className="sheets" aria-hidden="true" /> : null}
      <button
        type="button"
        className="node-open nopan"
        aria-pressed={isChosen}
        aria-describedby={flag ? `flag-${id}` : undefined}
        onClick={(event) => pickSocket(id, event.shiftKey || event.metaKey || event.ctrlKey)}
        onKeyDown={(event) => {
          if (event.key === ' ') {
            event.preventDefault();
            event.stopPropagation();
            pickSocket(id, true);
            return;
          }
          if (!event.key.startsWith('Arrow') || event.altKey || event.metaKey || event.ctrlKey) return;
          event.preventDefault();
          event.stopPropagation();
          follow(id, event.key);
        }}
      >
        <span className="unseen">{inLine(`${name}, ${id}: ${[...marks, below].join(', ')}`)}</span>
        <span className="node-face" aria-hidden="true">
          <MateriaBar id={materia} color={socket.color} />
          <span className="node-line">
            <Name text={name} className="node-name" />
          </span>
          <Name text={below} className="node-below" />
          {here ? <span className="node-now now-words">{here}</span> : null}
        </span>
      </button>
      <Legends marks={marks} />
      {flag ? <FlagMark id={`flag-${id}`} flag={flag} /> : null}
      <Handle
        type="target"
        position={Position.Left}
        className="node-in"
        isConnectableStart={false}
        isConnectable={!isReadOnly}
      />
      {/* Without it the library draws no edge. */}
      <Handle
        type="source"
        position={Position.Right}
        className={isReadOnly ? 'node-out-off' : 'node-out'}
        isConnectable={!isReadOnly}
        title={isReadOnly ? undefined : 'Drag to connect'}
      />
    </div>
  );
}

/** The colour that the materia names, else one of its own that is always the same. It is a bar and says nothing. */
export function MateriaBar({ id, color }: { id: string | null; color: string | null }): ReactNode {
  if (id === null) return null;
  const isKnown = color !== null && CSS.supports('color', color);
  return (
    <span
      className={`materia${isKnown ? '' : ` materia-${colourOf(id)}`}`}
      style={isKnown ? { backgroundColor: color } : undefined}
    />
  );
}

export function FlagMark({ id, flag: { level, says } }: { id: string; flag: Flag }): ReactNode {
  return (
    <span className={`flag flag-${level}`} title={inLine(says)}>
      <span aria-hidden="true">!</span>
      <span id={id} className="unseen">
        {level === 'error' ? 'Error: ' : 'Warning: '}
        {inLine(says)}
      </span>
    </span>
  );
}

function LoopFrame({ data: { loop, frame, isChosen, advances, flag } }: NodeProps<FrameNode>): ReactNode {
  const { pickLoop } = useContext(CanvasContext);
  const pick = (): void => pickLoop(loop.id);
  return (
    <div
      className={`loop loop-drawn${frame.isInner ? ' loop-inner' : ''}${isChosen ? ' loop-chosen' : ''}`}
      data-loop={loop.id}
    >
      {['top', 'right', 'bottom', 'left'].map((side) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the legend is the button; this is the rest of the frame
        // biome-ignore lint/a11y/useKeyWithClickEvents: see above
        <span key={side} className={`loop-side loop-side-${side}`} onClick={pick} />
      ))}
      <button type="button" className="loop-legend loop-legend-button nopan" aria-pressed={isChosen} onClick={pick}>
        <Icon name="loop" size={13} />
        <b>
          {loop.over === null ? (
            <>
              Loop <Foreign text={loop.id} />
            </>
          ) : (
            <>
              For each item of <Foreign text={loop.over} />
            </>
          )}
        </b>
        <span className="unseen">
          , loop {loop.id}, {plural(loop.steps.length, 'socket')}
        </span>
      </button>
      {loop.lanes > 1 || advances !== '' ? (
        <span className="loop-track">
          {[loop.lanes > 1 ? plural(loop.lanes, 'lane') : '', advances].filter(Boolean).join(', ')}
        </span>
      ) : null}
      {flag ? <FlagMark id={`flag-loop-${loop.id}`} flag={flag} /> : null}
    </div>
  );
}

/** The words of a loop at its right corner. */
export function advancesOf(loop: DrawnLoop, nameIn: (id: string) => string): string {
  if (loop.advances.length === 0) return 'nothing advances it';
  return `advances at ${loop.advances.map(nameIn).join(', ')}`;
}
