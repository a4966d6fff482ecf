// The one place where an input becomes facts. Each fact is applied as it is decided, so that a decision of several steps
// sees its own first steps; replaying the returned facts on the state before gives the state after.
import { apply } from './apply.ts';
import { decideApproval } from './approval/decide.ts';
import { isApprovalRequest } from './approval/request.ts';
import { expireDue, withdrawOver } from './approval/settle.ts';
import { takeOutput, takeVerification } from './cast/answer.ts';
import { takeAnswer, takeDecisions, waitIfAsked } from './cast/asked.ts';
import { exhausted, leftToSpend, spend, spendUntaken, takeSpending } from './cast/budget.ts';
import { stored } from './cast/commit.ts';
import { dispatch, startDue, startHeld, startReady } from './cast/dispatch.ts';
import { excuseOf, lose, markUnknown, recover, takeFault } from './cast/fault.ts';
import { waitIfParked } from './cast/loops.ts';
import { takeMerge } from './cast/route.ts';
import { socketOf } from './cast/rules.ts';
import { startCast } from './cast/start.ts';
import type { Cast, Turn } from './cast/state.ts';
import { abort, changeBudget, decideTurn, pause, recast, resume, revive } from './cast/steer.ts';
import { dropItem, noticeMoves, refusalOfMove, retryItem, takeParked } from './cast/stop.ts';
import { blockAll, cancelBlocked } from './cast/task.ts';
import type { Fact } from './fact.ts';
import type { Input } from './input.ts';
import { isKnowledgeRequest } from './knowledge/state.ts';
import { decideKnowledge } from './knowledge/write.ts';
import { decideLedger, refuseAgent } from './ledger/decide.ts';
import { knownCode } from './ledger/move.ts';
import { findTask } from './ledger/state.ts';
import { type Dialects, fail, type Pen, type RanOf } from './pen.ts';
import { scrub } from './secrets.ts';
import type { State } from './state.ts';
import { decideTrust } from './trust/decide.ts';
import { isTrustRequest } from './trust/request.ts';
import { allow, deny, type Verdict } from './verdict.ts';

/** By the place of a fact, `ranMs` is the running time that its entry counts. */
export type Decision = {
  readonly verdict: Verdict;
  readonly facts: readonly Fact[];
  readonly ranMs: ReadonlyMap<number, number>;
};

/** `ranOf` answers for casts that another process drives. */
export function decide(dialects: Dialects, state: State, input: Input, ranOf: RanOf = () => null): Decision {
  const { at, clock, ranMs } = input;
  const driven = ranMs !== undefined && 'cast' in input ? input.cast : undefined;
  const pen = newPen(state, at, dialects, {
    clock,
    driven,
    due: input.kind === 'clock.rang' ? input.due : undefined,
    ranOf: (cast) => (cast.id === driven ? (ranMs ?? null) : ranOf(cast)),
  });
  const verdict = decideFor(pen, withCleanReason(input));
  followUp(pen);
  return { verdict, facts: pen.facts, ranMs: pen.ranMs };
}

/** Why somebody does something is stored word for word, in a line that is never erased, so no credential may be among the words. */
function withCleanReason(input: Input): Input {
  if (!('reason' in input) || typeof input.reason !== 'string') return input;
  const { text, found } = scrub(input.reason);
  return found.length === 0 ? input : { ...input, reason: text };
}

function decideFor(pen: Pen, input: Input): Verdict {
  if (isTrustRequest(input)) return decideTrust(pen, input);
  if (isApprovalRequest(input)) return decideApproval(pen, input);
  if (isKnowledgeRequest(input)) return decideKnowledge(pen, input);
  if (!('cast' in input)) {
    return (
      refusalOfResting(pen, input) ?? refusalOfMove(pen, input) ?? refuseAgent(pen, input) ?? decideLedger(pen, input)
    );
  }
  const verdict = input.kind === 'cast.start' ? startCast(pen, input) : decideForCast(pen, input);
  // What is over is noted by whoever carries the cast on or ends it; it comes after what they said, which may be about that
  // very turn.
  if (STEERS.some((kind) => kind === input.kind)) expireDue(pen, input.cast);
  const cast = openCast(pen.state, input.cast);
  if (cast && pen.facts.length > 0) {
    startReady(pen, cast);
    waitIfAsked(pen, cast);
    waitIfParked(pen, cast);
  }
  return verdict;
}

const STEERS: readonly Input['kind'][] = ['cast.abort', 'cast.recast', 'cast.revive', 'turn.answer', 'turn.decide'];

/**
 * A cast that was paused or waits for a person keeps its tasks however long it takes, and so does a turn that has answered:
 * nobody is silent there.
 */
