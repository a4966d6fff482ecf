// The pen a decision writes with: every fact is applied as it is written, so that the next rule of the same decision
// sees it. What was written is what will be stored; nothing else changes the state. Half of a character cannot be stored
// and may stand in any text an agent escaped, so the pen writes a replacement character for it.
import { apply } from '../apply.ts';
import type { Dialect } from '../dialect.ts';
import type { Fact } from '../fact.ts';
import type { ContractName, Materia, Socket } from '../graph/config.ts';
import type { Cast, State } from '../state.ts';
import type { Denied } from '../verdict.ts';
import { isWellFormed, wellFormed } from './cut.ts';

export type Dialects = Readonly<Record<ContractName, Dialect>>;

export type Pen = {
  readonly state: State;
  readonly at: number;
  readonly dialects: Dialects;
  readonly facts: Fact[];
  write(fact: Fact): void;
};

export function newPen(state: State, at: number, dialects: Dialects): Pen {
  const facts: Fact[] = [];
  const stamp = new Date(at).toISOString();
  return {
    state,
    at,
    dialects,
    facts,
    write(given) {
      const fact = isWhole(given) ? given : (mended(given) as Fact);
      facts.push(fact);
      apply(state, { at: stamp, fact });
    },
  };
}

/** Whether every text in a value, and every key, consists of whole characters. */
function isWhole(value: unknown): boolean {
  if (typeof value === 'string') return isWellFormed(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWhole);
  for (const [key, member] of Object.entries(value)) if (!isWellFormed(key) || !isWhole(member)) return false;
  return true;
}

function mended(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(mended);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [wellFormed(key), mended(member)]));
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
