// The first door: a prepared turn is dispatched when every gate agrees. Its brief is written here, once; the agent gets
// exactly the text that is recorded.
import { refusedBeforeDispatch } from '../gate/dispatch.ts';
import type { Input } from '../input.ts';
import type { Cast, Turn } from '../state.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import { briefFor } from './brief.ts';
import { reservationFor } from './budget.ts';
import { fail, type Pen } from './pen.ts';
import { isScripted, nextScripted } from './script.ts';

/** The place of the turn is ready. */
export function dispatch(pen: Pen, cast: Cast, turn: Turn, input: Extract<Input, { kind: 'turn.prepared' }>): Verdict {
  if (cast.status !== 'running' || turn.phase !== 'owed' || input.attempt !== turn.attempt + 1) {
    return deny('STALE_ATTEMPT', `attempt ${input.attempt} of turn ${turn.id} is not owed`);
  }
  return startAttempt(pen, cast, turn, input.seal);
}

/** Whether anything outside has to be made ready before a dispatch. A script says all there is to say. */
export function needsPreparing(cast: Cast, turn: Turn): boolean {
  return !isScripted(cast, turn.socket);
}

/** Starts every owed turn that has nothing to wait for, in the decision that made it owed: it saves a sync to disk. */
export function startReady(pen: Pen, cast: Cast): void {
  for (const turn of Object.values(cast.turns)) {
    if (cast.status !== 'running') return;
    if (turn.phase === 'owed' && !needsPreparing(cast, turn)) startAttempt(pen, cast, turn);
  }
}

function startAttempt(pen: Pen, cast: Cast, turn: Turn, seal?: string): Verdict {
  const refusal = refusedBeforeDispatch(cast, pen.at);
  if (refusal) {
    fail(pen, cast, refusal, turn.id);
    return refusal;
  }
  const attempt = turn.attempt + 1;
  pen.write({
    kind: 'attempt.started',
    cast: cast.id,
    turn: turn.id,
    attempt,
    brief: briefFor(cast, turn, pen.dialects),
    script: nextScripted(cast, turn.socket),
    reserved: reservationFor(cast, turn.socket),
    // The first attempt's seal counts for the whole turn: a second attempt must not cover up what the first one changed.
    ...(seal === undefined || turn.seal !== null ? {} : { seal }),
  });
  return allow(`attempt ${attempt} of turn ${turn.id} started`);
}
