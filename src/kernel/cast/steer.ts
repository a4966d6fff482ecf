// What a person may ask of a cast, stopped or running.
import { runnerCan } from '../capabilities.ts';
import { contractOf } from '../graph/route.ts';
import type { Input } from '../input.ts';
import { scrub } from '../secrets.ts';
import type { Pen } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { takeOutput } from './answer.ts';
import { decideBlocked, isAnswerableWhenBlocked, isExpired, refusalOfLate, type StatusText } from './asked.ts';
import { cleanNote, elapsedOf, exhausted, refilled, tokensOf, warn } from './budget.ts';
import { claimFor, reclaim, startDue } from './dispatch.ts';
import { decideWait } from './end-wait.ts';
import { markUnknown, waitIfUnknown } from './fault.ts';
import { hasItem, isLeftOut, taskOfTurn } from './item.ts';
import { isBound } from './lock-scope.ts';
import { isSaidTo } from './notes.ts';
import { carriesOn, extendEdge, route } from './route.ts';
import { chosenMateria, isPersons, isScripted, materiaOf, offersTools, runsOnce } from './rules.ts';
import { fillAllLanes, reopenTurn, startSocket } from './start.ts';
import { type Cast, type CastStatus, FREE, isOver, type Turn } from './state.ts';
import { failTurn, leaveOut } from './stop.ts';
import { barrierAround } from './streams.ts';

export function abort(pen: Pen, cast: Cast, reason: string): Verdict {
  if (isOver(cast.status)) return deny('NOT_ALLOWED_NOW', `cast ${cast.id} has ${cast.status} already`);
  markUnknown(pen, cast, reason);
  pen.write({ kind: 'cast.aborted', cast: cast.id, reason });
  return allow(`cast ${cast.id} aborted`);
}

export function pause(pen: Pen, cast: Cast, reason: string): Verdict {
  if (cast.status !== 'running') return deny('NOT_ALLOWED_NOW', `cast ${cast.id} is ${cast.status}`);
  markUnknown(pen, cast, reason);
  pen.write({ kind: 'cast.paused', cast: cast.id, reason });
  return allow(`cast ${cast.id} paused`);
}

export function resume(pen: Pen, cast: Cast, reason: string): Verdict {
  if (cast.status === 'running') return allow(`cast ${cast.id} is running`);
  const blocked = Object.values(cast.turns).filter(({ phase }) => phase === 'blocked');
  const spent = Object.values(cast.turns).filter(({ phase }) => phase === 'spent');
  // Items that wait for a person's word are not stuck: only the word carries them on.
  const isAsked = Object.values(cast.turns).some(({ phase }) => phase === 'asked');
  const isHeldUp = blocked.length > 0 || spent.length > 0 || (Object.keys(cast.lanes).length > 0 && !isAsked);
  // Nor is anything waited for where a person has left the item out.
  const isOut = Object.values(cast.turns).some(
    (turn) => turn.item !== null && isLeftOut(taskOfTurn(pen.state, cast, turn)),
  );
  const isWaiting = cast.status === 'waiting';
  const isStuck = isWaiting && (isHeldUp || isOut);
  if (cast.status !== 'paused' && !isStuck) {
    const how = cast.status === 'waiting' && isAsked ? `: ${cast.reason}` : ', not paused';
    return deny('NOT_ALLOWED_NOW', `cast ${cast.id} is ${cast.status}${how}`);
  }
  if (!isOut && waitIfUnknown(pen, cast)) return allow(cast.reason);
  pen.write({ kind: 'cast.resumed', cast: cast.id, reason });
  leaveOut(pen, cast);
  if (isOut && isRunning(cast) && waitIfUnknown(pen, cast)) return allow(cast.reason);
  if (isStuck) for (const turn of blocked) if (cast.turns[turn.id]) reopenTurn(pen, cast, turn);
  // Only a cast that asked is answered by going on: one that was paused before it could ask still asks.
  if (isWaiting) for (const turn of spent) if (cast.turns[turn.id] && isRunning(cast)) extendEdge(pen, cast, turn);
  // The cause of a postponed start may have passed meanwhile.
  startDue(pen, cast);
  return allow(`cast ${cast.id} resumed`);
}

/**
 * What a person says to a cast is kept for the next brief of an agent that it concerns. Where that is to be at once, the
 * agents at work are interrupted.
 */
