// Turns that are blocked and can be carried on. An agent that reports with a status can be spoken to as well: it is set to
// work again in the same turn with what a person says, or it is given up.
import { reportsStatus } from '../gate/status.ts';
import type { Input } from '../input.ts';
import { agentIdOfTurn } from '../report/contract.ts';
import { scrub } from '../secrets.ts';
import { type Cast, isOver, type Turn } from '../state.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import { fail, type Pen } from './pen.ts';
import { taskOfTurn } from './task.ts';

/** Whether a person may say something to the agent of a blocked turn. */
export function hearsWhenBlocked(cast: Cast, { phase, socket }: Turn): boolean {
  return phase === 'blocked' && reportsStatus(cast, socket);
}

/** A stray change is compared with what was there before it until somebody has taken it back. */
export function reopenTurn(pen: Pen, cast: Cast, turn: Turn): void {
  const isStray = taskOfTurn(pen.state, cast, turn)?.code === 'SCOPE_VIOLATION' && turn.seal !== null;
  pen.write({ kind: 'turn.reopened', cast: cast.id, turn: turn.id, ...(isStray ? { sealed: true } : {}) });
}

/** Sets the agent to work again with what it reported and what a person says to that. */
export function tellBlocked(pen: Pen, cast: Cast, turn: Turn, text: string): Verdict {
  const to = gapOf(cast, turn);
  reopenTurn(pen, cast, turn);
  const said = { from: 'person', text: scrub(text).text, ...(to === null ? {} : { to }) } as const;
  pen.write({ kind: 'turn.answered', cast: cast.id, turn: turn.id, ...said });
  return allow(`turn ${turn.id} goes on`);
}

/** Null where the turn is blocked by something else than the agent's own report. */
function gapOf(cast: Cast, turn: Turn): string | null {
  const id = agentIdOfTurn(cast, turn);
  const last = cast.reports.find(({ agentId }) => agentId === id);
  if (last?.status !== 'BLOCKED') return null;
  return last.openGaps.length > 0 ? `BLOCKED: ${last.openGaps.join('; ')}` : 'BLOCKED, without a gap';
}

/** A person tries a blocked turn again as it is, or gives its agent up. */
export function decideBlocked(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  { choice, reason = '' }: Extract<Input, { kind: 'turn.decide' }>,
): Verdict {
  if (isOver(cast.status)) return deny('NOT_ALLOWED_NOW', `cast ${cast.id} has ${cast.status} already`);
  if (choice === 'accept') {
    const how = `baton continue ${cast.id}, or baton answer ${cast.id} --turn ${turn.id}`;
    return deny('NOT_ALLOWED_NOW', `turn ${turn.id} is blocked and has handed nothing in; it waits for: ${how}`);
  }
  if (cast.status !== 'running')
    pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `turn ${turn.id}: ${choice}` });
  pen.write({ kind: 'turn.decided', cast: cast.id, turn: turn.id, choice, reason });
  if (choice === 'rerun') {
    reopenTurn(pen, cast, turn);
    return allow(`turn ${turn.id} runs again`);
  }
  const why = `${turn.socket}: a person gave up on its agent${reason ? `: ${reason}` : ''}`;
  fail(pen, cast, deny('AGENT_FAILED', why, { socket: turn.socket }), turn.id);
  return allow(`turn ${turn.id} failed`);
}
