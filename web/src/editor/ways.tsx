// The edges and exits on the canvas. The words on one are a button: it selects, and once selected it cycles the condition.
import { type Edge, EdgeLabelRenderer, type EdgeProps, useStore } from '@xyflow/react';
import { createContext, memo, type ReactNode, useContext, useState } from 'react';
import type { Route } from '../graph/layout.ts';
import { sortOf, WayLine, wordsAt } from '../graph/marks.tsx';
import { Button, Kbd, Segments } from '../parts/button.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { Foreign } from '../parts/text.tsx';
import { inLine } from '../words.ts';
import type { Draft } from './draft.ts';
import { wayRef } from './draft.ts';
import { CONDITIONS, type DrawnWay, labelOf, ordinal } from './drawn.ts';
import { CanvasContext, type Flag, FlagMark } from './nodes.tsx';

export type WayEdge = Edge<
  {
    readonly way: DrawnWay;
    readonly route: Route;
    readonly isChosen: boolean;
    readonly isAimed: boolean;
    readonly flag: Flag | null;
    /** The way in a sentence. */
    readonly says: string;
  },
  'way'
>;

const FAR = 0.3;
/** From afar words cannot be read, and hundreds of them are slow to move. The canvas asks once for all ways. */
export const FarContext = createContext(false);

export function useIsFar(): boolean {
  return useStore(({ transform: [, , zoom] }) => zoom < FAR);
}

export const EDGE_TYPES = { way: memo(Way) };

function Way({ data }: EdgeProps<WayEdge>): ReactNode {
  const { pickWay, cycle, isReadOnly } = useContext(CanvasContext);
  const isFar = useContext(FarContext);
  if (!data) return null;
  const { way, route, isChosen, isAimed, flag, says } = data;
  const sort = sortOf(way);
  const isImplied = way.id.endsWith(':end');
  const [x, y] = route.label;
  const words = labelOf(way);
  return (
    <>
      <WayLine
        {...{ route, sort }}
        className={`${isChosen ? 'way-chosen ' : ''}${isAimed ? 'way-aimed ' : ''}${isImplied ? 'way-implied' : ''}`}
        {...(isChosen ? { tip: 'chosen' } : {})}
        reach={isImplied || isFar ? 0 : 16}
      />
      {isFar || isImplied ? null : (
        <EdgeLabelRenderer>
          <button
            type="button"
            className={`way-label way-label-${sort} way-button nodrag nopan${isChosen ? ' way-label-chosen' : ''}${words === '' ? ' way-bare' : ''}`}
            style={wordsAt(route, sort)}
            aria-pressed={isChosen}
            title={inLine(says)}
            data-way={way.id}
            onClick={() => (isChosen && !isReadOnly ? cycle(way.id) : pickWay(way.id))}
          >
            <span className="unseen">{inLine(says)}</span>
            <span className="way-words" aria-hidden="true">
              {way.kind === 'exit' ? <span className="diamond" /> : null}
              {sort === 'rework' ? <Glyph status="rework" isQuiet /> : null}
              <Foreign text={words} />
            </span>
          </button>
          {flag ? (
            <span className="way-flag" style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y - 22}px)` }}>
              <FlagMark id={`flag-${way.id}`} flag={flag} />
            </span>
          ) : null}
        </EdgeLabelRenderer>
      )}
    </>
  );
}

/** How wide the popover is before it is measured. */
const POPOVER = 620;

/** The tip of a chosen way. */
export function ChosenTip(): ReactNode {
  return (
    <svg width="0" height="0" className="tips" aria-hidden="true">
      <defs>
        <marker
          id="tip-chosen"
          viewBox="0 0 8 8"
          refX="7.5"
          refY="4"
          markerWidth="11"
          markerHeight="11"
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path d="M0 .6 8 4 0 7.4Z" className="tip-ink" />
        </marker>
      </defs>
    </svg>
  );
}

/** What can be said about the chosen way, next to it. Its size does not follow the zoom. */
export function WayPopover({
  way,
  route,
  draft,
  isFlagged,
}: {
  way: DrawnWay;
  route: Route;
  draft: Draft;
  /** A flag lies above the words of its way, so the popover leaves it free. */
  isFlagged: boolean;
}): ReactNode {
  const [left, top, zoom] = useStore(({ transform }) => transform);
  const width = useStore((store) => store.width);
  const [x, y] = route.label;
  const [own, setOwn] = useState(POPOVER);
  const measure = (element: HTMLDivElement | null): void => {
    if (element && element.offsetWidth !== own) setOwn(element.offsetWidth);
  };
  const at = Math.max(own / 2 + 8, Math.min(width - own / 2 - 8, x * zoom + left));
  const below = y * zoom + top < 90;
  const { when, id, kind, max } = way;
  const ref = wayRef(id);
  const set = (condition: (typeof CONDITIONS)[number][0]): void => {
    if ('exit' in ref) draft.edit({ edit: 'exit.set', exit: ref.exit, condition });
    else draft.edit({ edit: 'edge.set', edge: ref, when: condition });
  };
  const isNamed = CONDITIONS.some(([name]) => name === when);
  return (
    <div
      ref={measure}
      className={`way-popover${below ? ' way-popover-below' : isFlagged ? ' way-popover-high' : ''}`}
      role="group"
      aria-label={kind === 'exit' ? 'This exit' : 'This edge'}
      style={{ left: at, top: y * zoom + top }}
    >
      <span>when</span>
      {isNamed ? (
        <Segments label="Condition" of={CONDITIONS} chosen={when as (typeof CONDITIONS)[number][0]} onChoose={set} />
      ) : (
        <b>
          <Foreign text={when} />
        </b>
      )}
      {'exit' in ref ? (
        <span className="quiet">when no item is left</span>
      ) : (
        <>
          <label>
            at most{' '}
            <input
              className="way-count"
              type="number"
              min={1}
              step={1}
              aria-label="At most, for each item"
              placeholder="any"
              value={max ?? ''}
              onChange={({ target: { value } }) =>
                draft.edit({
                  edit: 'edge.set',
                  edge: ref,
                  maxTraversals: value === '' ? null : Math.max(1, Math.round(Number(value))),
                })
              }
            />
          </label>
          <span className="quiet nowrap">
            per item
            {way.of > 1 ? `, tried ${ordinal(way.at + 1)} of ${way.of}` : ''}
          </span>
        </>
      )}
      <Kbd keys="e" />
      <Button
        kind="quiet"
        icon="close"
        label={kind === 'exit' ? 'Remove this exit' : 'Remove this edge'}
        onPress={() =>
          draft.edit('exit' in ref ? { edit: 'exit.remove', exit: ref.exit } : { edit: 'edge.remove', edge: ref })
        }
      />
    </div>
  );
}
