// What one turn asks of its output: the contract of its socket, the id its agent reports under and the statuses it may report.
import { dialectCan } from '../capabilities.ts';
import { isScripted } from '../cast/rules.ts';
import type { Cast, Turn } from '../cast/state.ts';
import type { Contract } from '../dialect.ts';
import { contractOf } from '../graph/route.ts';
import { mayFollow, PLAN_STATUSES } from './status.ts';

export function contractFor(cast: Cast, turn: Pick<Turn, 'socket' | 'item' | 'input' | 'progress'>): Contract {
  const contract = contractOf(cast.rules, turn.socket);
  if (!dialectCan(cast.rules, contract.dialect, 'reportsStatus')) return contract;
  // A script is written before anybody issues an id: it may use any that has the right form.
  const agentId = isScripted(cast, turn.socket) ? null : agentIdOfTurn(cast, turn);
  const next = mayFollow(turn.progress);
  const statuses = next.length < PLAN_STATUSES.length ? { statuses: next } : {};
  return { ...contract, turn: { agentId, input: turn.input, ...statuses } };
}

export function agentIdOfTurn(cast: Pick<Cast, 'id'>, { socket, item }: Pick<Turn, 'socket' | 'item'>): string {
  return agentIdOf(cast.id, socket, item?.key ?? null);
}

/** `a` and sixteen hex digits, from the cast, the socket and the item. Not a secret: authority never rests on knowing it. */
export function agentIdOf(cast: string, socket: string, item: string | null): string {
  const text = `${cast}\u0000${socket}\u0000${item ?? ''}`;
  return `a${hash(text, 0x811c9dc5)}${hash(text, 0x01000193)}`;
}

/** FNV-1a over the code units, from two different starts. */
function hash(text: string, start: number): string {
  let value = start;
  for (let index = 0; index < text.length; index += 1) {
    value ^= text.charCodeAt(index);
    value = Math.imul(value, 0x01000193) >>> 0;
  }
  return (value >>> 0).toString(16).padStart(8, '0');
}