function refusalOfResting(pen: Pen, input: Exclude<Input, { cast: string }>): Verdict | null {
  if (input.kind !== 'task.expire') return null;
  const found = findTask(pen.ledger, input);
  const cast = found.ok ? openCast(pen.state, found.task.run) : undefined;
  const excuse = cast?.status === 'running' ? excuseOf(cast, input.task) : null;
  if (!cast || (cast.status === 'running' && excuse === null)) return null;
  const reason =
    excuse === null
      ? `${input.task} belongs to cast ${cast.id}, which is ${cast.status}; it keeps its tasks until it goes on, is aborted or a person moves them`
      : `${input.task} belongs to cast ${cast.id}, and nobody is silent: ${excuse}; \`baton resume ${cast.id}\` carries it on`;
  return deny('NOT_ALLOWED_NOW', reason, { task: input.task, cast: cast.id, status: cast.status });
}

/** What a decision sets free or leaves behind is dealt with in the same decision, until nothing new follows from it. */
function followUp(pen: Pen): void {
  for (let seen = 0; seen < pen.facts.length; ) {
    const news = pen.facts.slice(seen);
    seen = pen.facts.length;
    for (const fact of news) releaseEnded(pen, fact);
    withdrawOver(pen, news);
    takeDecisions(pen, news);
    noticeMoves(pen, news);
    startHeld(pen, news);
  }
}

/** A cast that is over leaves no task in progress. */
function releaseEnded(pen: Pen, fact: Fact): void {
  if (fact.kind !== 'cast.failed' && fact.kind !== 'cast.aborted' && fact.kind !== 'cast.completed') return;
  const cast = openCast(pen.state, fact.cast);
  if (!cast) return;
  spendUntaken(pen, cast);
  const ended = { code: 'ABORTED', reason: 'the cast ended before its item was finished' } as const;
  const { code, reason } = fact.kind === 'cast.failed' ? fact : ended;
  blockAll(pen, cast, knownCode(code) ?? 'ABORTED', reason);
  if (fact.kind === 'cast.aborted') cancelBlocked(pen, cast, 'the cast was aborted');
}

/** Every object has a `constructor`; no cast is called that unless one was started under the name. */
function openCast(state: State, id: string): Cast | undefined {
  return Object.hasOwn(state.casts, id) ? state.casts[id] : undefined;
}

type CastInput = Exclude<Extract<Input, { cast: string }>, { kind: 'cast.start' }>;
type TurnInput = Exclude<Extract<CastInput, { turn: number }>, { kind: 'turn.answer' | 'attempt.spent' }>;

function decideForCast(pen: Pen, input: CastInput): Verdict {
  const cast = openCast(pen.state, input.cast);
  if (!cast) return deny('UNKNOWN_CAST', `there is no cast ${input.cast}`);
  switch (input.kind) {
    case 'cast.abort':
      return abort(pen, cast, input.reason);
    case 'cast.pause':
      return pause(pen, cast, input.reason);
    case 'cast.resume':
      // A permission whose time ran out while nobody looked goes back to the agent that asked for it.
      if (expireDue(pen, cast.id).size > 0) takeDecisions(pen, pen.facts);
      return resume(pen, cast, input.reason);
    case 'cast.recover':
      return recover(pen, cast, input);
    case 'cast.recast':
      return recast(pen, cast);
    case 'cast.revive':
      return revive(pen, cast);
    case 'item.retry':
      return retryItem(pen, cast, input);
    case 'item.drop':
      return dropItem(pen, cast, input);
    case 'budget.change':
      return changeBudget(pen, cast, input);
    case 'clock.rang':
      // Whoever waits beside what still runs hears at the time that nobody decided.
      if (expireDue(pen, cast.id).size > 0) takeDecisions(pen, pen.facts);
      return ring(pen, cast);
    case 'turn.answer':
      return takeAnswer(pen, cast, input);
    case 'attempt.spent':
      return takeSpending(pen, cast, input);
    default:
      return decideForTurn(pen, cast, input);
  }
}

function decideForTurn(pen: Pen, cast: Cast, input: TurnInput): Verdict {
  const turn = cast.turns[input.turn];
  if (!turn) return deny('UNKNOWN_TURN', `cast ${cast.id} has no open turn ${input.turn}`);
  switch (input.kind) {
    case 'turn.prepared':
      return dispatch(pen, cast, turn, input);
    case 'turn.decide':
      return decideTurn(pen, cast, turn, input);
    default:
      // A late answer to a dispatch that was given up on changes nothing.
      if (cast.status !== 'running' || turn.phase !== phaseFor(input) || input.attempt !== turn.attempt) {
        return deny('STALE_ATTEMPT', `attempt ${input.attempt} of turn ${turn.id} is over`);
      }
      return decideForAttempt(pen, cast, turn, input);
  }
}

function phaseFor({ kind }: TurnInput): Turn['phase'] {
  if (kind === 'turn.merged') return 'merging';
  if (kind === 'turn.parked') return 'parking';
  return kind === 'turn.verified' ? 'verifying' : 'running';
}

