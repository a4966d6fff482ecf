// The door before accept: every check that an answer passes before its handoff is accepted, in order. The first refusal counts.
// An answer is scrubbed of secrets as it is read, so that no check and no fact after that sees one.
import { notRunIn, refusalOfUnrun } from '../approval/outcomes.ts';
import { outcomeUnknown } from '../approval/settle.ts';
import { type Approval, isUnsettled } from '../approval/state.ts';
import { dialectCan } from '../capabilities.ts';
import { isConversing, reportsStatus } from '../cast/rules.ts';
import type { Cast, Turn } from '../cast/state.ts';
import { isUnstated, type PlanReading } from '../cast/task.ts';
import type { Handoff, Reading } from '../dialect.ts';
import { isObject, type JsonObject } from '../json.ts';
import { refusalOfAcceptance, refusalOfOtherWorklog, refusalOfVerified } from '../ledger/decide.ts';
import type { Task } from '../ledger/state.ts';
import { type Progress, statusOf, step } from '../report/status.ts';
import type { State } from '../state.ts';
import { type Denied, deny, type NamedCheck } from '../verdict.ts';
import { uninspectable } from './before-dispatch.ts';
import {
  refusalOfAgentConfigIn,
  refusalOfMain,
  refusalOfScope,
  refusalOfSeal,
  refusalOfUncommittable,
  type Seen,
} from './changes.ts';

/** What is known when an answer comes back. */
type AnswerContext = {
  readonly turn: Turn;
  /** The task of the turn; null where it has none. */
  readonly task: Task | null;
  /** A person vouches for the answer, whatever became of the claim. */
  readonly isVouched: boolean;
  readonly reading: Reading;
};

/** What is known when the turn was looked at from outside. */
type SeenContext = { readonly turn: Turn; readonly task: Task | null; readonly seen: Seen };

/** What the checks before acceptance can see. */
export type AcceptContext = SeenContext & {
  readonly state: State;
  readonly cast: Cast;
  readonly handoff: Handoff;
  /** What an assignment of tasks would write, or why it cannot be taken. */
  readonly plan: PlanReading;
};

export const AT_ANSWER: readonly NamedCheck<AnswerContext>[] = [
  {
    name: 'claim',
    why: 'an answer under a claim that is over is not even read',
    check: ({ turn, task, isVouched }) =>
      !isVouched && turn.fence !== null && task?.fence !== turn.fence ? refusalOfLateAnswer(turn) : null,
  },
  {
    name: 'contract',
    why: 'what does not keep its contract says nothing that could be checked further',
    check: ({ reading }) => (reading.ok ? null : reading.verdict),
  },
];

export const AT_VERIFICATION: readonly NamedCheck<SeenContext>[] = [
  {
    name: 'claim kept',
    why: 'a person may have given the paths back meanwhile, and others may have changed them since',
    check: ({ turn, task }) => (turn.fence !== null && task && task.fence === null ? refusalOfLateAnswer(turn) : null),
  },
  {
    name: 'inspectable',
    why: 'the checks below compare changes, which have to be known',
    check: ({ turn, seen }) => (seen.unseen === undefined ? null : uninspectable(turn, seen.unseen)),
  },
];

export const AT_HANDOFF: readonly NamedCheck<AcceptContext>[] = [
  {
    name: 'seal',
    why: 'a turn that changed what governs it is refused, whatever else it did',
    check: ({ turn, seen }) => refusalOfSeal(turn, seen.seal),
  },
  {
    name: 'agent configuration',
    why: 'it configures the next program, so it is named before an ordinary change outside the scope',
    check: ({ state, cast, turn, seen }) => refusalOfAgentConfigIn(state, cast, turn, seen.changes),
  },
  {
    name: 'lock scope',
    why: 'changes are judged before words: a report about them may be right and the change still not allowed',
    check: ({ state, cast, turn, task, seen }) => refusalOfScope(state, cast, turn, task, seen.changes),
  },
  {
    name: 'main checkout',
    why: 'what a turn did in its own folder is named before what it did elsewhere',
    check: ({ state, turn, seen }) => refusalOfMain(state, turn, seen.main),
  },
  {
    name: 'committable',
    why: 'only changes that are allowed have to fit into a commit',
    check: ({ state, cast, turn, task, seen }) => refusalOfUncommittable(state, cast, turn, task, seen.unkept ?? {}),
  },
  {
    name: 'status',
    why: 'a status that may not follow makes the rest of the report meaningless',
    check: ({ cast, turn, handoff }) => stepOf(cast, turn, handoff).refusal,
  },
  {
    name: 'commands',
    why: 'a report that names a command that never ran is not compared with checkers',
    check: refusalOfCommands,
  },
  {
    name: 'result',
    why: 'criteria and checkers come after everything that makes a result untrue by itself',
    check: ({ cast, turn, task, handoff, seen }) => task && refusalOfResult(cast, turn, task, handoff, seen.checks),
  },
  {
    name: 'permission',
    why: 'a person is asked only about a report that is in order otherwise',
    check: ({ handoff, seen }) => refusalOfApproval(handoff, seen),
  },
  {
    name: 'open command',
    why: 'a turn that ends leaves none that could settle its command; one that goes on may still do so',
    check: ({ state, cast, turn, handoff }) => {
      const open = unfinished(handoff) || isGivingUp(cast, turn, handoff) ? null : begunIn(state, cast, turn);
      return open && outcomeUnknown(open.id, { turn: turn.id });
    },
  },
  {
    name: 'plan',
    why: 'assignments change the ledger, so all of them are checked last, against the ledger as it is',
    check: ({ plan }) => (plan.ok ? null : plan.refusal),
  },
];

