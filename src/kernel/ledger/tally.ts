// The whole history, told for counting: the ledger with every run there ever was, and beside what the ledger refused what
// was refused inside casts: answers that broke their contract or a gate's rule, and starts that a gate stopped.
import { type Entry, type Fact, timeOf } from '../fact.ts';
import { applyLedger, openRun, planTasks } from './apply.ts';
import { isLedgerFact, type LedgerFact } from './fact.ts';
import { emptyLedger, type Ledger, runOf } from './state.ts';

export type Tally = {
  readonly ledger: Ledger;
  /** By run, when it was first heard of. */
  readonly began: Map<string, string>;
  /** By cast, the sockets whose output is a plan: a refused one is a refused packet. */
  readonly planners: Map<string, ReadonlySet<string>>;
  /** Turns whose output is a plan. */
  readonly plans: Set<string>;
  /** Turns that were not dispatched yet, or are to be dispatched again. */
  readonly owed: Set<string>;
  last: Fact | null;
};

export function newTally(): Tally {
  return {
    ledger: emptyLedger(),
    began: new Map(),
    planners: new Map(),
    plans: new Set(),
    owed: new Set(),
    last: null,
  };
}

/** Takes the next entry in. Entries come in the order of the log, from the first on. */
export function count(tally: Tally, entry: Pick<Entry, 'at' | 'clock' | 'fact'>): void {
  const { at, fact } = entry;
  const { ledger, began } = tally;
  if (isLedgerFact(fact)) applyLedger(ledger, fact, timeOf(entry));
  else countCast(tally, fact);
  const run = 'cast' in fact ? fact.cast : 'run' in fact ? fact.run : null;
  if (typeof run === 'string' && !began.has(run) && runOf(ledger, run)) began.set(run, at);
  tally.last = fact;
}

function countCast(tally: Tally, fact: Exclude<Fact, LedgerFact>): void {
  const { ledger, planners, plans, owed } = tally;
  switch (fact.kind) {
    case 'cast.started': {
      openRun(ledger, fact.cast, fact.runId ?? fact.cast);
      const { graph, materia } = fact.rules;
      const plansIn = Object.entries(graph.sockets).filter(
        ([, socket]) => socket.contract === 'operator' && materia[socket.materia]?.generator,
      );
      planners.set(fact.cast, new Set(plansIn.map(([id]) => id)));
      return;
    }
    case 'items.planned':
      if (fact.spec) planTasks(ledger, fact.cast, fact.tasks, fact.spec, fact.rows);
      return;
    case 'turn.started':
      owed.add(turnKey(fact));
      if (planners.get(fact.cast)?.has(fact.socket)) plans.add(turnKey(fact));
      return;
    case 'turn.reopened':
    case 'attempt.lost':
      owed.add(turnKey(fact));
      return;
    case 'attempt.started':
      owed.delete(turnKey(fact));
      return;
    case 'attempt.refused':
      refused(tally, fact.cast, fact.verdict.code);
      if (plans.has(turnKey(fact))) bump(tally, fact.cast, 'packetsRefused');
      return;
    case 'turn.held':
    case 'lanes.held':
      if (!isToldBefore(tally, fact)) refused(tally, fact.cast, fact.code);
      return;
    case 'cast.failed':
      // Whatever came after a dispatch was counted by itself: a refused answer above, and a fault is no refusal.
      if (fact.turn !== null && owed.has(turnKey({ cast: fact.cast, turn: fact.turn })))
        refused(tally, fact.cast, fact.code);
      return;
  }
}

function refused(tally: Tally, cast: string, code: string): void {
  const counts = runOf(tally.ledger, cast)?.counts;
  if (!counts) return;
  counts.denies[code] = (counts.denies[code] ?? 0) + 1;
  if (code === 'LOCK_CONFLICT') bump(tally, cast, 'conflicts');
}

function bump({ ledger }: Tally, cast: string, name: 'packetsRefused' | 'conflicts'): void {
  const counts = runOf(ledger, cast)?.counts;
  if (counts) counts[name] += 1;
}

/** The ledger refused the task, and the cast put the turn off because of that: one refusal, told twice in a row. */
function isToldBefore({ last }: Tally, { cast, code }: { readonly cast: string; readonly code: string }): boolean {
  return last?.kind === 'task.refused' && last.run === cast && last.code === code;
}

function turnKey({ cast, turn }: { readonly cast: string; readonly turn: number }): string {
  return `${cast}/${turn}`;
}
