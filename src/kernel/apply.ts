// The bookkeeping: what a fact does to the state. No rules and no failure; replay and the browser run it too.
// It updates the state in place, so that a fact costs the same in a long cast as in a short one.
import { newest } from './cast/cut.ts';
import { NO_ROUNDS, tracked } from './cast/guard.ts';
import { withLine, withoutList, withoutNoted } from './cast/heard.ts';
import { forgetItem, forgetItems, noteKey } from './cast/item-memory.ts';
import { newCast, newTurn } from './cast/new-cast.ts';
import { REWORK_NOTES_MAX } from './cast/rework.ts';
import { extended } from './cast/task-list.ts';
import type { AgentNote, CastFact, DataChange, Entry, Fact } from './fact.ts';
import { setPath } from './graph/path.ts';
import type { JsonObject } from './json.ts';
import { applyLedger, openRun, planTasks } from './ledger/apply.ts';
import { isLedgerFact } from './ledger/fact.ts';
import { runOf } from './ledger/state.ts';
import { type Cast, type Day, type State, type Turn, type Usage, walkOf } from './state.ts';
import { applyTrust } from './trust/apply.ts';
import { isTrustFact } from './trust/fact.ts';
import { noteSpeaker } from './trust/speaker.ts';

/** Accumulated context is kept to its newest part, so that a cast's state does not grow with its length. */
export const CONTEXT_CHARS_MAX = 65_536;

export function apply(state: State, entry: Pick<Entry, 'at' | 'fact'>): State {
  const { fact } = entry;
  switch (fact.kind) {
    case 'workspace.opened':
    case 'snapshot.taken':
    case 'blob.erased':
      return state;
    case 'cast.started':
      state.casts[fact.cast] = newCast(fact, Date.parse(entry.at));
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
      const at = Date.parse(entry.at);
      if (isVerified(fact) && fact.touched) excuse(state, fact, fact.touched);
      if (isOutcome(fact)) spend(state.day, entry.at, fact.usage);
      if (isLedgerFact(fact)) applyLedger(state.ledger, fact, at);
      else if (isTrustFact(fact)) applyTrust(state.trust, fact, at);
      else {
        const cast = state.casts[fact.cast];
        if (cast) applyToCast(cast, fact, at);
      }
      return state;
    }
  }
}

const VERIFIED = ['turn.accepted', 'turn.blocked', 'attempt.refused'] as const;

function isVerified(fact: Fact): fact is Extract<CastFact, { kind: (typeof VERIFIED)[number] }> {
  return VERIFIED.some((kind) => kind === fact.kind);
}

const OUTCOMES = ['turn.accepted', 'turn.blocked', 'attempt.refused', 'attempt.failed'] as const;

type Outcome = Extract<CastFact, { kind: (typeof OUTCOMES)[number] }>;

/** What an attempt used counts once: when its outcome is recorded, and not while it is verified. */
function isOutcome(fact: Fact): fact is Outcome {
  return OUTCOMES.some((kind) => kind === fact.kind);
}

function spend(day: Day, at: string, { input, output, cost }: Usage): void {
  const date = at.slice(0, 10);
  if (date !== day.date) Object.assign(day, { date, tokens: 0, cost: 0 });
  day.tokens += input + output;
  day.cost += cost;
}

/** What a turn was seen to change is held against no other turn that is under way in the same folder. */
function excuse(state: State, { cast, turn }: { cast: string; turn: number }, touched: Turn['excused']): void {
  const root = state.casts[cast]?.root;
  for (const other of Object.values(state.casts)) {
    if (other.root !== root) continue;
    for (const each of Object.values(other.turns)) {
      if (each.seal !== null && !(other.id === cast && each.id === turn)) Object.assign(each.excused, touched);
    }
  }
}

