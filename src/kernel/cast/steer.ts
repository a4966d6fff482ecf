// What a person may ask of a cast that stands or runs.

import { contractOf } from '../graph/contract.ts';
import type { Input } from '../input.ts';
import type { Cast, Turn } from '../state.ts';
import { isOver } from '../state.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import { takeOutput } from './answer.ts';
import { tokensOf } from './budget.ts';
import { fail, type Pen } from './pen.ts';
import { route } from './route.ts';
import { startSocket } from './start.ts';

export function abort(pen: Pen, cast: Cast, reason: string): Verdict {
  if (isOver(cast.status)) return deny('NOT_ALLOWED_NOW', `cast ${cast.id} has ${cast.status} already`);
  pen.write({ kind: 'cast.aborted', cast: cast.id, reason });
  return allow(`cast ${cast.id} aborted`);
}

export function pause(pen: Pen, cast: Cast, reason: string): Verdict {
  if (cast.status !== 'running') return deny('NOT_ALLOWED_NOW', `cast ${cast.id} is ${cast.status}`);
  pen.write({ kind: 'cast.paused', cast: cast.id, reason });
  return allow(`cast ${cast.id} paused`);
}

export function resume(pen: Pen, cast: Cast, reason: string): Verdict {
  if (cast.status === 'running') return allow(`cast ${cast.id} is running`);
  if (cast.status !== 'paused') return deny('NOT_ALLOWED_NOW', `cast ${cast.id} is ${cast.status}, not paused`);
  pen.write({ kind: 'cast.resumed', cast: cast.id, reason });
  return allow(`cast ${cast.id} resumed`);
}

/** Runs a failed or aborted cast on from where it stands, with fresh allowances for the turn it stands at. */
export function recast(pen: Pen, cast: Cast): Verdict {
  if (cast.status !== 'failed' && cast.status !== 'aborted') {
    return deny('NOT_ALLOWED_NOW', `cast ${cast.id} is ${cast.status}; only a failed or aborted cast can be recast`);
  }
  const { stand } = cast;
  pen.write({ kind: 'cast.recast', cast: cast.id });
  goOn(pen, cast, stand, false);
  return allow(`cast ${cast.id} runs again`);
}

/** Like recast, but an edge whose budget was spent gets as much again and is taken. */
export function revive(pen: Pen, cast: Cast): Verdict {
  const { stand } = cast;
  if (cast.status !== 'failed' || stand?.at !== 'edge') {
    return deny('NOT_ALLOWED_NOW', `cast ${cast.id} does not stand at a spent edge; use recast`);
  }
  pen.write({ kind: 'cast.recast', cast: cast.id, extends: { key: stand.key, by: stand.limit } });
  goOn(pen, cast, stand, true);
  return allow(`cast ${cast.id} runs again`);
}

function goOn(pen: Pen, cast: Cast, stand: Cast['stand'], takesEdge: boolean): void {
  for (const turn of Object.values(cast.turns)) {
    if (turn.phase !== 'accepted') pen.write({ kind: 'turn.reopened', cast: cast.id, turn: turn.id });
    else if (stand?.at === 'edge' && !takesEdge && stand.turn === turn.id) restart(pen, cast, turn);
    else route(pen, cast, turn);
    if (cast.status !== 'running') return;
  }
  if (stand?.at === 'start') startSocket(pen, cast, stand.socket, false);
}

/** The edge stays closed: its source works once more instead. */
function restart(pen: Pen, cast: Cast, turn: Turn): void {
  pen.write({ kind: 'turn.dropped', cast: cast.id, turn: turn.id });
  startSocket(pen, cast, turn.socket, true);
}

export function decideTurn(pen: Pen, cast: Cast, turn: Turn, input: Extract<Input, { kind: 'turn.decide' }>): Verdict {
  if (turn.phase !== 'unknown') return deny('NOT_ALLOWED_NOW', `turn ${turn.id} does not wait for a decision`);
  const { choice } = input;
  const output = input.output ?? defaultOutput(cast, turn);
  if (choice === 'accept' && output === null) {
    return deny('NOT_ALLOWED_NOW', `${turn.socket} must hand on work items; give its output with --output FILE`);
  }
  const reason = input.reason ?? '';
  pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `turn ${turn.id}: ${choice}` });
  pen.write({ kind: 'turn.decided', cast: cast.id, turn: turn.id, choice, reason });
  if (choice === 'rerun') return allow(`turn ${turn.id} runs again`);
  if (choice === 'accept') {
    const { at, by } = input;
    return takeOutput(pen, cast, turn, {
      kind: 'attempt.output',
      at,
      by,
      cast: cast.id,
      turn: turn.id,
      attempt: turn.attempt,
      output: output ?? '',
    });
  }
  const refusal = deny(
    'UTILITY_FAILED',
    `${turn.socket}: a person decided that it failed${reason ? `: ${reason}` : ''}`,
  );
  pen.write({
    kind: 'attempt.failed',
    cast: cast.id,
    turn: turn.id,
    attempt: turn.attempt,
    fault: 'utility',
    reason: refusal.reason,
    usage: { input: 0, output: 0, cost: 0 },
    again: false,
  });
  fail(pen, cast, refusal, turn.id);
  return allow(`turn ${turn.id} failed`);
}

/** What an accepted turn hands on when nobody knows its output: that it was done, and nothing more. */
function defaultOutput(cast: Cast, turn: Turn): string | null {
  const contract = contractOf(cast.rules, turn.socket);
  if (contract.dialect === 'text') return '';
  if (contract.requires.some((field) => field !== 'satisfied')) return null;
  return contract.requires.includes('satisfied') ? '{"satisfied":true}' : '{}';
}

export function changeBudget(pen: Pen, cast: Cast, input: Extract<Input, { kind: 'budget.change' }>): Verdict {
  const maxTokens = input.maxTokens ?? cast.budget.maxTokens;
  const maxCost = input.maxCost ?? cast.budget.maxCost;
  const maxDurationMs = input.maxDurationMs ?? cast.budget.maxDurationMs;
  const used = tokensOf(cast);
  if (maxTokens !== null && (!Number.isSafeInteger(maxTokens) || maxTokens < used)) {
    return deny('NOT_ALLOWED_NOW', `${used} tokens are used already; the limit cannot be ${maxTokens}`, {
      used,
      maxTokens,
    });
  }
  pen.write({ kind: 'budget.changed', cast: cast.id, maxTokens, maxCost, maxDurationMs });
  return allow('budget changed', { maxTokens, maxCost, maxDurationMs });
}