/** The whole door, for people and tests. A decision walks its three parts as more becomes known. */
export const BEFORE_ACCEPT: readonly { readonly name: string; readonly why: string }[] = [
  ...AT_ANSWER,
  ...AT_VERIFICATION,
  ...AT_HANDOFF,
];

/** Whether the agent cannot go on, and no edge takes that for a call for rework. */
export function isGivingUp(cast: Cast, turn: Turn, { outcome }: Handoff): boolean {
  const { edges = [] } = cast.rules.graph.sockets[turn.socket] ?? {};
  return outcome === 'blocked' && !edges.some(({ when }) => when === 'not_satisfied');
}

/** The claim of its task has ended meanwhile, so the answer comes too late. */
function refusalOfLateAnswer({ id, fence }: Turn): Denied {
  const reason = `the claim under fence ${fence} is over; what came back is not taken`;
  return deny('CONCURRENCY_CONFLICT', reason, { turn: id, fence });
}

/** An agent that reports COMPLETE does not name a command as run that never ran under its approval. */
function refusalOfCommands({ state, cast, turn, handoff }: AcceptContext): Denied | null {
  const { outcome, payload } = handoff;
  if (!reportsStatus(cast, turn.socket) || statusOf(outcome) !== 'COMPLETE' || !isObject(payload)) return null;
  return refusalOfUnrun(notRunIn(state, cast, turn), payload);
}

/** A task that was assigned is done when its result is about it, claims every criterion, and what was checked agrees. */
function refusalOfResult(
  cast: Cast,
  turn: Turn,
  task: Task,
  { outcome, payload }: Handoff,
  checks: Seen['checks'],
): Denied | null {
  const { contract } = cast.rules.graph.sockets[turn.socket] ?? {};
  const isResult = dialectCan(cast.rules, contract, 'reportsTask') && isObject(payload);
  if (reportsStatus(cast, turn.socket) && outcome === 'done') return refusalOfVerified(task, checks);
  if (!isResult || task.criteria.length === 0) return null;
  const result: JsonObject = payload;
  const isStranger = result.task_id !== task.id || result.run_id !== cast.runId;
  // A script for a task that the cast makes itself was written before the run and the task had their ids.
  if (isStranger && !task.own) {
    const reason = `The result names task ${String(result.task_id)} of run ${String(result.run_id)}; it must be about ${task.id} of run ${cast.runId}, as the assignment says.`;
    return deny('SCHEMA_INVALID', reason, { task: task.id, run: cast.runId });
  }
  const elsewhere = task.own ? null : refusalOfOtherWorklog(task, result);
  if (elsewhere) return elsewhere;
  return outcome === 'done' && !isUnstated(task) ? refusalOfAcceptance(task, result, checks) : null;
}

/** Why what the agent wants permission for cannot be put before a person. */
function refusalOfApproval({ outcome }: Handoff, { approval }: Seen): Denied | null {
  if (outcome === 'approval' && approval?.refusal?.code === 'CONTRACT_VIOLATION') return approval.refusal;
  if (outcome !== 'approval' || approval) return null;
  const message = 'exact_content must be the command word for word, in a form in which it can be run';
  const issues = [{ path: 'approval_request.exact_content', message }];
  return deny('CONTRACT_VIOLATION', `the approval_request cannot be sealed: ${message}`, { issues });
}

export type Unfinished = 'continue' | 'ask' | 'approval';

export function unfinished({ outcome }: Handoff): Unfinished | null {
  return outcome === 'continue' || outcome === 'ask' || outcome === 'approval' ? outcome : null;
}

/**
 * A command that the agent of this turn was allowed to run, began, and has no known end. After acceptance no agent could
 * settle it.
 */
export function begunIn(state: State, cast: Cast, turn: Turn): Approval | null {
  if (!reportsStatus(cast, turn.socket)) return null;
  const own = Object.values(state.approvals).filter(({ from }) => from?.cast === cast.id && from.turn === turn.id);
  return own.find(isUnsettled) ?? null;
}

/** The status of the agent after this report, or why it may not report it. */
export function stepOf(
  cast: Cast,
  turn: Turn,
  { outcome }: Handoff,
): { readonly refusal: Denied | null; readonly progress: Progress } {
  if (!reportsStatus(cast, turn.socket) || isConversing(cast, turn)) return { refusal: null, progress: turn.progress };
  const { verdict, progress } = step(turn.progress, statusOf(outcome));
  return { refusal: verdict.allow ? null : verdict, progress };
}
