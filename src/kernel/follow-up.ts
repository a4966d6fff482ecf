// What follows from a fact, in the same decision. A reaction may write facts of its own, and they are followed up as well.
import { withdrawOver } from './approval/settle.ts';
import { takeDecisions } from './cast/asked.ts';
import { recordUntaken } from './cast/budget.ts';
import { startPostponed } from './cast/dispatch.ts';
import { noticeMoves } from './cast/stop.ts';
import { blockAll, cancelBlocked } from './cast/task.ts';
import type { Fact } from './fact.ts';
import { knownCode } from './ledger/move.ts';
import type { Pen } from './pen.ts';

/** Each reaction takes the facts that call for it. Reactions run in this order. */
const REACTIONS = {
  /** A cast that ended leaves no task in progress. */
  releaseTasks,
  /** An approval ends with the turn and the cast that asked for it. */
  withdrawApprovals: withdrawOver,
  /** The agent that waits for an approval hears what was decided. */
  tellDecision: takeDecisions,
  /** A running cast follows what a person did to its tasks. */
  noticeMove: noticeMoves,
  /** What was postponed starts when paths or the workspace are free again. */
  startPostponed: startPostponed,
} as const;

type Reaction = keyof typeof REACTIONS;

/** A fact that is not named here has no consequences. */
const FOLLOWS: { readonly [kind: string]: readonly Reaction[] | undefined } = {
  'cast.completed': ['releaseTasks', 'withdrawApprovals'],
  'cast.failed': ['releaseTasks', 'withdrawApprovals'],
  'cast.aborted': ['releaseTasks', 'withdrawApprovals'],
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
export function followUp(pen: Pen): void {
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