function applyToCast(
  cast: Cast,
  fact: Exclude<CastFact, { kind: 'cast.started' | 'items.planned' | 'run.named' }>,
  at: number,
): void {
  switch (fact.kind) {
    case 'turn.started':
      cast.turnsStarted = fact.turn;
      cast.visits[fact.socket] = fact.visit;
      cast.turns[fact.turn] = newTurn(fact);
      if (fact.lane !== undefined && cast.lanes[fact.lane]) walked(cast, fact.lane, fact);
      else cast.guard = tracked(cast.guard, fact.item?.key ?? '', fact.socket, fact.budgeted);
      return;
    case 'turn.held': {
      const { code, reason, until } = fact;
      update(cast, fact.turn, { phase: 'held', held: { code, reason, until } });
      return;
    }
    case 'turn.freed':
      update(cast, fact.turn, { phase: 'owed', held: null });
      return;
    case 'turn.blocked': {
      const turn = settle(cast, fact);
      if (turn) Object.assign(turn, { phase: 'blocked', brief: null, answered: null });
      return;
    }
    case 'lanes.opened':
      cast.lanes[fact.loop] = { entry: fact.entry, from: cast.lastAgent, held: null, walks: {} };
      return;
    case 'lanes.held': {
      const lanes = cast.lanes[fact.loop];
      if (lanes) lanes.held = { code: fact.code, reason: fact.reason, until: fact.until };
      return;
    }
    case 'lane.ended':
      leaveLane(cast, fact.turn);
      if (fact.item !== null) forgetItem(cast, fact.item);
      delete cast.turns[fact.turn];
      return;
    case 'attempt.started':
      update(cast, fact.turn, {
        phase: 'running',
        attempt: fact.attempt,
        brief: fact.brief,
        script: fact.script,
        reserved: fact.reserved,
        startedAt: at,
        attestation: fact.attestation ?? null,
        handoffId: fact.envelope?.handoff_id ?? null,
        ...(fact.seal === undefined ? {} : { seal: fact.seal }),
        ...(fact.fence === undefined ? {} : { fence: fact.fence }),
      });
      return;
    case 'attempt.answered': {
      const { output, handoff, usage, truncated, scrubbed, agent } = fact;
      const answered = { output, handoff, usage, truncated, scrubbed, ...(agent ? { agent } : {}) };
      update(cast, fact.turn, { phase: 'verifying', answered });
      return;
    }
    case 'attempt.refused': {
      const turn = settle(cast, fact);
      cast.data = committed(cast.data, fact.changes ?? [], null);
      if (turn && fact.repair) {
        Object.assign(turn, { phase: 'owed', repairs: turn.repairs + 1 });
        turn.refusal = { verdict: fact.verdict, raw: fact.output.slice(0, 1000) };
        turn.session = fact.agent?.session ?? null;
      } else if (turn) turn.phase = 'failed';
      return;
    }
    case 'attempt.failed': {
      const turn = settle(cast, fact);
      if (turn) failedAttempt(turn, fact);
      return;
    }
    case 'turn.asked':
      update(cast, fact.turn, { phase: 'asked' });
      return;
    case 'attempt.lost':
      update(cast, fact.turn, { phase: 'owed', reserved: 0, brief: null });
      return;
    case 'turn.unknown':
      update(cast, fact.turn, { phase: 'unknown', reserved: 0 });
      return;
    case 'turn.decided':
      update(cast, fact.turn, { phase: fact.choice === 'rerun' ? 'owed' : 'running', brief: null });
      return;
    case 'turn.accepted':
      accepted(cast, fact);
      return;
    case 'turn.reopened':
      update(cast, fact.turn, {
        phase: 'owed',
        repairs: 0,
        faults: 0,
        waits: 0,
        choice: 0,
        session: null,
        briefBytesMax: null,
        refusal: null,
        reserved: 0,
        brief: null,
        ...(fact.sealed ? {} : { seal: null }),
        held: null,
      });
      return;
    case 'turn.dropped':
      delete cast.turns[fact.turn];
      return;
    case 'cursor.advanced':
      cast.cursors[fact.cursor] = fact.to;
      if (fact.item !== null) cast.guard = NO_ROUNDS;
      return;
    case 'cursor.reset':
      cast.cursors[fact.cursor] = 0;
      delete cast.lists[fact.cursor];
      cast.heard = withoutList(cast.heard, fact.cursor);
      for (const loop of cast.rules.graph.loops) if (loop.id === fact.loop) forgetItems(cast, loop);
      return;
    case 'edge.taken':
      if (fact.counts) cast.traversals[fact.counts] = (cast.traversals[fact.counts] ?? 0) + 1;
      if (fact.settles) forgetItem(cast, fact.settles);
      delete cast.turns[fact.turn];
      return;
    case 'exit.taken':
      if (fact.settles) forgetItem(cast, fact.settles);
      if (fact.loop !== null) delete cast.lanes[fact.loop];
      if (fact.turn !== null) delete cast.turns[fact.turn];
      return;
    case 'rework.noted': {
      const key = noteKey(fact.note.target, fact.note.item);
      cast.rework[key] = [...(cast.rework[key] ?? []), fact.note].slice(-REWORK_NOTES_MAX);
      cast.heard = withoutNoted(cast.heard, fact.note);
      return;
    }
    case 'rework.cleared':
      for (const [key, notes] of Object.entries(cast.rework)) {
        const kept = notes.filter((note) => note.from !== fact.from || note.item !== fact.item);
        if (kept.length > 0) cast.rework[key] = kept;
        else delete cast.rework[key];
      }
      return;
    case 'budget.warned':
      cast.budget.warned = true;
      return;
    case 'budget.changed':
      cast.budget = {
        maxTokens: fact.maxTokens,
        maxCost: fact.maxCost,
        maxDurationMs: fact.maxDurationMs,
        warned: cast.budget.warned,
      };
      return;
    case 'cast.completed':
      ended(cast, 'completed', null, 'completed', at);
      return;
    case 'cast.failed':
      ended(cast, 'failed', fact.code, fact.reason, at);
      cast.stand = fact.stand;
      return;
    case 'cast.aborted':
      ended(cast, 'aborted', 'ABORTED', fact.reason, at);
      return;
    case 'cast.waiting':
      ended(cast, 'waiting', fact.code, fact.reason, at);
      return;
    case 'cast.paused':
      ended(cast, 'paused', null, fact.reason, at);
      for (const turn of Object.values(cast.turns)) {
        if (turn.phase === 'running') Object.assign(turn, { phase: 'owed', reserved: 0, brief: null });
      }
      return;
    case 'cast.resumed':
      running(cast, at);
      return;
    case 'cast.recast':
      running(cast, at);
      cast.stand = null;
      cast.guard = NO_ROUNDS;
      if (fact.extends) cast.extended[fact.extends.key] = (cast.extended[fact.extends.key] ?? 0) + fact.extends.by;
      return;
    default:
      return unreachable(fact);
  }
}

