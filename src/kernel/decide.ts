// The one place where an input becomes facts. Each fact is applied as it is decided, so later steps of a decision see the
// earlier ones. Reactions to the facts follow in the same decision.
import { decideApproval } from './approval/decide.ts';
import { isApprovalRequest } from './approval/request.ts';
import { expireDue, withdrawOver } from './approval/settle.ts';
import { type ByKind, rowFor } from './by-kind.ts';
import { takeOutput, takeVerification } from './cast/answer.ts';
import { finishConversation, takeAnswer, takeDecisions, waitForPerson } from './cast/asked.ts';
import { budgetTimeLeft, exhausted, recordUntaken, recordUsage, takeUsage } from './cast/budget.ts';
import { dispatch, startDue, startPostponed, startReady } from './cast/dispatch.ts';
import { endDueWaits, takeProbe } from './cast/end-wait.ts';
import { loseAttempt, markUnknown, recover, silenceReason, takeFault } from './cast/fault.ts';
import { waitIfParked } from './cast/item.ts';
import { takeMerge } from './cast/route.ts';
import { socketOf } from './cast/rules.ts';
import { startCast } from './cast/start.ts';
import type { Cast, Turn } from './cast/state.ts';
import {
  abort,
  changeBudget,
  decideTurn,
  pause,
  recast,
  resume,
  revive,
  sayToAgents,
  takeInterruption,
} from './cast/steer.ts';
import { dropItem, noticeMoves, refusalOfMoveByHand, retryItem, takeParked } from './cast/stop.ts';
import { blockAll, cancelBlocked } from './cast/task.ts';
import { decideSink, isSinkRequest } from './event.ts';
import type { Fact } from './fact.ts';
import type { Seen } from './gate/changes.ts';
import type { Input } from './input.ts';
import { isKnowledgeRequest } from './knowledge/state.ts';
import { decideKnowledge } from './knowledge/write.ts';
import { decideLedger, refuseAgent } from './ledger/decide.ts';
import { knownCode } from './ledger/move.ts';
import { findTask } from './ledger/state.ts';
import { newPen } from './pen.ts';
import { decideQuest, followCast } from './quest/decide.ts';
import { isQuestRequest } from './quest/state.ts';
import { scrub } from './secrets.ts';
import { type Dialects, fail, type Pen, type RanOf, type State } from './state.ts';
import { decideTrust } from './trust/decide.ts';
import { isTrustRequest } from './trust/state.ts';
import { allow, deny, type Verdict } from './verdict.ts';

/** By the place of a fact, `ranMs` is the running time that its entry counts. */
export type Decision = {
  readonly verdict: Verdict;
  readonly facts: readonly Fact[];
  readonly ranMs: ReadonlyMap<number, number>;
};

/** `ranOf` answers for casts that another process drives; `drives` says which casts it may start attempts of. */
export function decide(
  dialects: Dialects,
  state: State,
  input: Input,
  ranOf: RanOf = () => null,
  drives: (cast: string) => boolean = () => true,
): Decision {
  const { at, clock, ranMs } = input;
  const driven = ranMs !== undefined && 'cast' in input ? input.cast : undefined;
  const pen = newPen(state, at, dialects, {
    clock,
    driven,
    drives,
    due: input.kind === 'clock.rang' ? input.due : undefined,
    ranOf: (cast) => (cast.id === driven ? (ranMs ?? null) : ranOf(cast)),
  });
  const verdict = decideFor(pen, withCleanReason(input));
  followUp(pen);
  return { verdict, facts: pen.facts, ranMs: pen.ranMs };
}

/** A reason is stored word for word in a line that is never erased, so it may hold no credential. */
function withCleanReason(input: Input): Input {
  if (!('reason' in input) || typeof input.reason !== 'string') return input;
  const { text, found } = scrub(input.reason);
  return found.length === 0 ? input : { ...input, reason: text };
}

function decideFor(pen: Pen, input: Input): Verdict {
  if (isTrustRequest(input)) return decideTrust(pen, input);
  if (isApprovalRequest(input)) return decideApproval(pen, input);
  if (isKnowledgeRequest(input)) return decideKnowledge(pen, input);
  if (isQuestRequest(input)) return decideQuest(pen, input);
  if (isSinkRequest(input)) return decideSink(pen, input);
  if (!('cast' in input)) {
    return (
      refusalOfResting(pen, input) ??
      refusalOfMoveByHand(pen, input) ??
      refuseAgent(pen, input) ??
      decideLedger(pen, input)
    );
  }
  const verdict = input.kind === 'cast.start' ? startCast(pen, input) : decideForCast(pen, input);
  // Expired approvals are noted by the process that carries the cast on or ends it, after its own request, which may be
  // about that very turn.
  if (STEERS.some((kind) => kind === input.kind)) expireDue(pen, input.cast);
  const cast = openCast(pen.state, input.cast);
  if (cast && pen.facts.length > 0) {
    startReady(pen, cast);
    waitForPerson(pen, cast);
    waitIfParked(pen, cast);
  }
  return verdict;
}

