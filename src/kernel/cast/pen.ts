// The pen a decision writes with: every fact is applied as it is written, so that the next rule of the same decision
// sees it. What was written is what will be stored; nothing else changes the state.
import { apply } from '../apply.ts';
import type { Dialect } from '../dialect.ts';
import type { Fact } from '../fact.ts';
import type { ContractName, Materia, Socket } from '../graph/config.ts';
import type { Standing } from '../ledger/holder.ts';
import type { Ledger } from '../ledger/state.ts';
import type { Cast, State } from '../state.ts';
import type { Denied } from '../verdict.ts';
import { stored } from './stored.ts';

export type Dialects = Readonly<Record<ContractName, Dialect>>;

export type Pen = {
  readonly state: State;
  readonly ledger: Ledger;
  /** When it is decided: what is due, silent or over is so by this time. */
  readonly at: number;
  readonly dialects: Dialects;
  readonly facts: Fact[];
  /** The cast whose run it is, where nothing of it runs. */
  standing(run: string): Standing | null;
  write(fact: Fact): void;
};

/** `clock` is what the clock says where the log, whose time never goes back, is far ahead of it. */
export function newPen(state: State, at: number, dialects: Dialects, clock?: number): Pen {
  const facts: Fact[] = [];
  const stamp = stampOf(at);
  const own = clock === undefined ? null : { text: new Date(clock).toISOString(), time: clock };
  const date = own ? { at: stamp.text, clock: own.text } : { at: stamp.text };
  const time = own?.time ?? stamp.time;
  return {
    state,
    ledger: state.ledger,
    at: own?.time ?? at,
    dialects,
    facts,
    standing(run) {
      const cast = Object.hasOwn(state.casts, run) ? state.casts[run] : undefined;
      return !cast || cast.status === 'running' ? null : { status: cast.status, since: cast.since ?? null };
    },
    write(given) {
      const fact = stored(given);
      facts.push(fact);
      apply(state, { ...date, fact }, time);
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
