// The first door: a prepared turn is dispatched when every gate agrees. Its brief is written here, once; the agent gets
// exactly the text that is recorded.
import { heldBy, isLiftedByTime, refusedBeforeDispatch } from '../gate/dispatch.ts';
import type { Input } from '../input.ts';
import { isObject } from '../json.ts';
import type { Cast, Turn } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { isPersons } from './asked.ts';
import { briefFor } from './brief.ts';
import { reservationFor } from './budget.ts';
import { isBound } from './lock-scope.ts';
import { fail, type Pen } from './pen.ts';
import { isScripted, nextScripted, scriptedTurn } from './script.ts';
import { claimFor, taskOfTurn } from './task.ts';

/** The place of the turn is ready. */
export function dispatch(pen: Pen, cast: Cast, turn: Turn, input: Extract<Input, { kind: 'turn.prepared' }>): Verdict {
  if (cast.status !== 'running' || turn.phase !== 'owed' || input.attempt !== turn.attempt + 1) {
    return deny('STALE_ATTEMPT', `attempt ${input.attempt} of turn ${turn.id} is not owed`);
  }
  return startAttempt(pen, cast, turn, input.seal);
}

/** Whether anything outside has to be looked at before a dispatch. A script that writes nothing says all there is to say. */
export function needsPreparing(pen: Pen, cast: Cast, turn: Turn): boolean {
  if (!isScripted(cast, turn.socket)) return true;
  const next = nextScripted(cast, turn);
  const said = next ? scriptedTurn(cast, next) : undefined;
  const writes = isObject(said) && isObject(said.$turn) && said.$turn.write !== undefined;
  const task = taskOfTurn(pen.state, cast, turn);
  return (writes && isBound(cast, turn.socket)) || (task !== null && Object.keys(task.checkers).length > 0);
}

/** Starts every owed turn that has nothing to wait for, in the decision that made it owed: it saves a sync to disk. */
export function startReady(pen: Pen, cast: Cast): void {
  for (const turn of Object.values(cast.turns)) {
    if (cast.status !== 'running') return;
    if (turn.phase === 'owed' && !needsPreparing(pen, cast, turn)) startAttempt(pen, cast, turn);
  }
}

function startAttempt(pen: Pen, cast: Cast, turn: Turn, seal?: string): Verdict {
  const refusal = refusedBeforeDispatch(pen.state, cast, pen.at);
  if (refusal) return putOff(pen, cast, turn, refusal);
  const unowned = claimFor(pen, cast, turn);
  if (unowned) return putOff(pen, cast, turn, unowned);
  const task = taskOfTurn(pen.state, cast, turn);
  const attempt = turn.attempt + 1;
  pen.write({
    kind: 'attempt.started',
    cast: cast.id,
    turn: turn.id,
    attempt,
    brief: briefFor(pen, cast, turn),
    script: nextScripted(cast, turn),
    reserved: reservationFor(cast, turn.socket),
    // The first attempt's seal counts for the whole turn: a second attempt must not cover up what the first one changed.
    ...(seal === undefined || turn.seal !== null ? {} : { seal }),
    ...(task?.fence ? { fence: task.fence } : {}),
  });
  if (isPersons(cast, turn)) pen.write({ kind: 'turn.asked', cast: cast.id, turn: turn.id, attempt });
  return allow(`attempt ${attempt} of turn ${turn.id} started`);
}

/** What time can lift keeps the turn owed; anything else ends the cast. */
function putOff(pen: Pen, cast: Cast, turn: Turn, refusal: Denied): Verdict {
  if (isLiftedByTime(refusal)) pen.write({ kind: 'turn.held', cast: cast.id, turn: turn.id, ...heldBy(refusal) });
  else fail(pen, cast, refusal, turn.id);
  return refusal;
}
