// Tokens, cost and time a cast may use. A dispatch reserves what its socket used at most before, so that turns in
// flight at the same time cannot overdraw together; the outcome settles it.
import type { Cast } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';

export function tokensOf(cast: Cast): number {
  return cast.usage.input + cast.usage.output;
}

export function elapsedOf(cast: Cast, at: number): number {
  const { elapsedMs, runningSince } = cast.clock;
  return elapsedMs + (runningSince === null ? 0 : Math.max(0, at - runningSince));
}

/** Whether the allowance is used up, counting what is settled. */
export function exhausted(cast: Cast, at: number): Denied | null {
  return overdrawn(cast, at, 0);
}

/** Whether another dispatch fits beside what the turns in flight have reserved. */
export function mayDispatch(cast: Cast, at: number): Denied | null {
  let reserved = 0;
  for (const turn of Object.values(cast.turns)) reserved += turn.reserved;
  return overdrawn(cast, at, reserved);
}

export function reservationFor(cast: Cast, socket: string): number {
  return cast.peaks[socket] ?? 0;
}

/** The percentage at which a person is warned, reached for the first time; else null. */
export function warningDue(cast: Cast): number | null {
  const { maxTokens, warned } = cast.budget;
  if (warned || maxTokens === null || maxTokens === 0) return null;
  const percent = Math.floor((tokensOf(cast) / maxTokens) * 100);
  return percent >= cast.rules.budget.warnAtPercent ? percent : null;
}

/** When the time allowance runs out, or null. */
export function deadlineOf(cast: Cast): number | null {
  const { maxDurationMs } = cast.budget;
  if (maxDurationMs === null || cast.clock.runningSince === null) return null;
  return cast.clock.runningSince + Math.max(0, maxDurationMs - cast.clock.elapsedMs);
}

/** The limits of a cast that is revived: every one that is used up leaves room for as much as the cast had at first. */
export function refilled(cast: Cast, at: number): Omit<Cast['budget'], 'warned'> {
  const { maxTokens, maxCost, maxDurationMs } = cast.budget;
  const first = cast.rules.budget;
  const more = (limit: number | null, used: number, amount: number | null) =>
    limit === null || used < limit ? limit : used + (amount ?? 0);
  return {
    maxTokens: more(maxTokens, tokensOf(cast), first.maxTokens),
    maxCost: more(maxCost, cast.usage.cost, first.maxCost),
    maxDurationMs: more(maxDurationMs, elapsedOf(cast, at), first.maxDurationMs),
  };
}

function overdrawn(cast: Cast, at: number, reserved: number): Denied | null {
  const { maxTokens, maxCost, maxDurationMs } = cast.budget;
  const tokens = tokensOf(cast);
  if (maxTokens !== null && tokens + reserved >= maxTokens) {
    return refuse(`${tokens} of ${maxTokens} tokens are used`, { tokens, reserved, maxTokens });
  }
  if (maxCost !== null && cast.usage.cost >= maxCost) {
    return refuse(`${cast.usage.cost} of ${maxCost} is spent`, { cost: cast.usage.cost, maxCost });
  }
  const elapsedMs = elapsedOf(cast, at);
  if (maxDurationMs !== null && elapsedMs >= maxDurationMs) {
    return refuse(`${elapsedMs} of ${maxDurationMs} ms are over`, { elapsedMs, maxDurationMs });
  }
  return null;
}

function refuse(what: string, details: Record<string, number>): Denied {
  return deny('BUDGET_EXHAUSTED', `the budget of the cast is exhausted: ${what}`, details);
}