function accepted(cast: Cast, fact: Extract<Fact, { kind: 'turn.accepted' }>): void {
  const turn = settle(cast, fact);
  if (turn)
    Object.assign(turn, { phase: 'accepted', handoff: fact.handoff, answered: null, refusal: null, brief: null });
  cast.turnsAccepted += 1;
  const walk = turn && walkOf(cast, turn);
  if (walk) {
    const isJson = typeof fact.handoff.payload !== 'string';
    walk.said = { output: fact.output, json: isJson ? fact.handoff.payload : (walk.said?.json ?? null), isJson };
  }
  if (turn) noteSpeaker(cast, turn);
  cast.lastOutput = fact.output;
  cast.lastIsJson = typeof fact.handoff.payload !== 'string';
  if (cast.lastIsJson) cast.lastJson = fact.handoff.payload;
  cast.data = committed(cast.data, fact.changes, fact.context ?? null);
  if (turn && fact.context !== undefined) cast.heard = withLine(cast.heard, turn.item, fact.context);
}

/** The data after a commit: a utility's patch, then the line of context, then everything that is set by path. */
export function committed(data: JsonObject, changes: readonly DataChange[], line: string | null): JsonObject {
  let after = data;
  for (const change of changes) if ('key' in change) after = { ...after, [change.key]: change.value };
  if (line !== null) {
    const before = typeof after.context === 'string' && after.context !== '' ? `${after.context}\n\n` : '';
    after = { ...after, context: newest(before + line, CONTEXT_CHARS_MAX) };
  }
  for (const change of changes) if ('path' in change) after = setPath(after, change.path, change.value);
  return after;
}

