// What one turn asks of its output: what its socket asks, and what the runtime told its agent where the dialect depends on it.
import { isScripted } from '../cast/script.ts';
import type { Contract } from '../dialect.ts';
import { contractOf } from '../graph/contract.ts';
import type { Cast, Turn } from '../state.ts';
import { agentIdOf } from './agent-id.ts';
import { PLAN_STATUSES } from './plan-status.ts';
import { mayFollow } from './transition.ts';

export function contractFor(cast: Cast, turn: Pick<Turn, 'socket' | 'item' | 'input' | 'progress'>): Contract {
  const contract = contractOf(cast.rules, turn.socket);
  if (contract.dialect !== 'gaia') return contract;
  // A script is written before anybody issues an id: it may use any that has the right form.
  const agentId = isScripted(cast, turn.socket) ? null : agentIdOfTurn(cast, turn);
  const next = mayFollow(turn.progress);
  const statuses = next.length < PLAN_STATUSES.length ? { statuses: next } : {};
  return { ...contract, turn: { agentId, input: turn.input, ...statuses } };
}

export function agentIdOfTurn(cast: Pick<Cast, 'id'>, { socket, item }: Pick<Turn, 'socket' | 'item'>): string {
  return agentIdOf(cast.id, socket, item?.key ?? null);
}