function decideForAttempt(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  input: Exclude<TurnInput, { kind: 'turn.prepared' | 'turn.decide' }>,
): Verdict {
  switch (input.kind) {
    case 'attempt.output':
      return takeOutput(pen, cast, turn, input);
    case 'attempt.failed':
      if (input.fault === 'timeout') {
        const left = leftToSpend(cast, turn, socketOf(cast, turn.socket).limits.timeoutMs);
        if (left !== null) pen.countAtLeast(cast, left);
      }
      // If the timeout came from the budget, the budget is exhausted.
      if (input.fault === 'timeout' && exhausted(cast, pen.ranUntil(cast))) {
        spend(pen, cast, turn, input);
        return ring(pen, cast);
      }
      return takeFault(pen, cast, turn, input);
    case 'attempt.lost':
      return lose(pen, cast, turn, input.mayHaveRun, input.reason, input);
    case 'turn.merged':
      return takeMerge(pen, cast, turn, input.merge);
    case 'turn.parked':
      return takeParked(pen, cast, turn, input.kept);
    case 'turn.verified':
      return takeVerification(pen, cast, turn, {
        seal: input.seal,
        changes: input.changes ?? {},
        unkept: input.unkept ?? {},
        ...(input.main ? { main: input.main } : {}),
        checks: input.checks ?? {},
        ...(input.turnChecks ? { turnChecks: input.turnChecks } : {}),
        ...(input.diff ? { diff: input.diff } : {}),
        approval: input.approval ?? null,
        artifacts: input.artifacts ?? {},
        ...(input.unseen === undefined ? {} : { unseen: input.unseen }),
      });
  }
}

function ring(pen: Pen, cast: Cast): Verdict {
  const spent = cast.status === 'running' ? exhausted(cast, pen.ranUntil(cast)) : null;
  if (!spent) {
    if (cast.status === 'running') startDue(pen, cast);
    return allow(pen.facts.length > 0 ? 'what was put off is tried again' : 'nothing is due');
  }
  markUnknown(pen, cast, spent.reason);
  fail(pen, cast, spent, null);
  return spent;
}

export type PenOptions = {
  /** What the clock says where the log, whose time never goes back, is far ahead of it. */
  readonly clock?: number | undefined;
  readonly due?: number | undefined;
  readonly ranOf?: RanOf | undefined;
  /** The cast whose driver decides here: its time is counted with its first fact. */
  readonly driven?: string | undefined;
};

const STOPS: ReadonlySet<string> = new Set([
  'cast.completed',
  'cast.failed',
  'cast.waiting',
  'cast.aborted',
  'cast.paused',
] satisfies Fact['kind'][]);

export function newPen(state: State, at: number, dialects: Dialects, options: PenOptions = {}): Pen {
  const { clock, due = 0, ranOf = () => null, driven } = options;
  const facts: Fact[] = [];
  const ranMs = new Map<number, number>();
  // Time in which a cast did not run does not count, also when it goes on in this decision.
  const counted = new Set<string>(driven !== undefined && state.casts[driven]?.status !== 'running' ? [driven] : []);
  const least = new Map<string, number>();
  const ranBy = (cast: Cast) => {
    if (cast.clock.runningSince === null) return null;
    const ran = counted.has(cast.id) ? 0 : ranOf(cast);
    return ran === null || counted.has(cast.id) ? ran : Math.max(ran, least.get(cast.id) ?? 0);
  };
  const stamp = stampOf(at);
  const own = clock === undefined ? null : { text: new Date(clock).toISOString(), time: clock };
  const date = own ? { at: stamp.text, clock: own.text } : { at: stamp.text };
  const time = own?.time ?? stamp.time;
  return {
    state,
    ledger: state.ledger,
    at: own?.time ?? at,
    due: Math.max(due, own?.time ?? at),
    dialects,
    facts,
    ranMs,
    countAtLeast(cast, ms) {
      least.set(cast.id, ms);
    },
    ranUntil(cast) {
      const ran = ranBy(cast);
      return ran === null || cast.clock.runningSince === null ? (own?.time ?? at) : cast.clock.runningSince + ran;
    },
    standing(run) {
      const cast = Object.hasOwn(state.casts, run) ? state.casts[run] : undefined;
      return !cast || cast.status === 'running' ? null : { status: cast.status, since: cast.since ?? null };
    },
    write(given) {
      const id = 'cast' in given ? (given.cast ?? '') : '';
      const cast = Object.hasOwn(state.casts, id) ? state.casts[id] : undefined;
      const ran = cast ? ranBy(cast) : null;
      const stops = STOPS.has(given.kind);
      const total = cast && ran !== null && stops ? { elapsedMs: cast.clock.elapsedMs + ran } : {};
      const fact = stored({ ...given, ...total });
      const counts = cast && ran !== null && !stops && cast.id === driven && !counted.has(cast.id);
      if (counts) {
        counted.add(cast.id);
        ranMs.set(facts.length, ran);
      }
      facts.push(fact);
      apply(state, { ...date, ...(counts ? { ranMs: ran } : {}), fact }, time);
    },
  };
}

type Stamp = { readonly at: number; readonly text: string; readonly time: number };

let lastStamp: Stamp = { at: Number.NaN, text: '', time: Number.NaN };

/** The decisions of one batch mostly have the same time. */
function stampOf(at: number): Stamp {
  if (at !== lastStamp.at) {
    const text = new Date(at).toISOString();
    lastStamp = { at, text, time: Date.parse(text) };
  }
  return lastStamp;
}