export function sayToAgents(
  pen: Pen,
  cast: Cast,
  { item, text, interrupt = false }: Extract<Input, { kind: 'cast.say' }>,
): Verdict {
  if (isOver(cast.status)) {
    const reason = `cast ${cast.id} has ${cast.status}; none of its agents can be told anything`;
    return deny('NOT_ALLOWED_NOW', reason, { cast: cast.id });
  }
  if (item !== null && !hasItem(cast, item)) {
    const reason = `cast ${cast.id} has no item ${item}; \`baton show ${cast.id}\` names them`;
    return deny('NOT_ALLOWED_NOW', reason, { cast: cast.id, item });
  }
  const atWork = Object.values(cast.turns).filter((turn) => isAtWork(cast, turn) && isSaidTo(item, turn));
  const reached = interrupt ? atWork.filter((turn) => whyNotInterruptible(cast, turn) === null) : [];
  const interrupts = reached.map(({ id }) => id);
  const extras = interrupts.length > 0 ? { interrupts } : {};
  pen.write({ kind: 'cast.said', cast: cast.id, item, text: scrub(text).text, ...extras });
  return allow(whenTold(cast, item, atWork, interrupt), { cast: cast.id, item, ...extras });
}

function isAtWork(cast: Cast, turn: Turn): boolean {
  const isAgents = materiaOf(cast, turn.socket).type === 'agent';
  return cast.status === 'running' && turn.phase === 'running' && isAgents && !isPersons(cast, turn);
}

/** Why an agent at work cannot be interrupted, in words; null where it can. */
function whyNotInterruptible(cast: Cast, turn: Turn): string | null {
  const materia = chosenMateria(cast, turn);
  const runner = materia.type === 'agent' && !isScripted(cast, turn.socket) ? materia.runner : 'scripted';
  if (!runnerCan(cast.rules, runner, 'isInterruptible')) return `its runner ${runner} cannot be`;
  return runsOnce(cast, turn) ? 'its turn must not run twice' : null;
}

/** When the words arrive, for the person who wrote them. */
function whenTold(cast: Cast, item: string | null, atWork: readonly Turn[], interrupt: boolean): string {
  const next = item === null ? 'the next agent of the cast' : `the next agent that works on ${item}`;
  if (atWork.length === 0) return interrupt ? `no agent is at work on it now; ${next} gets it` : `${next} gets it`;
  const parts = atWork.map((turn) => {
    const { label } = materiaOf(cast, turn.socket);
    const name = turn.item ? `${label} (${turn.item.label})` : label;
    const why = interrupt ? whyNotInterruptible(cast, turn) : null;
    if (interrupt && why === null) return `${name} is interrupted and goes on with it`;
    const cause = why === null ? `${name} is at work` : `${name} is not interrupted, because ${why}`;
    const soon = offersTools(cast, turn) ? 'the next tool of Baton that it calls answers with it, ' : '';
    return `${cause}: ${soon}its next brief has it, or ${next} gets it`;
  });
  return parts.join('; ');
}

/** The attempt of an agent that a person interrupted has ended. What it used counts, and the turn goes on. */
export function takeInterruption(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  { usage = FREE, agent }: Extract<Input, { kind: 'attempt.interrupted' }>,
): Verdict {
  const { id, attempt } = turn;
  if (!turn.interrupted) return deny('NOT_ALLOWED_NOW', `no person has interrupted attempt ${attempt} of turn ${id}`);
  const note = cleanNote(agent);
  const ended = { kind: 'attempt.interrupted', cast: cast.id, turn: id, attempt, usage } as const;
  pen.write({ ...ended, ...(note ? { agent: note } : {}) });
  warn(pen, cast);
  return allow(`turn ${id} goes on with those words`);
}

function isRunning({ status }: Cast): boolean {
  return status === 'running';
}

/** Continues a failed or aborted cast from its resume point, with fresh allowances for that turn. */
export function recast(pen: Pen, cast: Cast): Verdict {
  if (cast.status !== 'failed' && cast.status !== 'aborted') {
    return deny('NOT_ALLOWED_NOW', `cast ${cast.id} is ${cast.status}; only a failed or aborted cast can be recast`);
  }
  const spent = exhausted(cast, pen.at);
  if (spent) return spent;
  const { stand: resumePoint } = cast;
  pen.write({ kind: 'cast.recast', cast: cast.id });
  return goOn(pen, cast, resumePoint, false);
}