const STEERS: readonly Input['kind'][] = [
  'cast.abort',
  'cast.recast',
  'cast.revive',
  'turn.answer',
  'turn.decide',
  'turn.finish',
];

/**
 * A cast that is paused or waits for a person keeps its tasks, and so does a turn that has answered: their silence is no
 * fault.
 */
function refusalOfResting(pen: Pen, input: Exclude<Input, { cast: string }>): Verdict | null {
  if (input.kind !== 'task.expire') return null;
  const found = findTask(pen.ledger, input);
  const cast = found.ok ? openCast(pen.state, found.task.run) : undefined;
  const why = cast?.status === 'running' ? silenceReason(cast, input.task) : null;
  if (!cast || (cast.status === 'running' && why === null)) return null;
  const reason =
    why === null
      ? `${input.task} belongs to cast ${cast.id}, which is ${cast.status}; it keeps its tasks until it goes on, is aborted or a person moves them`
      : `${input.task} belongs to cast ${cast.id}, and no agent is silent: ${why}; \`baton resume ${cast.id}\` carries it on`;
  return deny('NOT_ALLOWED_NOW', reason, { task: input.task, cast: cast.id, status: cast.status });
}

/** Every object has a `constructor`; no cast is called that unless one was started under the name. */
function openCast(state: State, id: string): Cast | undefined {
  return Object.hasOwn(state.casts, id) ? state.casts[id] : undefined;
}

type CastInput = Exclude<Extract<Input, { cast: string }>, { kind: 'cast.start' }>;

/** What a cast does with each input that names it. */
const CAST_INPUTS: ByKind<CastInput, [pen: Pen, cast: Cast], [], Verdict> = {
  'cast.abort': (pen, cast, { reason }) => abort(pen, cast, reason),
  'cast.pause': (pen, cast, { reason }) => pause(pen, cast, reason),
  'cast.resume': (pen, cast, { reason }) => {
    noteExpired(pen, cast);
    return resume(pen, cast, reason);
  },
  'cast.recover': recover,
  'cast.recast': recast,
  'cast.revive': revive,
  'item.retry': retryItem,
  'item.drop': dropItem,
  'budget.change': changeBudget,
  'clock.rang': (pen, cast) => {
    noteExpired(pen, cast);
    return ring(pen, cast);
  },
  'turn.answer': takeAnswer,
  'turn.finish': finishConversation,
  'cast.say': sayToAgents,
  'attempt.spent': takeUsage,
  'turn.prepared': (pen, cast, input) => forTurn(cast, input, (turn) => dispatch(pen, cast, turn, input)),
  'wait.probed': (pen, cast, input) => inPhase('awaiting', cast, input, (turn) => takeProbe(pen, cast, turn, input)),
  'turn.decide': (pen, cast, input) => forTurn(cast, input, (turn) => decideTurn(pen, cast, turn, input)),
  'attempt.output': (pen, cast, input) => inPhase('running', cast, input, (turn) => takeOutput(pen, cast, turn, input)),
  'attempt.failed': (pen, cast, input) =>
    inPhase('running', cast, input, (turn) => takeFailure(pen, cast, turn, input)),
  'attempt.interrupted': (pen, cast, input) =>
    inPhase('running', cast, input, (turn) => takeInterruption(pen, cast, turn, input)),
  'attempt.lost': (pen, cast, input) =>
    inPhase('running', cast, input, (turn) => loseAttempt(pen, cast, turn, input.mayHaveRun, input.reason, input)),
  'turn.verified': (pen, cast, input) =>
    inPhase('verifying', cast, input, (turn) => takeVerification(pen, cast, turn, seenIn(input))),
  'turn.merged': (pen, cast, input) =>
    inPhase('merging', cast, input, (turn) => takeMerge(pen, cast, turn, input.merge)),
  'turn.parked': (pen, cast, input) =>
    inPhase('parking', cast, input, (turn) => takeParked(pen, cast, turn, input.kept)),
};

function decideForCast(pen: Pen, input: CastInput): Verdict {
  const cast = openCast(pen.state, input.cast);
  if (!cast) return deny('UNKNOWN_CAST', `there is no cast ${input.cast}`);
  const take = rowFor(CAST_INPUTS, input);
  if (!take) throw new Error(`no cast takes the input ${input.kind}`);
  return take(pen, cast, input);
}

/** An approval may have expired meanwhile. Then its agent gets that first. */
function noteExpired(pen: Pen, cast: Cast): void {
  if (expireDue(pen, cast.id).size > 0) takeDecisions(pen, pen.facts);
}

function forTurn(cast: Cast, { turn: id }: { readonly turn: number }, take: (turn: Turn) => Verdict): Verdict {
  const turn = cast.turns[id];
  return turn ? take(turn) : deny('UNKNOWN_TURN', `cast ${cast.id} has no open turn ${id}`);
}

