// What an attempt used that has no outcome to be told with: it was stopped, it was cut off, or its cast was over before it
// was taken. It counts against every budget like the rest, once.
import type { AgentNote } from '../fact.ts';
import type { Input } from '../input.ts';
import { attemptName, type Cast, type Turn, type Usage } from '../state.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import { cleanNote } from './agent-note.ts';
import type { Pen } from './pen.ts';
import { warn } from './warn.ts';

export type Spending = { readonly usage?: Usage; readonly agent?: AgentNote };

/**
 * Whoever ran the attempt tells what it had used when it was stopped. Its turn may be gone by then, or at another attempt; and
 * where the driver is gone, several may find what it left and tell it at the same time.
 */
export function takeSpending(pen: Pen, cast: Cast, input: Extract<Input, { kind: 'attempt.spent' }>): Verdict {
  const { turn: id, attempt } = input;
  const turn = cast.turns[id];
  if (turn && (attempt > turn.attempt || (attempt === turn.attempt && hasItsEndAhead(cast, turn)))) {
    return deny('NOT_ALLOWED_NOW', `attempt ${attempt} of turn ${id} is not over; its outcome tells what it used`);
  }
  if (cast.spent?.includes(attemptName(id, attempt))) {
    return deny('NOT_ALLOWED_NOW', `what attempt ${attempt} of turn ${id} used is counted already`);
  }
  spend(pen, cast, { id, attempt }, input);
  return allow(`what attempt ${attempt} of turn ${id} used is counted`);
}

export function spend(
  pen: Pen,
  cast: Cast,
  { id, attempt }: Pick<Turn, 'id' | 'attempt'>,
  { usage, agent }: Spending,
): void {
  if (!usage || usage.input + usage.output + usage.cost === 0) return;
  const note = cleanNote(agent);
  pen.write({ kind: 'attempt.spent', cast: cast.id, turn: id, attempt, usage, ...(note ? { agent: note } : {}) });
  warn(pen, cast);
}

/** A cast that ends while answers are being verified takes none of them any more. */
export function spendUntaken(pen: Pen, cast: Cast): void {
  for (const turn of Object.values(cast.turns)) {
    if (turn.phase === 'verifying' && turn.answered) spend(pen, cast, turn, turn.answered);
  }
}

function hasItsEndAhead({ status }: Cast, { phase }: Turn): boolean {
  return phase === 'verifying' || (phase === 'running' && status === 'running');
}