/** Like recast, but what was spent, an edge's budget or the cast's, gets as much again as it had at first. */
export function revive(pen: Pen, cast: Cast): Verdict {
  if (cast.status !== 'failed') {
    return deny('NOT_ALLOWED_NOW', `cast ${cast.id} is ${cast.status}; only a failed cast can be revived`);
  }
  const { stand: resumePoint } = cast;
  if (exhausted(cast, pen.at)) {
    const limits = refilled(cast, pen.at);
    const still = exhausted({ ...cast, budget: { ...cast.budget, ...limits } }, pen.at);
    if (still) return still;
    pen.write({ kind: 'budget.changed', cast: cast.id, ...limits });
  }
  const spentEdge = resumePoint?.at === 'edge' ? { extends: { key: resumePoint.key, by: resumePoint.limit } } : {};
  pen.write({ kind: 'cast.recast', cast: cast.id, ...spentEdge });
  return goOn(pen, cast, resumePoint, true);
}

function goOn(pen: Pen, cast: Cast, resumePoint: Cast['stand'], takesEdge: boolean): Verdict {
  const turns = Object.values(cast.turns);
  leaveOut(pen, cast);
  for (const turn of turns) {
    if (cast.status !== 'running') return allow(`cast ${cast.id} went on and is ${cast.status}`);
    if (!cast.turns[turn.id]) continue;
    const isAtEdge = turn.phase === 'spent' || (resumePoint?.at === 'edge' && resumePoint.turn === turn.id);
    if (takesEdge && isSpentInLane(pen, cast, turn)) {
      extendEdge(pen, cast, turn);
      continue;
    }
    if (turn.phase === 'unknown' || (turn.phase === 'merging' && carriesOn(pen, cast, turn))) continue;
    // A canceled task cannot be claimed any more. A step of the graph needs a new one, or it would run without its locks.
    const isStep = turn.item === null && isBound(cast, turn.socket);
    const isOut = isStep && isLeftOut(taskOfTurn(pen.state, cast, turn));
    if (turn.phase === 'spent' || (turn.phase === 'accepted' ? isAtEdge && !takesEdge : isOut))
      restart(pen, cast, turn);
    else if (turn.phase !== 'accepted') reopenTurn(pen, cast, turn);
    else {
      // What was accepted is done, also where its claim ended with the cast.
      claimFor(pen, cast, turn);
      route(pen, cast, turn, isAtEdge);
    }
    if (cast.status !== 'running') return allow(`cast ${cast.id} went on and is ${cast.status}`);
  }
  fillAllLanes(pen, cast);
  if (resumePoint?.at === 'start') startSocket(pen, cast, resumePoint.socket, false);
  if (waitIfUnknown(pen, cast)) return allow(cast.reason);
  return allow(`cast ${cast.id} runs again`);
}

/** Whether the lane of a turn ended at an edge that was taken as often as it may be. */
function isSpentInLane(pen: Pen, cast: Cast, turn: Turn): boolean {
  const isBlocked = turn.phase === 'blocked' && barrierAround(cast, turn) !== null;
  return isBlocked && taskOfTurn(pen.state, cast, turn)?.code === 'EDGE_BUDGET_EXHAUSTED';
}

/** Begins a step once more in a new turn, such as the source of an edge that stays closed. */
function restart(pen: Pen, cast: Cast, turn: Turn): void {
  pen.write({ kind: 'turn.dropped', cast: cast.id, turn: turn.id });
  startSocket(pen, cast, turn.socket, true, turn);
}

