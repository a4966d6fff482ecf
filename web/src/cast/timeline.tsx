// What happened, from left to right: a row for each lane, one for what is outside of loops, and one for people. The playhead
// is the entry that is looked at. It is drawn on a canvas, so that 100,000 entries cost no more than a hundred.
import {
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { AttemptRow, CastPage, TurnRow } from '../../../src/app/views/cast-page.ts';
import { Button, Kbd, Segments } from '../parts/button.tsx';
import { clock, clockSeconds, count } from '../words.ts';
import { sentenceOf } from './entry-words.tsx';
import { type LogLine, placeAt } from './follow.ts';
import { useTick } from './tick.ts';
import './timeline.css';

type Scale = 'time' | 'entry';
type Tone = 'done' | 'runs' | 'back' | 'rework' | 'refused' | 'waits' | 'lost';

export type Span = {
  readonly turn: number;
  readonly attempt: number | null;
  readonly row: number;
  readonly from: number;
  /** Null while it goes on. */
  readonly to: number | null;
  readonly seq: number;
  readonly endSeq: number | null;
  readonly tone: Tone;
  readonly name: string;
  readonly number: number | null;
};

const ROW_H = 26;
const AXIS_H = 24;
/** What the frame of the rows is high. */
const FRAME_H = 136;
const heightOf = (rows: number): number => Math.max(FRAME_H, rows * ROW_H + AXIS_H);
const GAP_MS = 20 * 60_000;
const GAP_PX = 28;

/** The attempts of all turns, and the times in which they waited for a person. */
export function spansOf(page: CastPage): readonly Span[] {
  const names = new Map(page.graph.sockets.map(({ id, name }) => [id, name]));
  const isStopped = page.status !== 'running';
  return page.turns.flatMap((turn) => {
    const { row, number } = turn;
    const own = { turn: turn.turn, row, number, name: names.get(turn.socket) ?? turn.socket };
    const attempts = turn.attempts.map((attempt): Span => {
      const isOpen = attempt.endAt === null;
      const to = attempt.endAt ?? (isOpen && isStopped ? (turn.waits.at(-1)?.from ?? page.changedAt) : null);
      const tone = toneOf(turn, attempt, isOpen && isStopped);
      return {
        ...own,
        attempt: attempt.attempt,
        from: Date.parse(attempt.at),
        to: to === null ? null : Date.parse(to),
        seq: attempt.seq,
        endSeq: attempt.endSeq,
        tone,
      };
    });
    const waits = turn.waits.map((wait): Span => {
      const words = {
        question: 'asks you',
        approval: 'waits for permission',
        turn: 'your turn',
        blocked: 'is blocked',
        unknown: 'outcome unknown',
        spent: 'waits for you',
      }[wait.what];
      return {
        ...own,
        attempt: null,
        number: null,
        name: words,
        from: Date.parse(wait.from),
        to: wait.to === null ? null : Date.parse(wait.to),
        seq: wait.seq,
        endSeq: wait.toSeq,
        tone: 'waits',
      };
    });
    return [...attempts, ...waits];
  });
}

function toneOf(turn: TurnRow, { end, endAt }: AttemptRow, isCut: boolean): Tone {
  if (end === 'refused' || end === 'failed') return 'refused';
  if (end === 'lost' || isCut) return 'lost';
  if (turn.isRework) return 'rework';
  return endAt === null ? 'runs' : 'done';
}

/** Turns times and entries into places, and back. A long wait in which nothing happened is folded. */
type Ruler = {
  readonly width: number;
  readonly xOf: (at: number, seq: number) => number;
  readonly seqAt: (x: number) => number;
  readonly ticks: readonly { readonly x: number; readonly says: string }[];
  readonly gaps: readonly number[];
};

function rulerOf(log: readonly LogLine[], width: number, scale: Scale, now: number): Ruler {
  const [first, last] = [log[0], log.at(-1)];
  if (!first || !last) return { width, xOf: () => 0, seqAt: () => 0, ticks: [], gaps: [] };
  if (scale === 'entry') {
    const step = width / Math.max(1, log.length - 1);
    const every = Math.max(1, Math.ceil(90 / step));
    const ticks: { x: number; says: string }[] = [];
    for (let at = 0; at < log.length; at += every) ticks.push({ x: at * step, says: count(log[at]?.seq ?? 0) });
    return {
      ...{ width, ticks, gaps: [] },
      xOf: (_at, seq) => Math.min(width, placeAt(log, seq) * step),
      seqAt: (x) => log[Math.max(0, Math.min(log.length - 1, Math.round(x / step)))]?.seq ?? 0,
    };
  }
  // Stretches in which something happens, with folded gaps between them.
  const stretches: { from: number; to: number }[] = [];
  let [from, before] = [Date.parse(first.at), Date.parse(first.at)];
  const step = Math.max(1, Math.floor(log.length / 20_000));
  for (let at = step; at < log.length + step; at += step) {
    const line = log[Math.min(at, log.length - 1)];
    if (!line) continue;
    const time = Date.parse(line.at);
    if (time - before > GAP_MS) {
      stretches.push({ from, to: before });
      from = time;
    }
    before = time;
  }
  const end = Math.max(now, before);
  if (end - before > GAP_MS) {
    stretches.push({ from, to: before }, { from: end, to: end });
  } else stretches.push({ from, to: end });
  const total = Math.max(
    1,
    stretches.reduce((sum, each) => sum + each.to - each.from, 0),
  );
  const room = Math.max(40, width - GAP_PX * (stretches.length - 1));
  const perMs = room / total;
  const starts: number[] = [];
  let x = 0;
  for (const each of stretches) {
    starts.push(x);
    x += (each.to - each.from) * perMs + GAP_PX;
  }
  const place = (time: number): number => {
    let [low, high] = [0, stretches.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((stretches[middle]?.from ?? 0) <= time) low = middle;
      else high = middle - 1;
    }
    const stretch = stretches[low];
    if (!stretch) return 0;
    return (starts[low] ?? 0) + Math.min(Math.max(0, time - stretch.from), stretch.to - stretch.from) * perMs;
  };
  const timeAt = (at: number): number => {
    for (const [n, stretch] of stretches.entries()) {
      const start = starts[n] ?? 0;
      const stop = start + (stretch.to - stretch.from) * perMs;
      if (at <= stop) return stretch.from + Math.max(0, at - start) / perMs;
      if (at <= stop + GAP_PX) return stretch.to;
    }
    return end;
  };
  return {
    width,
    gaps: starts.slice(1).map((start) => start - GAP_PX / 2),
    ticks: ticksOf(stretches, starts, perMs),
    xOf: (time) => Math.min(width, place(time)),
    // The last entry that had happened by then.
    seqAt: (at) => {
      const time = timeAt(at);
      let [low, high] = [0, log.length - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (Date.parse(log[middle]?.at ?? '') <= time) low = middle;
        else high = middle - 1;
      }
      return log[low]?.seq ?? 0;
    },
  };
}

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400];

