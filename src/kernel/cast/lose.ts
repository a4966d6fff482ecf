// A crash cut an attempt off. What must not run twice waits for a person; everything else runs again, under a larger token
// than before, so that whatever is left of the attempt can neither be heard nor write any more.
import { take } from '../ledger/claim.ts';
import type { Cast, Turn } from '../state.ts';
import { allow, type Verdict } from '../verdict.ts';
import type { Pen } from './pen.ts';
import { type Spending, spend } from './spend.ts';
import { taskOfTurn } from './task.ts';
import { runsOnce, waitIfUnknown } from './unknown.ts';

export function lose(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  mayHaveRun: boolean,
  reason: string,
  spending: Spending = {},
): Verdict {
  spend(pen, cast, turn, spending);
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt, reason };
  if (!runsOnce(cast, turn) || !mayHaveRun) {
    pen.write({ kind: 'attempt.lost', ...common });
    renewClaim(pen, cast, turn);
    return allow(`turn ${turn.id} runs again`);
  }
  pen.write({ kind: 'turn.unknown', ...common });
  waitIfUnknown(pen, cast);
  return allow(`turn ${turn.id} waits for a person`);
}

function renewClaim(pen: Pen, cast: Cast, turn: Turn): void {
  const task = taskOfTurn(pen.state, cast, turn);
  if (task?.status === 'in_progress' && task.fence === turn.fence) take(pen, task, task.owner);
}