export function decideTurn(pen: Pen, cast: Cast, turn: Turn, input: Extract<Input, { kind: 'turn.decide' }>): Verdict {
  if (turn.phase === 'awaiting') return decideWait(pen, cast, turn, input);
  if (turn.phase === 'asked' && turn.asks) return decideAsking(pen, cast, turn, input);
  if (isAnswerableWhenBlocked(cast, turn)) return decideBlocked(pen, cast, turn, input);
  if (turn.phase !== 'unknown') return deny('NOT_ALLOWED_NOW', `turn ${turn.id} does not wait for a decision`);
  if (isOver(cast.status)) {
    return deny('NOT_ALLOWED_NOW', `cast ${cast.id} has ${cast.status}; recast it, then decide turn ${turn.id}`);
  }
  const { choice } = input;
  const output = input.output ?? defaultOutput(pen, cast, turn);
  if (choice === 'accept' && output === null) {
    return deny('NOT_ALLOWED_NOW', `${turn.socket} must hand on more than that it ran; give its output with --output`);
  }
  const unowned = choice === 'accept' ? reclaim(pen, cast, turn) : null;
  if (unowned) return unowned;
  const reason = input.reason ?? '';
  pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `turn ${turn.id}: ${choice}` });
  pen.write({ kind: 'turn.decided', cast: cast.id, turn: turn.id, choice, reason });
  if (choice === 'rerun') return allow(`turn ${turn.id} runs again`);
  if (choice === 'accept') {
    const { at, by } = input;
    const where = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
    return takeOutput(pen, cast, turn, { kind: 'attempt.output', at, by, ...where, output: output ?? '' }, true);
  }
  const isAgent = materiaOf(cast, turn.socket).type === 'agent';
  const why = `${turn.socket}: a person decided that it failed${reason ? `: ${reason}` : ''}`;
  const refusal = deny(isAgent ? 'AGENT_FAILED' : 'UTILITY_FAILED', why, { socket: turn.socket });
  pen.write({
    kind: 'attempt.failed',
    cast: cast.id,
    turn: turn.id,
    attempt: turn.attempt,
    fault: isAgent ? 'crash' : 'utility',
    code: refusal.code,
    reason: refusal.reason,
    usage: { input: 0, output: 0, cost: 0 },
    again: false,
  });
  failTurn(pen, cast, turn, refusal);
  return allow(`turn ${turn.id} failed`);
}

/** An agent that asks may be sent on without an answer, or given up. Its brief says which status may follow. */
function decideAsking(pen: Pen, cast: Cast, turn: Turn, input: Extract<Input, { kind: 'turn.decide' }>): Verdict {
  const { choice, reason = '' } = input;
  if (isOver(cast.status)) return deny('NOT_ALLOWED_NOW', `cast ${cast.id} has ${cast.status} already`);
  if (choice === 'accept') {
    const late = refusalOfLate(pen, cast, turn);
    if (late) return late;
    const how = turn.asks?.what === 'approval' ? `baton approve ${turn.asks.approval}` : `baton answer ${cast.id}`;
    return deny('NOT_ALLOWED_NOW', `turn ${turn.id} has handed nothing in yet; it waits for: ${how}`);
  }
  if (cast.status !== 'running')
    pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `turn ${turn.id}: ${choice}` });
  pen.write({ kind: 'turn.decided', cast: cast.id, turn: turn.id, choice, reason });
  if (choice === 'rerun') return allow(`turn ${turn.id} goes on without an answer`);
  const why = `${turn.socket}: a person decided that it failed${reason ? `: ${reason}` : ''}`;
  failTurn(pen, cast, turn, deny('AGENT_FAILED', why, { socket: turn.socket }));
  return allow(`turn ${turn.id} failed`);
}

/** What an accepted turn hands on when its output is unknown: that it was done, if that is enough. */
function defaultOutput(pen: Pen, cast: Cast, turn: Turn): string | null {
  const contract = contractOf(cast.rules, turn.socket);
  const outputs = ['', '{}', '{"satisfied":true}'];
  return outputs.find((output) => pen.dialects[contract.dialect].read(output, contract).ok) ?? null;
}

export function changeBudget(pen: Pen, cast: Cast, input: Extract<Input, { kind: 'budget.change' }>): Verdict {
  const refusal =
    tooSmall(input.maxTokens, tokensOf(cast), 'tokens') ??
    tooSmall(input.maxCost, cast.usage.cost, 'cost') ??
    tooSmall(input.maxDurationMs, elapsedOf(cast, pen.ranUntil(cast)), 'ms');
  if (refusal) return refusal;
  const limits = {
    maxTokens: input.maxTokens ?? cast.budget.maxTokens,
    maxCost: input.maxCost ?? cast.budget.maxCost,
    maxDurationMs: input.maxDurationMs ?? cast.budget.maxDurationMs,
  };
  pen.write({ kind: 'budget.changed', cast: cast.id, ...limits });
  return allow('budget changed', limits);
}

