// What happened, from left to right: a row for each lane, one for what is outside of loops, and one for people. The playhead
// is the entry that is looked at.
import {
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type ReactNode,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { CastPage } from '../../../src/app/views/cast-page.ts';
import { Button, Kbd, Segments } from '../parts/button.tsx';
import { clockSeconds, count } from '../words.ts';
import { type CastLog, useLineAt } from './cast-log.ts';
import { sentenceOf } from './entry-words.tsx';
import { rulerOf, type Scale, timeOf } from './ruler.ts';
import { useTick } from './tick.ts';
import { Drawing, edgesOf, heightOf, ROW_H, type Span, spansOf } from './timeline-drawing.tsx';
import './timeline.css';

export type TimelineProps = {
  readonly page: CastPage;
  readonly log: CastLog;
  /** The entry that is looked at; null for now. */
  readonly at: number | null;
  readonly selected: { readonly turn: number; readonly attempt: number | null } | null;
  readonly onAt: (seq: number | null) => void;
  readonly onStep: (by: -1 | 1) => void;
  readonly onTurn: (turn: number, attempt?: number) => void;
};

export const Timeline = memo(function Timeline(props: TimelineProps): ReactNode {
  const { page, log, at, selected, onAt, onStep, onTurn } = props;
  const [scale, setScale] = useState<Scale>('time');
  const [width, setWidth] = useState(0);
  const [hover, setHover] = useState<number | null>(null);
  const track = useRef<HTMLDivElement>(null);
  const isLive = page.status === 'running' || page.status === 'waiting';
  const now = useTick(isLive && at === null && scale === 'time');
  useLayoutEffect(() => {
    const element = track.current;
    if (!element) return;
    const measure = (): void => setWidth(element.clientWidth);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const end = isLive ? now : Date.parse(page.time);
  const ruler = useMemo(() => rulerOf(page, Math.max(1, width - 24), scale, end), [page, width, scale, end]);
  const spans = useMemo(() => spansOf(page), [page]);
  const rows = [...page.timeline.rows, 'You'];
  const { seq: head } = page;
  const first = page.timeline.samples.seqs[0] ?? 0;
  const playhead = at ?? head;
  const atTime = timeOf(page, playhead);
  const x = at === null ? ruler.xOf(end, head) : ruler.xOf(atTime, playhead);
  const seqOf = (event: { clientX: number }): number => {
    const box = track.current?.getBoundingClientRect();
    return ruler.seqAt(event.clientX - (box?.left ?? 0));
  };
  const drag = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.button !== 0) return;
    const hit = hitOf(event);
    if (hit && event.detail !== 0 && !event.shiftKey && isOnSpan(event)) {
      onTurn(hit.turn, hit.attempt ?? undefined);
      return;
    }
    const element = event.currentTarget;
    element.setPointerCapture(event.pointerId);
    const move = (moved: { clientX: number }): void => {
      const seq = seqOf(moved);
      onAt(seq >= head ? null : seq);
    };
    move(event);
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', () => element.removeEventListener('pointermove', move), { once: true });
  };
  const isOnSpan = (event: { clientY: number }): boolean => {
    const box = track.current?.getBoundingClientRect();
    return event.clientY - (box?.top ?? 0) < (track.current?.clientHeight ?? 0) - 24;
  };
  const frame = useRef<HTMLDivElement>(null);
  const hitOf = (event: { clientX: number; clientY: number }): Span | null => {
    const box = track.current?.getBoundingClientRect();
    if (!box) return null;
    const [left, top] = [event.clientX - box.left, event.clientY - box.top + (frame.current?.scrollTop ?? 0)];
    const row = Math.floor(top / ROW_H);
    for (let n = spans.length - 1; n >= 0; n--) {
      const span = spans[n];
      if (!span || span.row !== row) continue;
      const [a, b] = edgesOf(span, ruler, end);
      if (left >= a - 1 && left <= Math.max(b, a + 4)) return span;
    }
    return null;
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      event.preventDefault();
      event.stopPropagation();
      onStep(event.key === 'ArrowLeft' ? -1 : 1);
    }
    if (event.key === 'Home') onAt(first);
    if (event.key === 'End') onAt(null);
  };
  const hovered = useLineAt(log, hover);
  const hoverTime = hover === null ? null : hovered ? Date.parse(hovered.at) : timeOf(page, hover);
  return (
    <section className="timeline" aria-label="Timeline">
      <div className="timeline-head">
        <h2>Timeline</h2>
        <Segments
          label="Scale"
          of={[
            ['time', 'By time'],
            ['entry', 'By entry'],
          ]}
          chosen={scale}
          onChoose={setScale}
        />
        <span className="timeline-says">
          {hover !== null && hoverTime !== null ? (
            <>
              {clockSeconds(hoverTime)}, entry {count(hovered?.seq ?? hover)}
              {hovered ? <>: {sentenceOf(hovered, page)}</> : null}
            </>
          ) : at === null ? (
            'Drag to look back. Looking back runs nothing.'
          ) : (
            <>
              Step by entry <Kbd keys="ArrowLeft" /> <Kbd keys="ArrowRight" />, by turn <Kbd keys="[" />{' '}
              <Kbd keys="]" />
            </>
          )}
        </span>
        <span className="timeline-at">
          entry <b>{count(playhead)}</b> of {count(head)}
        </span>
        <Button kind="quiet" icon="left" label="One entry back" onPress={() => onStep(-1)} />
        <Button kind="quiet" icon="right" label="One entry on" onPress={() => onStep(1)} />
      </div>
      <div ref={frame} className="timeline-rows">
        <div className="timeline-names" style={{ height: heightOf(rows.length) }}>
          {rows.map((name) => (
            <span key={name}>{name}</span>
          ))}
        </div>
        <div
          ref={track}
          className="timeline-track"
          role="slider"
          tabIndex={0}
          aria-label="Entry that is looked at"
          aria-valuemin={first}
          aria-valuemax={head}
          aria-valuenow={playhead}
          aria-valuetext={`entry ${playhead}, ${clockSeconds(atTime)}`}
          onPointerDown={drag}
          onPointerMove={(event) => setHover(event.buttons === 0 ? seqOf(event) : null)}
          onPointerLeave={() => setHover(null)}
          onKeyDown={keys}
        >
          <Drawing {...{ spans, ruler, page, rows: rows.length, end, at, selected, x }} />
          {hover !== null && hoverTime !== null ? (
            <div className="hoverhead" style={{ transform: `translateX(${ruler.xOf(hoverTime, hover)}px)` }}>
              <span>{clockSeconds(hoverTime)}</span>
            </div>
          ) : null}
          <div className={`playhead${at === null ? ' playhead-live' : ''}`} style={{ transform: `translateX(${x}px)` }}>
            <span>{at === null ? (isLive ? 'Live' : 'End') : clockSeconds(atTime)}</span>
          </div>
        </div>
      </div>
    </section>
  );
});
