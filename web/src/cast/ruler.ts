// Turns times and entries of a cast into places, and back, from samples of its log. A long wait in which nothing happened is folded.
import type { CastPage } from '../../../src/app/views/cast-page.ts';
import { sampleAt } from '../../../src/app/views/cast-timeline.ts';
import { clock, clockSeconds, count } from '../words.ts';

export type Scale = 'time' | 'entry';

const GAP_MS = 20 * 60_000;
const GAP_PX = 28;

export type Ruler = {
  readonly width: number;
  readonly xOf: (at: number, seq: number) => number;
  readonly seqAt: (x: number) => number;
  readonly ticks: readonly { readonly x: number; readonly says: string }[];
  readonly gaps: readonly number[];
};

/** The log in samples: the last sample is followed by the end. */
export type SampledLog = Pick<CastPage, 'seq' | 'time' | 'timeline'>;

/** Between two samples the entries are taken to be spread evenly; in a log that is not long, every entry is a sample. */
function indexOf({ seq: end, timeline: { samples, counts } }: SampledLog, seq: number): number {
  const { every, seqs } = samples;
  const at = sampleAt(seqs, seq);
  const [from, to] = [seqs[at] ?? 0, seqs[at + 1] ?? end + 1];
  const within = every === 1 ? 0 : Math.min(1, Math.max(0, (seq - from) / (to - from)));
  return Math.min(counts.all - 1, (at + within) * every);
}

function seqOf({ seq: end, timeline: { samples } }: SampledLog, index: number): number {
  const { every, seqs } = samples;
  const at = Math.max(0, Math.min(seqs.length - 1, Math.floor(index / every)));
  const [from, to] = [seqs[at] ?? 0, seqs[at + 1] ?? end];
  return every === 1 ? from : Math.min(end, Math.round(from + (index / every - at) * (to - from)));
}

/** When an entry was written, as far as the samples tell. */
export function timeOf({ seq: end, time, timeline: { samples } }: SampledLog, seq: number): number {
  const { every, seqs, times } = samples;
  const at = sampleAt(seqs, seq);
  const from = times[at] ?? Date.parse(time);
  if (every === 1) return from;
  const [first, next] = [seqs[at] ?? 0, seqs[at + 1] ?? end];
  const to = times[at + 1] ?? Date.parse(time);
  return from + (to - from) * (next === first ? 1 : Math.min(1, Math.max(0, (seq - first) / (next - first))));
}

export function rulerOf(log: SampledLog, width: number, scale: Scale, now: number): Ruler {
  const { samples, counts } = log.timeline;
  const { times } = samples;
  if (times.length === 0) return { width, xOf: () => 0, seqAt: () => 0, ticks: [], gaps: [] };
  if (scale === 'entry') {
    const step = width / Math.max(1, counts.all - 1);
    const every = Math.max(1, Math.ceil(90 / step));
    const ticks: { x: number; says: string }[] = [];
    for (let at = 0; at < counts.all; at += every) ticks.push({ x: at * step, says: count(seqOf(log, at)) });
    return {
      ...{ width, ticks, gaps: [] },
      xOf: (_at, seq) => Math.min(width, indexOf(log, seq) * step),
      seqAt: (x) => seqOf(log, Math.max(0, Math.min(counts.all - 1, Math.round(x / step)))),
    };
  }
  // Stretches in which something happens, with folded gaps between them.
  const last = Date.parse(log.time);
  const stretches: { from: number; to: number }[] = [];
  let [from, before] = [times[0] ?? 0, times[0] ?? 0];
  for (const time of [...times.slice(1), last]) {
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
      if (time >= last) return log.seq;
      const place = sampleAt(times, time);
      const [was, next] = [times[place] ?? time, times[place + 1] ?? last];
      const within = next === was ? 0 : (time - was) / (next - was);
      return seqOf(log, (place + (samples.every === 1 ? 0 : within)) * samples.every);
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