function ticksOf(
  stretches: readonly { from: number; to: number }[],
  starts: readonly number[],
  perMs: number,
): { x: number; says: string }[] {
  const step = (STEPS_S.find((seconds) => seconds * 1_000 * perMs >= 110) ?? 86_400) * 1_000;
  const says = step < 60_000 ? clockSeconds : clock;
  const ticks: { x: number; says: string }[] = [];
  for (const [n, { from, to }] of stretches.entries()) {
    const first = Math.ceil(from / step) * step;
    const start = starts[n] ?? 0;
    if (n > 0 || first > to) ticks.push({ x: start, says: says(from) });
    for (let at = first; at <= to; at += step) {
      const x = start + (at - from) * perMs;
      if (x - (ticks.at(-1)?.x ?? -200) >= 60) ticks.push({ x, says: says(at) });
    }
  }
  return ticks;
}

type TimelineProps = {
  readonly page: CastPage;
  readonly log: readonly LogLine[];
  /** The entry that is looked at; null for now. */
  readonly at: number | null;
  readonly selected: { readonly turn: number; readonly attempt: number | null } | null;
  readonly onAt: (seq: number | null) => void;
  readonly onTurn: (turn: number, attempt?: number) => void;
};

export const Timeline = memo(function Timeline({ page, log, at, selected, onAt, onTurn }: TimelineProps): ReactNode {
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
  const end = isLive ? now : Date.parse(log.at(-1)?.at ?? page.time);
  const ruler = useMemo(() => rulerOf(log, Math.max(1, width - 24), scale, end), [log, width, scale, end]);
  const spans = useMemo(() => spansOf(page), [page]);
  const rows = [...page.timeline.rows, 'You'];
  const head = log.at(-1)?.seq ?? page.seq;
  const playhead = at ?? head;
  const atTime = Date.parse(log[placeAt(log, playhead)]?.at ?? page.time);
  const x = at === null ? ruler.xOf(end, head) : ruler.xOf(atTime, playhead);
  const step = (by: -1 | 1): void => {
    const next = log[placeAt(log, playhead) + by];
    if (next) onAt(next.seq >= head ? null : next.seq);
  };
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
      step(event.key === 'ArrowLeft' ? -1 : 1);
    }
    if (event.key === 'Home') onAt(log[0]?.seq ?? null);
    if (event.key === 'End') onAt(null);
  };
  const hovered = hover === null ? null : log[placeAt(log, hover)];
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
          {hovered ? (
            <>
              {clockSeconds(hovered.at)}, entry {count(hovered.seq)}: {sentenceOf(hovered, page)}
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
        <Button kind="quiet" icon="left" label="One entry back" onPress={() => step(-1)} />
        <Button kind="quiet" icon="right" label="One entry on" onPress={() => step(1)} />
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
          aria-valuemin={log[0]?.seq ?? 0}
          aria-valuemax={head}
          aria-valuenow={playhead}
          aria-valuetext={`entry ${playhead}, ${clockSeconds(Number.isNaN(atTime) ? 0 : atTime)}`}
          onPointerDown={drag}
          onPointerMove={(event) => setHover(event.buttons === 0 ? seqOf(event) : null)}
          onPointerLeave={() => setHover(null)}
          onKeyDown={keys}
        >
          <Drawing {...{ spans, ruler, page, rows: rows.length, end, at, selected, x }} />
          {hovered ? (
            <div
              className="hoverhead"
              style={{ transform: `translateX(${ruler.xOf(Date.parse(hovered.at), hovered.seq)}px)` }}
            >
              <span>{clockSeconds(hovered.at)}</span>
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

function edgesOf(span: Span, ruler: Ruler, end: number): readonly [number, number] {
  return [
    ruler.xOf(span.from, span.seq),
    span.to === null
      ? ruler.xOf(end, Number.MAX_SAFE_INTEGER)
      : ruler.xOf(span.to, span.endSeq ?? Number.MAX_SAFE_INTEGER),
  ];
}

type DrawingProps = {
  readonly spans: readonly Span[];
  readonly ruler: Ruler;
  readonly page: CastPage;
  readonly rows: number;
  readonly end: number;
  readonly at: number | null;
  readonly selected: { readonly turn: number; readonly attempt: number | null } | null;
  readonly x: number;
};

function Drawing({ spans, ruler, page, rows, end, at, selected, x }: DrawingProps): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [theme, setTheme] = useState(0);
  useEffect(() => {
    const again = (): void => setTheme((n) => n + 1);
    const watch = new MutationObserver(again);
    watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const media = matchMedia('(prefers-color-scheme: dark)');
    media.addEventListener('change', again);
    return () => {
      watch.disconnect();
      media.removeEventListener('change', again);
    };
  }, []);
  const height = heightOf(rows);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useLayoutEffect(() => {
    const element = canvas.current;
    const paint = element?.getContext('2d');
    if (!element || !paint) return;
    const ratio = devicePixelRatio || 1;
    const width = ruler.width + 24;
    element.width = Math.max(1, Math.round(width * ratio));
    element.height = Math.round(height * ratio);
    element.style.width = `${width}px`;
    element.style.height = `${height}px`;
    paint.scale(ratio, ratio);
    draw(paint, coloursOf(element), { spans, ruler, page, rows, end, at, selected, x }, width, height);
  }, [spans, ruler, page, rows, end, at, selected, x, theme, height]);
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a canvas takes no focus; the slider around it says what it shows
  return <canvas ref={canvas} aria-hidden="true" />;
}

type Colours = Readonly<
  Record<
    | 'ink'
    | 'ink2'
    | 'ink3'
    | 'line'
    | 'control'
    | 'surface'
    | 'sunken'
    | 'live'
    | 'liveSoft'
    | 'wait'
    | 'waitSoft'
    | 'waitSolid'
    | 'bad'
    | 'badSoft'
    | 'rework'
    | 'reworkSoft',
    string
  >
>;

function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const of = (name: string): string => {
    // A canvas does not know `light-dark`, so the browser works the colour out.
    const probe = document.createElement('span');
    probe.style.color = `var(--${name})`;
    element.parentElement?.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color || style.color;
  };
  return {
    ...{
      ink: of('ink'),
      ink2: of('ink-2'),
      ink3: of('ink-3'),
      line: of('line'),
      control: of('control'),
      surface: of('surface'),
      sunken: of('sunken'),
    },
    ...{
      live: of('live'),
      liveSoft: of('live-soft'),
      wait: of('wait'),
      waitSoft: of('wait-soft'),
      waitSolid: of('wait-solid'),
    },
    ...{ bad: of('bad'), badSoft: of('bad-soft'), rework: of('rework'), reworkSoft: of('rework-soft') },
  };
}

const FONT = '-apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif';

function draw(
  paint: CanvasRenderingContext2D,
  colours: Colours,
  { spans, ruler, page, rows, end, at, selected, x }: DrawingProps,
  width: number,
  height: number,
): void {
  paint.clearRect(0, 0, width, height);
  paint.font = `11px ${FONT}`;
  paint.textBaseline = 'middle';
  paint.strokeStyle = colours.line;
  paint.lineWidth = 1;
  for (let row = 1; row <= rows; row++) {
    paint.beginPath();
    paint.moveTo(0, row * ROW_H - 0.5);
    paint.lineTo(width, row * ROW_H - 0.5);
    paint.stroke();
  }
  // What is narrower than two pixels is merged; of those at one place the worst is on top.
  const density = new Map<number, number>();
  const isPast = at !== null;
  for (const span of spans) {
    const [a, b] = edgesOf(span, ruler, end);
    if (b - a < 2 && spans.length > 400) {
      const key = span.row * 100_000 + Math.round(a / 2);
      density.set(key, Math.max(density.get(key) ?? 0, RANK[span.tone]));
      continue;
    }
    const isFuture = isPast && span.seq > at;
    paint.globalAlpha = isFuture ? 0.4 : 1;
    const isOpen = isPast && !isFuture && (span.endSeq === null || span.endSeq > at);
    const isSelected =
      selected?.turn === span.turn &&
      (selected.attempt === null || selected.attempt === span.attempt) &&
      span.attempt !== null;
    drawSpan(paint, colours, span, a, isOpen ? Math.max(a + 2, Math.min(b, x)) : b, isOpen, isSelected);
    if (isOpen && b > x) {
      paint.globalAlpha = 0.3;
      drawSpan(paint, colours, { ...span, name: '', number: null }, x, b, false, false);
    }
  }
  paint.globalAlpha = 1;
  for (const [key, rank] of density) {
    const [row, place] = [Math.floor(key / 100_000), (key % 100_000) * 2];
    paint.fillStyle =
      [colours.ink3, colours.live, colours.rework, colours.waitSolid, colours.bad][rank] ?? colours.ink3;
    paint.fillRect(place, row * ROW_H + 5, 2, ROW_H - 10);
  }
  drawPeople(paint, colours, page, ruler, rows - 1, at);
  if (isPast) hatch(paint, colours, x, width, rows * ROW_H);
  paint.font = `11px ${FONT}`;
  paint.fillStyle = colours.ink3;
  paint.textAlign = 'center';
  for (const { x: place, says } of ruler.ticks)
    if (Math.abs(place - x) > 56) paint.fillText(says, Math.max(paint.measureText(says).width / 2, place), height - 9);
  paint.textAlign = 'start';
  paint.strokeStyle = colours.ink3;
  for (const gap of ruler.gaps) zigzag(paint, gap, rows * ROW_H);
}

const RANK: Readonly<Record<Tone, number>> = { done: 0, lost: 0, runs: 1, back: 2, rework: 2, waits: 3, refused: 4 };

/** What runs now is solid while it is short; a long bar of one colour would outshine all others. */
const SOLID_PX_MAX = 28;

function drawSpan(
  paint: CanvasRenderingContext2D,
  colours: Colours,
  span: Span,
  a: number,
  b: number,
  isRunning: boolean,
  isSelected: boolean,
): void {
  const tone = isRunning && span.tone !== 'waits' ? (span.tone === 'rework' ? 'rework' : 'runs') : span.tone;
  const [top, high, wide] = [span.row * ROW_H + 4, ROW_H - 8, Math.max(3, b - a - 2)];
  const isLive = span.to === null || isRunning;
  const look = {
    done: [colours.sunken, colours.line, colours.ink],
    lost: [colours.surface, colours.control, colours.ink3],
    runs: isLive
      ? isRunning || wide > SOLID_PX_MAX
        ? [colours.liveSoft, colours.live, colours.live]
        : [colours.live, colours.live, colours.surface]
      : [colours.sunken, colours.line, colours.ink],
    back: [colours.reworkSoft, colours.rework, colours.rework],
    rework: [colours.reworkSoft, colours.rework, colours.rework],
    waits: [colours.waitSoft, colours.waitSolid, colours.wait],
    refused: [colours.bad, colours.bad, colours.surface],
  }[tone];
  const [fill, stroke, text] = [look[0] ?? '', look[1] ?? '', look[2] ?? ''];
  paint.save();
  paint.beginPath();
  paint.roundRect(a + 0.5, top + 0.5, wide, high, tone === 'refused' ? 1 : 3);
  paint.fillStyle = fill;
  paint.fill();
  if (tone === 'waits') {
    paint.save();
    paint.clip();
    stripes(paint, colours.waitSolid, a, top, wide, high);
    paint.restore();
    paint.beginPath();
    paint.roundRect(a + 0.5, top + 0.5, wide, high, 3);
  }
  paint.strokeStyle = stroke;
  paint.setLineDash(tone === 'rework' || tone === 'lost' ? [3, 2] : []);
  paint.stroke();
  paint.setLineDash([]);
  if (isSelected) {
    paint.beginPath();
    paint.roundRect(a - 1.5, top - 1.5, wide + 4, high + 4, 5);
    paint.strokeStyle = colours.ink;
    paint.lineWidth = 2;
    paint.stroke();
    paint.lineWidth = 1;
  }
  label(paint, colours, span, a, wide, top + high / 2 + 0.5, text, fill);
  paint.restore();
}

function label(
  paint: CanvasRenderingContext2D,
  colours: Colours,
  { number, name, tone }: Span,
  a: number,
  wide: number,
  middle: number,
  colour: string,
  fill: string,
): void {
  let [x, room] = [a + 5, wide - 8];
  if (number !== null && room >= 18 && tone !== 'refused') {
    const says = String(number);
    const pill = Math.max(18, paint.measureText(says).width + 9);
    if (room >= pill) {
      paint.beginPath();
      paint.roundRect(x - 1.5, middle - 7, pill, 14, 7);
      paint.strokeStyle =
        tone === 'rework' ? colours.rework : colour === colours.surface ? colours.surface : colours.control;
      paint.fillStyle = fill === colours.live ? colours.live : colours.surface;
      paint.fill();
      paint.stroke();
      paint.fillStyle = colour;
      paint.textAlign = 'center';
      paint.fillText(says, x - 1.5 + pill / 2, middle);
      paint.textAlign = 'start';
      x += pill + 3;
      room -= pill + 3;
    }
  }
  const words = tone === 'rework' ? `↩ ${name}, rework` : name;
  const fits = fitting(paint, words, room) || fitting(paint, name, room);
  if (fits === '') return;
  paint.fillStyle = colour;
  if (tone === 'refused' || tone === 'runs') paint.font = `600 11px ${FONT}`;
  paint.fillText(fits, x, middle);
  paint.font = `11px ${FONT}`;
}

/** As much of a word as there is room for; nothing where only its beginning would fit. */
function fitting(paint: CanvasRenderingContext2D, text: string, room: number): string {
  if (room < 14) return '';
  if (paint.measureText(text).width <= room) return text;
  const letters = Math.floor((room / paint.measureText(text).width) * text.length) - 1;
  return letters >= 5 ? `${text.slice(0, letters).toWellFormed()}…` : '';
}

function stripes(
  paint: CanvasRenderingContext2D,
  colour: string,
  a: number,
  top: number,
  wide: number,
  high: number,
): void {
  paint.strokeStyle = colour;
  paint.globalAlpha *= 0.35;
  for (let x = a - high; x < a + wide; x += 7) {
    paint.beginPath();
    paint.moveTo(x, top + high);
    paint.lineTo(x + high, top);
    paint.stroke();
  }
}

const QUIET_MARKS: ReadonlySet<string> = new Set(['Started', 'Goes on', 'Completed']);

function drawPeople(
  paint: CanvasRenderingContext2D,
  colours: Colours,
  page: CastPage,
  ruler: Ruler,
  row: number,
  at: number | null,
): void {
  const middle = row * ROW_H + ROW_H / 2;
  const asked = new Set(page.waits.map(({ turn }) => turn));
  let free = -Infinity;
  for (const mark of page.timeline.marks) {
    if (QUIET_MARKS.has(mark.what)) continue;
    const x = ruler.xOf(Date.parse(mark.at), mark.seq);
    if (x < free) continue;
    const isOpen = /asked|turn/.test(mark.what) && asked.has(mark.turn);
    const says = isOpen ? `${mark.what} ${clock(mark.at)}` : mark.what;
    paint.globalAlpha = at !== null && mark.seq > at ? 0.4 : 1;
    paint.fillStyle = isOpen ? colours.wait : mark.what === 'Failed' ? colours.bad : colours.ink2;
    diamond(paint, x + 5, middle, 4.5, isOpen);
    paint.font = isOpen ? `600 11px ${FONT}` : `11px ${FONT}`;
    const wide = paint.measureText(says).width;
    const isRight = x + 14 + wide > ruler.width + 20;
    paint.textAlign = isRight ? 'end' : 'start';
    paint.fillText(says, isRight ? x - 4 : x + 14, middle);
    paint.textAlign = 'start';
    free = x + wide + 24;
  }
  paint.globalAlpha = 1;
}

function diamond(paint: CanvasRenderingContext2D, x: number, y: number, r: number, isFilled: boolean): void {
  paint.beginPath();
  paint.moveTo(x, y - r);
  paint.lineTo(x + r, y);
  paint.lineTo(x, y + r);
  paint.lineTo(x - r, y);
  paint.closePath();
  if (isFilled) paint.fill();
  else {
    paint.strokeStyle = paint.fillStyle;
    paint.stroke();
  }
}

/** What had not happened yet. */
function hatch(paint: CanvasRenderingContext2D, colours: Colours, from: number, to: number, height: number): void {
  paint.save();
  paint.beginPath();
  paint.rect(from, 0, to - from, height);
  paint.clip();
  paint.strokeStyle = colours.control;
  paint.globalAlpha = 0.4;
  for (let x = from - height; x < to; x += 9) {
    paint.beginPath();
    paint.moveTo(x, height);
    paint.lineTo(x + height, 0);
    paint.stroke();
  }
  paint.restore();
}

function zigzag(paint: CanvasRenderingContext2D, x: number, height: number): void {
  paint.beginPath();
  for (let y = 0, n = 0; y <= height; y += 6, n++) {
    if (n === 0) paint.moveTo(x - 3, y);
    else paint.lineTo(x + (n % 2 === 0 ? -3 : 3), y);
  }
  paint.stroke();
}
