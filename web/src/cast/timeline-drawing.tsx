// The spans of a timeline, and how they are drawn on a canvas, so that 100,000 entries cost no more than a hundred.
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { CastPage } from '../../../src/app/views/cast-page.ts';
import { TONES, type Tone, toneOf } from '../../../src/app/views/cast-timeline.ts';
import { clock } from '../words.ts';
import type { Ruler } from './ruler.ts';

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

/** The attempts of the turns of the page, and the times in which they waited for a person. Of the others, samples tell. */
export function spansOf(page: CastPage): readonly Span[] {
  const names = new Map(page.graph.sockets.map(({ id, name }) => [id, name]));
  const isStopped = page.status !== 'running';
  const known = new Set(page.turns.map(({ turn }) => turn));
  const turns = [...page.timeline.long.filter(({ turn }) => !known.has(turn)), ...page.turns];
  return turns.flatMap((turn) => {
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

export const ROW_H = 26;
const AXIS_H = 24;
/** What the frame of the rows is high. */
const FRAME_H = 136;
export const heightOf = (rows: number): number => Math.max(FRAME_H, rows * ROW_H + AXIS_H);

export function edgesOf(span: Span, ruler: Ruler, end: number): readonly [number, number] {
  return [
    ruler.xOf(span.from, span.seq),
    span.to === null
      ? ruler.xOf(end, Number.MAX_SAFE_INTEGER)
      : ruler.xOf(span.to, span.endSeq ?? Number.MAX_SAFE_INTEGER),
  ];
}

export type DrawingProps = {
  readonly spans: readonly Span[];
  readonly ruler: Ruler;
  readonly page: CastPage;
  readonly rows: number;
  readonly end: number;
  readonly at: number | null;
  readonly selected: { readonly turn: number; readonly attempt: number | null } | null;
  readonly x: number;
};

export function Drawing({ spans, ruler, page, rows, end, at, selected, x }: DrawingProps): ReactNode {
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
  const density = densityOf(page, ruler);
  const isPast = at !== null;
  for (const span of spans) {
    const [a, b] = edgesOf(span, ruler, end);
    if (b - a < 2 && spans.length > 400) {
      const key = cellOf(span.row, a);
      density.set(key, Math.max(density.get(key) ?? 0, TONES.indexOf(span.tone)));
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
  const dense: Readonly<Record<Tone, string>> = {
    ...{ done: colours.ink3, lost: colours.ink3, runs: colours.live, rework: colours.rework },
    ...{ waits: colours.waitSolid, refused: colours.bad },
  };
  for (const [key, rank] of density) {
    const [row, place] = [Math.floor(key / CELLS), (key % CELLS) * 2];
    paint.globalAlpha = isPast && place > x ? 0.4 : 1;
    paint.fillStyle = dense[TONES[rank] ?? 'done'];
    paint.fillRect(place, row * ROW_H + 5, 2, ROW_H - 10);
  }
  paint.globalAlpha = 1;
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

const CELLS = 100_000;
const cellOf = (row: number, x: number): number => row * CELLS + Math.round(x / 2);

/** Where turns that have left the page were. */
function densityOf({ timeline: { samples } }: CastPage, ruler: Ruler): Map<number, number> {
  const density = new Map<number, number>();
  const { seqs, times, tones } = samples;
  for (const [row, own] of tones.entries())
    for (const [n, tone] of own.entries()) {
      if (tone === 0) continue;
      const key = cellOf(row, ruler.xOf(times[n] ?? 0, seqs[n] ?? 0));
      density.set(key, Math.max(density.get(key) ?? 0, tone - 1));
    }
  return density;
}

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