/** A late answer of an attempt that was given up changes nothing. */
function inPhase(
  phase: Turn['phase'],
  cast: Cast,
  input: { readonly turn: number; readonly attempt: number },
  take: (turn: Turn) => Verdict,
): Verdict {
  return forTurn(cast, input, (turn) => {
    if (cast.status === 'running' && turn.phase === phase && input.attempt === turn.attempt) return take(turn);
    return deny('STALE_ATTEMPT', `attempt ${input.attempt} of turn ${turn.id} is over`);
  });
}

function takeFailure(pen: Pen, cast: Cast, turn: Turn, input: Extract<Input, { kind: 'attempt.failed' }>): Verdict {
  if (input.fault !== 'timeout') return takeFault(pen, cast, turn, input);
  const left = budgetTimeLeft(cast, turn, socketOf(cast, turn.socket).limits.timeoutMs);
  if (left !== null) pen.countAtLeast(cast, left);
  // If the timeout came from the budget, the budget is exhausted.
  if (!exhausted(cast, pen.ranUntil(cast))) return takeFault(pen, cast, turn, input);
  recordUsage(pen, cast, turn, input);
  return ring(pen, cast);
}

function seenIn(input: Extract<Input, { kind: 'turn.verified' }>): Seen {
  const { seal, changes = {}, unkept = {}, main, checks = {}, turnChecks, diff, artifacts = {}, unseen } = input;
  return {
    ...{ seal, changes, unkept, checks, artifacts, approval: input.approval ?? null },
    ...(main ? { main } : {}),
    ...(turnChecks ? { turnChecks } : {}),
    ...(diff ? { diff } : {}),
    ...(unseen === undefined ? {} : { unseen }),
  };
}

function ring(pen: Pen, cast: Cast): Verdict {
  const spent = cast.status === 'running' ? exhausted(cast, pen.ranUntil(cast)) : null;
  if (!spent) {
    if (cast.status === 'running') startDue(pen, cast);
    endDueWaits(pen, cast);
    return allow(pen.facts.length > 0 ? 'what was put off is tried again' : 'nothing is due');
  }
  markUnknown(pen, cast, spent.reason);
  fail(pen, cast, spent, null);
  return spent;
}

/** Each reaction takes the facts that call for it. Reactions run in this order. */
const REACTIONS = {
  /** A cast that ended leaves no task in progress. */
  releaseTasks,
  /** An approval ends with the turn and the cast that asked for it. */
  withdrawApprovals: withdrawOver,
  /** The agent that waits for an approval gets the decision. */
  tellDecision: takeDecisions,
  /** A quest ends with its cast, and goes on with it. */
  followCast,
  /** A running cast follows what a person did to its tasks. */
  noticeMove: noticeMoves,
  /** What was postponed starts when paths or the workspace are free again. */
  startPostponed: startPostponed,
} as const;

type Reaction = keyof typeof REACTIONS;

/** A fact that is not named here has no consequences. */
const FOLLOWS: { readonly [kind: string]: readonly Reaction[] | undefined } = {
  'cast.completed': ['releaseTasks', 'withdrawApprovals', 'followCast'],
  'cast.failed': ['releaseTasks', 'withdrawApprovals', 'followCast'],
  'cast.aborted': ['releaseTasks', 'withdrawApprovals', 'followCast'],
  'cast.recast': ['followCast'],
  'turn.accepted': ['withdrawApprovals'],
  'turn.dropped': ['withdrawApprovals'],
  'turn.decided': ['withdrawApprovals'],
  'turn.blocked': ['withdrawApprovals'],
  'turn.reported': ['withdrawApprovals'],
  'approval.approved': ['tellDecision'],
  'approval.rejected': ['tellDecision'],
  'approval.expired': ['tellDecision'],
  'approval.finished': ['tellDecision'],
  'task.moved': ['noticeMove', 'startPostponed'],
  'ledger.unheld': ['startPostponed'],
} satisfies { readonly [K in Fact['kind']]?: readonly Reaction[] };

/** Runs the reactions to the facts of a decision until nothing new follows. */
function followUp(pen: Pen): void {
  for (let seen = 0; seen < pen.facts.length; ) {
    const news = pen.facts.slice(seen);
    seen = pen.facts.length;
    for (const [name, react] of Object.entries(REACTIONS)) {
      const its = news.filter(({ kind }) => FOLLOWS[kind]?.includes(name as Reaction));
      if (its.length > 0) react(pen, its);
    }
  }
}

function releaseTasks(pen: Pen, facts: readonly Fact[]): void {
  for (const fact of facts) {
    const cast = 'cast' in fact ? pen.state.casts[fact.cast ?? ''] : undefined;
    if (!cast) continue;
    recordUntaken(pen, cast);
    const ended = { code: 'ABORTED', reason: 'the cast ended before its item was finished' } as const;
    const { code, reason } = fact.kind === 'cast.failed' ? fact : ended;
    blockAll(pen, cast, knownCode(code) ?? 'ABORTED', reason);
    if (fact.kind === 'cast.aborted') cancelBlocked(pen, cast, 'the cast was aborted');
  }
}