/** What comes next is in the fact: another choice, a shorter brief, a new conversation, patience, or simply once more. */
function failedAttempt(turn: Turn, fact: Extract<CastFact, { kind: 'attempt.failed' }>): void {
  const { again, choice, briefBytesMax, forgetsSession, until } = fact;
  turn.phase = again ? 'owed' : 'failed';
  if (forgetsSession) turn.session = null;
  if (briefBytesMax !== undefined) turn.briefBytesMax = briefBytesMax;
  if (choice !== undefined) turn.choice = choice;
  if (until !== undefined) {
    turn.waits += 1;
    turn.phase = 'held';
    turn.held = { code: fact.cause ?? 'AGENT_FAILED', reason: fact.reason, until };
  }
  const isOther = choice !== undefined || briefBytesMax !== undefined || forgetsSession || until !== undefined;
  if (!isOther) turn.faults += 1;
}

/** An item that walks beside others counts its rounds for itself. */
function walked(cast: Cast, lane: string, fact: Extract<CastFact, { kind: 'turn.started' }>): void {
  const lanes = cast.lanes[lane];
  const key = fact.item?.key ?? '';
  if (!lanes) return;
  const before = lanes.walks[key];
  const guard = tracked(before?.guard ?? NO_ROUNDS, key, fact.socket, fact.budgeted);
  lanes.walks[key] = { guard, said: before?.said ?? null, agent: before?.agent ?? null };
  lanes.held = null;
}

function leaveLane(cast: Cast, id: number): void {
  const turn = cast.turns[id];
  if (turn?.lane && turn.item) delete cast.lanes[turn.lane]?.walks[turn.item.key];
}

function update(cast: Cast, id: number, values: Partial<Turn>): void {
  const turn = cast.turns[id];
  if (turn) Object.assign(turn, values);
}

type Settled = { readonly turn: number; readonly usage: Usage; readonly agent?: AgentNote };

/** An attempt gave a recorded outcome: its usage counts, its reservation ends, its scripted turn is used up. */
function settle(cast: Cast, { turn: id, usage, agent }: Settled): Turn | undefined {
  const turn = cast.turns[id];
  if (!turn) return undefined;
  if (agent?.unpriced) cast.unpriced += usage.input + usage.output;
  const { input, output, cost } = cast.usage;
  cast.usage = { input: input + usage.input, output: output + usage.output, cost: cost + usage.cost };
  const peak = cast.peaks[turn.socket] ?? { tokens: 0, cost: 0 };
  const tokens = Math.max(peak.tokens, usage.input + usage.output);
  if (tokens > 0 || usage.cost > 0) cast.peaks[turn.socket] = { tokens, cost: Math.max(peak.cost, usage.cost) };
  if (turn.script) cast.scripted[turn.script.key] = (cast.scripted[turn.script.key] ?? 0) + 1;
  turn.reserved = 0;
  turn.script = null;
  return turn;
}

function ended(cast: Cast, status: Cast['status'], code: string | null, reason: string, at: number): void {
  const { clock } = cast;
  if (clock.runningSince !== null) clock.elapsedMs += Math.max(0, at - clock.runningSince);
  clock.runningSince = null;
  Object.assign(cast, { status, code, reason });
}

function running(cast: Cast, at: number): void {
  cast.clock.runningSince = at;
  Object.assign(cast, { status: 'running', code: null, reason: '' });
}

function unreachable(fact: never): void {
  void fact;
}
