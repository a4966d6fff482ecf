// The bookkeeping: what a fact does to the state. No rules and no failure; replay and the browser run it too.
// It updates the state in place, so that a fact costs the same in a long cast as in a short one.
import { noteOutcomes, noteUndelivered } from './approval/outcomes.ts';
import { isApprovalFact } from './approval/request.ts';
import { applyApproval } from './approval/state.ts';
import { applyToCast, countTime } from './cast/apply.ts';
import { newCast } from './cast/bookkeeping.ts';
import type { CastFact } from './cast/fact.ts';
import { extended } from './cast/item.ts';
import type { Turn, Usage } from './cast/state.ts';
import { type Entry, type Fact, timeOf } from './fact.ts';
import { bystanderAt } from './graph/socket-rules.ts';
import { applyKnowledge, isKnowledgeFact } from './knowledge/state.ts';
import { applyLedger, openRun, planTasks } from './ledger/apply.ts';
import { isLedgerFact } from './ledger/fact.ts';
import { runOf } from './ledger/state.ts';
import type { Day, State } from './state.ts';
import { applyTrust } from './trust/apply.ts';
import { isTrustFact } from './trust/fact.ts';

/** `at` is the time of the entry, where it is known as a number already. */
export function apply(state: State, entry: Pick<Entry, 'at' | 'clock' | 'ranMs' | 'fact'>, at = timeOf(entry)): State {
  const { fact, ranMs } = entry;
  if (ranMs !== undefined && 'cast' in fact) countTime(state.casts[fact.cast ?? ''], ranMs, at);
  switch (fact.kind) {
    case 'workspace.opened':
    case 'snapshot.taken':
    case 'blob.erased':
      return state;
    case 'cast.started':
      state.casts[fact.cast] = newCast(fact, at);
      openRun(state.ledger, fact.cast, fact.runId ?? fact.cast);
      return state;
    case 'items.planned': {
      const cast = state.casts[fact.cast];
      if (cast && fact.cursor !== null) {
        cast.lists[fact.cursor] = extended(cast.lists[fact.cursor], fact.tasks);
      }
      if (cast && fact.spec) planTasks(state.ledger, fact.cast, fact.tasks, fact.spec, fact.rows);
      return state;
    }
    case 'run.named': {
      const [cast, run] = [state.casts[fact.cast], runOf(state.ledger, fact.cast)];
      if (cast && run) cast.runId = run.runId = fact.runId;
      return state;
    }
    default: {
      if (isVerified(fact) && fact.touched) excuse(state, fact, fact.touched);
      if (isOutcome(fact)) spend(state.day, entry.clock ?? entry.at, fact.usage);
      if (isLedgerFact(fact)) applyLedger(state.ledger, fact, at);
      else if (isTrustFact(fact)) applyTrust(state.trust, fact, at);
      else if (isApprovalFact(fact)) {
        noteUndelivered(state, fact);
        noteOutcomes(state, fact);
        applyApproval(state.approvals, fact, at);
      } else if (isKnowledgeFact(fact)) applyKnowledge(state.knowledge, fact, at);
      else {
        const cast = state.casts[fact.cast];
        if (cast) applyToCast(cast, fact, at);
      }
      return state;
    }
  }
}

const VERIFIED = ['turn.accepted', 'turn.reported', 'turn.blocked', 'attempt.refused'] as const;
const VERIFIED_KINDS: ReadonlySet<string> = new Set(VERIFIED);

function isVerified(fact: Fact): fact is Extract<CastFact, { kind: (typeof VERIFIED)[number] }> {
  return VERIFIED_KINDS.has(fact.kind);
}

const OUTCOMES = [
  ...(['turn.accepted', 'turn.reported', 'turn.blocked', 'attempt.refused', 'attempt.failed'] as const),
  'attempt.spent',
] as const;

const OUTCOME_KINDS: ReadonlySet<string> = new Set(OUTCOMES);

type Outcome = Extract<CastFact, { kind: (typeof OUTCOMES)[number] }>;

/** What an attempt used counts once: when its outcome is recorded, and not while it is verified. */
function isOutcome(fact: Fact): fact is Outcome {
  return OUTCOME_KINDS.has(fact.kind);
}

function spend(day: Day, at: string, { input, output, cost }: Usage): void {
  const date = at.slice(0, 10);
  if (date !== day.date) Object.assign(day, { date, tokens: 0, cost: 0 });
  day.tokens += input + output;
  day.cost += cost;
}

/**
 * What a turn was seen to change is held against no other turn that is under way in the same folder. One that may change
 * nothing where anybody writes has only seen it change, and clears nobody.
 */
function excuse(state: State, { cast, turn }: { cast: string; turn: number }, touched: Turn['excused']): void {
  const own = state.casts[cast];
  const root = own?.root;
  if (own && bystanderAt(own.rules, root, own.turns[turn]?.socket ?? '') === 'reader') return;
  for (const other of Object.values(state.casts)) {
    if (other.root !== root) continue;
    for (const each of Object.values(other.turns)) {
      if (each.seal !== null && !(other.id === cast && each.id === turn)) Object.assign(each.excused, touched);
    }
  }
}
