// The pen a decision writes with: every fact is applied as it is written, so that the next rule of the same decision
// sees it. What was written is what will be stored; nothing else changes the state.
import { apply } from '../apply.ts';
import type { ContractName } from '../capabilities.ts';
import type { Dialect } from '../dialect.ts';
import type { Fact } from '../fact.ts';
import type { Materia, Socket } from '../graph/config.ts';
import type { Standing } from '../ledger/fact.ts';
import type { Ledger } from '../ledger/state.ts';
import type { Cast, State } from '../state.ts';
import type { Denied } from '../verdict.ts';
import { stored } from './commit.ts';

export type Dialects = Readonly<Record<ContractName, Dialect>>;

export type Pen = {
  readonly state: State;
  readonly ledger: Ledger;
  /** When it is decided: what is due, silent or over is so by this time. */
  readonly at: number;
  /** The same, or the moment of a timer whose wait is over while the clock was set back. */
  readonly due: number;
  readonly dialects: Dialects;
  readonly facts: Fact[];
  /** By the place of a fact, the time that its entry counts. */
  readonly ranMs: Map<number, number>;
  /** Counts at least this time for the cast in this decision, where its time is measured. */
  countAtLeast(cast: Cast, ms: number): void;
  /** The moment up to which the cast ran, as its running time is counted. */
  ranUntil(cast: Cast): number;
  /** The cast whose run it is, where nothing of it runs. */
  standing(run: string): Standing | null;
  write(fact: Fact): void;
};

/** How long a cast ran since its time was counted last, as far as that was measured; null where it was not. */
export type RanOf = (cast: Cast) => number | null;

export type PenOptions = {
  /** What the clock says where the log, whose time never goes back, is far ahead of it. */
  readonly clock?: number | undefined;
  readonly due?: number | undefined;
  readonly ranOf?: RanOf | undefined;
  /** The cast whose driver decides here: its time is counted with its first fact. */
  readonly driven?: string | undefined;
};

const STOPS: ReadonlySet<string> = new Set([
  'cast.completed',
  'cast.failed',
  'cast.waiting',
  'cast.aborted',
  'cast.paused',
] satisfies Fact['kind'][]);

export function newPen(state: State, at: number, dialects: Dialects, options: PenOptions = {}): Pen {
  const { clock, due = 0, ranOf = () => null, driven } = options;
  const facts: Fact[] = [];
  const ranMs = new Map<number, number>();
  // Time in which a cast did not run does not count, also when it goes on in this decision.
  const counted = new Set<string>(driven !== undefined && state.casts[driven]?.status !== 'running' ? [driven] : []);
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
    countAtLeast(cast, ms) {
      least.set(cast.id, ms);
    },
    ranUntil(cast) {
      const ran = ranBy(cast);
      return ran === null || cast.clock.runningSince === null ? (own?.time ?? at) : cast.clock.runningSince + ran;
    },
    standing(run) {
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

export function socketOf(cast: Cast, id: string): Socket {
  const socket = cast.rules.graph.sockets[id];
  if (!socket) throw new Error(`the frozen loadout of ${cast.id} has no socket ${id}`);
  return socket;
}

export function materiaOf(cast: Cast, socket: string): Materia {
  const { materia } = socketOf(cast, socket);
  const found = cast.rules.materia[materia];
  if (!found) throw new Error(`the frozen loadout of ${cast.id} has no materia ${materia}`);
  return found;
}

/** Ends the cast with the refusal's own code. The turn it stands at stays, so that a recast knows where to go on. */
export function fail(pen: Pen, cast: Cast, refusal: Denied, turn: number | null, stand: Cast['stand'] = null): void {
  const { code, reason, details } = refusal;
  pen.write({ kind: 'cast.failed', cast: cast.id, code, reason, details, turn, stand });
}
