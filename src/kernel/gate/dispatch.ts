// The first door: what must hold before a turn is dispatched. The gates stand in their order; the first refusal counts.
import { mayDispatch, mayDispatchToday } from '../cast/budget.ts';
import type { Cast, Held, State } from '../state.ts';
import type { Denied } from '../verdict.ts';

/** `ranUntil` is the moment up to which the cast ran, as its running time is counted. */
export function refusedBeforeDispatch(state: State, cast: Cast, at: number, ranUntil = at): Denied | null {
  return mayDispatch(cast, ranUntil) ?? mayDispatchToday(state.day, cast, at);
}

const LIFTED_BY_TIME = ['LOCK_CONFLICT', 'DEPENDENCY_NOT_MET', 'NOT_ALLOWED_NOW', 'DAILY_CAP_REACHED'];

/** Whether waiting can help against a refusal: then the turn stays owed. */
export function isLiftedByTime({ code }: Denied): boolean {
  return LIFTED_BY_TIME.includes(code);
}

export function heldBy({ code, reason, details }: Denied): Held {
  const { notBefore } = details;
  return { code, reason, until: typeof notBefore === 'number' ? notBefore : null };
}
