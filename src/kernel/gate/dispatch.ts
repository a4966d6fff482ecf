// The first door: what must hold before a turn is dispatched. The gates stand in their order; the first refusal counts.
import { mayDispatch } from '../cast/budget.ts';
import type { Cast } from '../state.ts';
import type { Denied } from '../verdict.ts';

export function refusedBeforeDispatch(cast: Cast, at: number): Denied | null {
  return mayDispatch(cast, at);
}
