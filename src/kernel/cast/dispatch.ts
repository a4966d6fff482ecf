// The first door: a prepared turn is dispatched when every gate agrees. Its brief is written here, once; the agent gets
// exactly the text that is recorded.
import type { Input } from '../input.ts';
import type { Cast, Turn } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { briefFor } from './brief.ts';
import { mayDispatch, reservationFor } from './budget.ts';
import { fail, type Pen } from './pen.ts';
import { nextScripted } from './script.ts';

export function dispatch(pen: Pen, cast: Cast, turn: Turn, input: Extract<Input, { kind: 'turn.prepared' }>): Verdict {
  if (cast.status !== 'running' || turn.phase !== 'owed' || input.attempt !== turn.attempt + 1) {
    return deny('STALE_ATTEMPT', `attempt ${input.attempt} of turn ${turn.id} is not owed`);
  }
  const refusal = refusedAtDoor(cast, pen.at);
  if (refusal) {
    fail(pen, cast, refusal, turn.id);
    return refusal;
  }
  pen.write({
    kind: 'attempt.started',
    cast: cast.id,
    turn: turn.id,
    attempt: input.attempt,
    brief: briefFor(cast, turn, pen.dialects),
    script: nextScripted(cast, turn.socket),
    reserved: reservationFor(cast, turn.socket),
  });
  return allow(`attempt ${input.attempt} of turn ${turn.id} started`);
}

/** The gates before dispatch, in their order. */
function refusedAtDoor(cast: Cast, at: number): Denied | null {
  return mayDispatch(cast, at);
}