/** A limit may be what is used already, and nothing below it. Only money comes in parts. */
function tooSmall(limit: number | undefined, used: number, unit: 'tokens' | 'cost' | 'ms'): Denied | null {
  if (limit === undefined) return null;
  const isAmount = unit === 'cost' ? Number.isFinite(limit) : Number.isSafeInteger(limit);
  if (isAmount && limit >= used) return null;
  return deny('NOT_ALLOWED_NOW', `${used} ${unit} are used already; the limit cannot be ${limit}`, { used, unit });
}

export type Exact = 'resume' | 'recast' | 'revive';
export type Verb = Exact | 'continue';

/** The statuses each verb can do something for. */
const FITS: Readonly<Record<Exact, readonly CastStatus[]>> = {
  resume: ['running', 'paused'],
  recast: ['failed', 'aborted'],
  revive: ['failed'],
};

/** The statuses of the casts that a verb may mean where none is named. */
export function mayMean(verb: Verb, { status, code }: Pick<StatusText, 'status' | 'code'>): boolean {
  // An old failure is not what a person means to continue once later casts went well.
  if (verb === 'continue') return ['running', 'paused', 'waiting'].includes(status);
  return FITS[verb].includes(status) && (verb !== 'revive' || code === 'EDGE_BUDGET_EXHAUSTED');
}

/** The allowance that a stopped cast has spent, which a person may extend. */
export function spentAllowance({ status, code }: Pick<StatusText, 'status' | 'code'>): 'retries' | 'budget' | null {
  if (status !== 'failed' && status !== 'aborted') return null;
  if (code === 'EDGE_BUDGET_EXHAUSTED') return 'retries';
  return code === 'BUDGET_EXHAUSTED' ? 'budget' : null;
}

type CarryOnStep = {
  readonly verb: Exact;
  /**
   * `drive`: it runs and has no driver. `submit`: the verb is submitted, then the cast is driven. `refuse`: the rules refuse
   * the verb. `nothing`: there is nothing to carry on.
   */
  readonly how: 'drive' | 'submit' | 'refuse' | 'nothing';
};

/** A cast that waits with these needs a decision, and going on is none. */
const NEEDS_MORE: readonly string[] = ['OUTCOME_UNKNOWN', 'ITEMS_PARKED'];

/** `isExtended` says that a person extends the spent allowance. */
export function stepFor(verb: Verb, current: StatusText, now: number, isExtended = false): CarryOnStep {
  const { status, code } = current;
  const exact = verb === 'continue' ? obvious(current, isExtended) : verb;
  // A blocked task is tried again when a person says so; an unknown outcome needs more than that.
  const isStuck =
    isExpired(current, now) || (verb === 'continue' && status === 'waiting' && !NEEDS_MORE.includes(code ?? ''));
  if (isStuck) return { verb: exact, how: 'submit' };
  if (!FITS[exact].includes(status)) return { verb: exact, how: exact === 'resume' ? 'nothing' : 'refuse' };
  return { verb: exact, how: exact === 'resume' && status === 'running' ? 'drive' : 'submit' };
}

function obvious(current: StatusText, isExtended: boolean): Exact {
  if (current.status !== 'failed' && current.status !== 'aborted') return 'resume';
  return isExtended && spentAllowance(current) === 'retries' ? 'revive' : 'recast';
}

type BudgetLimits = { readonly maxTokens?: number; readonly maxCost?: number; readonly maxDurationMs?: number };

/** Each limit of the cast, with as much again as it had at first. */
export function asMuchAgain({ budget, rules }: Pick<Cast, 'budget' | 'rules'>): BudgetLimits {
  const raised = (['maxTokens', 'maxCost', 'maxDurationMs'] as const).flatMap((limit) => {
    const [now, first] = [budget[limit], rules.budget[limit]];
    return now === null || first === null ? [] : [[limit, now + first] as const];
  });
  return Object.fromEntries(raised);
}

/** A refusal of what was handed in is in the log, and the cast shows where it is; these say that nothing was taken. */
export function isNotTaken({ code }: Denied): boolean {
  return code === 'NOT_ALLOWED_NOW' || code === 'UNKNOWN_TURN' || code === 'APPROVAL_EXPIRED';
}
