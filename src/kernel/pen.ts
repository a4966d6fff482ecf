// What a decision writes with. Each fact is applied as it is written, so that later steps of the decision see it, and the running
// time of a cast is counted with its facts.
import { apply } from './apply.ts';
import type { Cast } from './cast/state.ts';
import type { Fact } from './fact.ts';
import { stored } from './json.ts';
import type { Dialects, Pen, RanOf, State } from './state.ts';

type PenOptions = {
  /** What the clock says where the log, whose time never goes back, is far ahead of it. */
  readonly clock?: number | undefined;
  readonly due?: number | undefined;
  readonly ranOf?: RanOf | undefined;
  /** The cast whose driver decides here: its time is counted with its first fact. */
  readonly driven?: string | undefined;
  readonly drives?: ((cast: string) => boolean) | undefined;
};

/** Whether its time runs: a cast that rests, because all of it waits, has none to count. */
function isTimed(cast: Cast | undefined): boolean {
  return cast?.status === 'running' && cast.clock.runningSince !== null;
}

const STOPS: ReadonlySet<string> = new Set([
  'cast.completed',
  'cast.failed',
  'cast.waiting',
  'cast.aborted',
  'cast.paused',
] satisfies Fact['kind'][]);

export function newPen(state: State, at: number, dialects: Dialects, options: PenOptions = {}): Pen {
  const { clock, due = 0, ranOf = () => null, driven, drives = () => true } = options;
  const facts: Fact[] = [];
  const ranMs = new Map<number, number>();
  // Time in which a cast did not run does not count, also when it goes on in this decision.
  const counted = new Set<string>(driven !== undefined && !isTimed(state.casts[driven]) ? [driven] : []);
  const least = new Map<string, number>();
  const ranBy = (cast: Cast) => {
    if (cast.clock.runningSince === null) return null;
    const ran = counted.has(cast.id) ? 0 : ranOf(cast);
    return ran === null || counted.has(cast.id) ? ran : Math.max(ran, least.get(cast.id) ?? 0);
  };
  const stamp = stampOf(at);
  const own = clock === undefined ? null : { text: new Date(clock).toISOString(), time: clock };
  const date = own ? { at: stamp.text, clock: own.text } : { at: stamp.text };
  const time = own?.time ?? stamp.time;
  return {
    state,
    ledger: state.ledger,
    at: own?.time ?? at,
    due: Math.max(due, own?.time ?? at),
    dialects,
    facts,
    ranMs,
    drives,
    countAtLeast(cast, ms) {
      least.set(cast.id, ms);
    },
    ranUntil(cast) {
      const ran = ranBy(cast);
      return ran === null || cast.clock.runningSince === null ? (own?.time ?? at) : cast.clock.runningSince + ran;
    },
    stoppedRun(run) {
      const cast = Object.hasOwn(state.casts, run) ? state.casts[run] : undefined;
      return !cast || cast.status === 'running' ? null : { status: cast.status, since: cast.since ?? null };
    },
    write(given) {
      const id = 'cast' in given ? (given.cast ?? '') : '';
      const cast = Object.hasOwn(state.casts, id) ? state.casts[id] : undefined;
      const ran = cast ? ranBy(cast) : null;
      const stops = STOPS.has(given.kind);
      const total = cast && ran !== null && stops ? { elapsedMs: cast.clock.elapsedMs + ran } : {};
      const fact = stored({ ...given, ...total });
      const counts = cast && ran !== null && !stops && cast.id === driven && !counted.has(cast.id);
      if (counts) {
        counted.add(cast.id);
        ranMs.set(facts.length, ran);
      }
      facts.push(fact);
      apply(state, { ...date, ...(counts ? { ranMs: ran } : {}), fact }, time);
    },
  };
}

type Stamp = { readonly at: number; readonly text: string; readonly time: number };

let lastStamp: Stamp = { at: Number.NaN, text: '', time: Number.NaN };

/** The decisions of one batch mostly have the same time. */
function stampOf(at: number): Stamp {
  if (at !== lastStamp.at) {
    const text = new Date(at).toISOString();
    lastStamp = { at, text, time: Date.parse(text) };
  }
  return lastStamp;
}
