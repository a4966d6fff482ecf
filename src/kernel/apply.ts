// What each fact changes in the state, in place, so a fact costs the same in a long cast as in a short one. There are no rules
// here and nothing can fail: replay and the browser run it too.
import { noteOutcomes, noteUndelivered } from './approval/outcomes.ts';
import { isApprovalFact } from './approval/request.ts';
import { applyApproval } from './approval/state.ts';
import { type ByKind, rowFor } from './by-kind.ts';
import { applyToCast, countTime } from './cast/apply.ts';
import { newCast } from './cast/bookkeeping.ts';
import type { CastFact, Touched } from './cast/fact.ts';
import { extended } from './cast/item.ts';
import type { Usage } from './cast/state.ts';
import { type Entry, type Fact, type SinkFact, timeOf, type WorkspaceFact } from './fact.ts';
import { bystanderAt } from './graph/route.ts';
import { applyKnowledge, isKnowledgeFact } from './knowledge/state.ts';
import { applyLedger, openRun, planTasks } from './ledger/apply.ts';
import { isLedgerFact } from './ledger/fact.ts';
import { runOf } from './ledger/state.ts';
import { applyQuest, isQuestFact } from './quest/state.ts';
import type { State } from './state.ts';
import { applyTrust, isTrustFact } from './trust/state.ts';

type Row = (state: State, fact: never, at: number, clock: string) => void;

/**
 * What a fact changes beyond the part of the state that its first word names. An attempt that used tokens adds them to the
 * day when its outcome is recorded; a verified turn says what changed in the folder while the others ran.
 */
const BEYOND: { readonly [kind: string]: readonly Row[] | undefined } = {
  'turn.accepted': [attributeChange, recordUsage],
  'turn.reported': [attributeChange, recordUsage],
  'turn.blocked': [attributeChange, recordUsage],
  'attempt.refused': [attributeChange, recordUsage],
  'attempt.failed': [recordUsage],
  'attempt.interrupted': [recordUsage],
  'attempt.spent': [recordUsage],
} satisfies { readonly [K in CastFact['kind']]?: readonly Row[] };

/** What a fact that is about a workspace or about several parts of the state changes. */
const ACROSS: ByKind<Shared, [state: State], [at: number]> = {
  'workspace.opened': () => {},
  'snapshot.taken': () => {},
  'blob.erased': () => {},
  'sink.stalled': () => {},
  'sink.recovered': () => {},
  'sink.skipped': () => {},
  'cast.started': (state, fact, at) => {
    state.casts[fact.cast] = newCast(fact, at);
    openRun(state.ledger, fact.cast, fact.runId ?? fact.cast);
  },
  'items.planned': (state, fact) => {
    const cast = state.casts[fact.cast];
    if (cast && fact.cursor !== null) cast.lists[fact.cursor] = extended(cast.lists[fact.cursor], fact.tasks);
    if (cast && fact.spec) planTasks(state.ledger, fact.cast, fact.tasks, fact.spec, fact.rows);
  },
  'run.named': (state, fact) => {
    const [cast, run] = [state.casts[fact.cast], runOf(state.ledger, fact.cast)];
    if (cast && run) cast.runId = run.runId = fact.runId;
  },
};

type Shared = Extract<Fact, { kind: 'cast.started' | 'items.planned' | 'run.named' }> | WorkspaceFact | SinkFact;

function isShared(fact: Fact): fact is Shared {
  return Object.hasOwn(ACROSS, fact.kind);
}

/** `at` is the time of the entry, where it is known as a number already. */
export function apply(state: State, entry: Pick<Entry, 'at' | 'clock' | 'ranMs' | 'fact'>, at = timeOf(entry)): State {
  const { fact, ranMs } = entry;
  if (ranMs !== undefined && 'cast' in fact) countTime(state.casts[fact.cast ?? ''], ranMs, at);
  for (const row of Object.hasOwn(BEYOND, fact.kind) ? (BEYOND[fact.kind] ?? []) : [])
    row(state, fact as never, at, entry.clock ?? entry.at);
  if (isShared(fact)) rowFor(ACROSS, fact)?.(state, fact, at);
  else if (isLedgerFact(fact)) applyLedger(state.ledger, fact, at);
  else if (isTrustFact(fact)) applyTrust(state.trust, fact, at);
  else if (isApprovalFact(fact)) {
    noteUndelivered(state, fact);
    noteOutcomes(state, fact);
    applyApproval(state.approvals, fact, at);
  } else if (isKnowledgeFact(fact)) applyKnowledge(state.knowledge, fact, at);
  else if (isQuestFact(fact)) applyQuest(state.quests, fact, at);
  else {
    const cast = state.casts[fact.cast];
    if (cast) applyToCast(cast, fact, at);
  }
  return state;
}

function recordUsage({ day }: State, { usage }: { readonly usage: Usage }, _at: number, clock: string): void {
  const date = clock.slice(0, 10);
  if (date !== day.date) Object.assign(day, { date, tokens: 0, cost: 0 });
  day.tokens += usage.input + usage.output;
  day.cost += usage.cost;
}

type Verified = { readonly cast: string; readonly turn: number; readonly touched?: Touched };

/**
 * What one turn changed is not held against the other turns that are under way in the same folder. A read-only turn in a
 * shared folder only observed the change. It does not prove who made it.
 */
function attributeChange(state: State, { cast, turn, touched }: Verified): void {
  if (!touched) return;
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
