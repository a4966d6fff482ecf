// The bookkeeping: what a fact does to the state. No rules and no failure; replay and the browser run it too.
// It updates the state in place, so that a fact costs the same in a long cast as in a short one.
import { newest } from './cast/cut.ts';
import { NO_ROUNDS, tracked } from './cast/guard.ts';
import { withLine, withoutList, withoutNoted } from './cast/heard.ts';
import { forgetItem, forgetItems, noteKey } from './cast/item-memory.ts';
import { REWORK_NOTES_MAX } from './cast/rework.ts';
import type { DataChange, Entry, Fact } from './fact.ts';
import { setPath } from './graph/path.ts';
import type { JsonObject } from './json.ts';
import type { Cast, State, Turn, Usage } from './state.ts';

/** Accumulated context is kept to its newest part, so that a cast's state does not grow with its length. */
export const CONTEXT_CHARS_MAX = 65_536;

export function apply(state: State, entry: Pick<Entry, 'at' | 'fact'>): State {
  const { fact } = entry;
  switch (fact.kind) {
    case 'workspace.opened':
    case 'snapshot.taken':
      return state;
    case 'cast.started':
      state.casts[fact.cast] = newCast(fact, Date.parse(entry.at));
      return state;
    default: {
      const cast = state.casts[fact.cast];
      if (cast) applyToCast(cast, fact, Date.parse(entry.at));
      return state;
    }
  }
}

type CastFact = Exclude<Fact, { kind: 'workspace.opened' | 'snapshot.taken' | 'cast.started' }>;

function applyToCast(cast: Cast, fact: CastFact, at: number): void {
  switch (fact.kind) {
    case 'turn.started':
      cast.turnsStarted = fact.turn;
      cast.visits[fact.socket] = fact.visit;
      cast.guard = tracked(cast.guard, fact.item?.key ?? '', fact.socket, fact.budgeted);
      cast.turns[fact.turn] = newTurn(fact);
      return;
    case 'attempt.started':
      update(cast, fact.turn, {
        phase: 'running',
        attempt: fact.attempt,
        brief: fact.brief,
        script: fact.script,
        reserved: fact.reserved,
        ...(fact.seal === undefined ? {} : { seal: fact.seal }),
      });
      return;
    case 'attempt.answered': {
      const { output, handoff, usage, truncated, scrubbed } = fact;
      update(cast, fact.turn, { phase: 'verifying', answered: { output, handoff, usage, truncated, scrubbed } });
      return;
    }
    case 'attempt.refused': {
      const turn = settle(cast, fact.turn, fact.usage);
      cast.data = committed(cast.data, fact.changes ?? [], null);
      if (turn && fact.repair) {
        Object.assign(turn, { phase: 'owed', repairs: turn.repairs + 1 });
        turn.refusal = { verdict: fact.verdict, raw: fact.output.slice(0, 1000) };
      } else if (turn) turn.phase = 'failed';
      return;
    }
    case 'attempt.failed': {
      const turn = settle(cast, fact.turn, fact.usage);
      if (turn) Object.assign(turn, { phase: fact.again ? 'owed' : 'failed', faults: turn.faults + 1 });
      return;
    }
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
        refusal: null,
        reserved: 0,
        brief: null,
        seal: null,
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
      if (fact.extends) cast.traversals[fact.extends.key] = (cast.traversals[fact.extends.key] ?? 0) - fact.extends.by;
      return;
    default:
      return unreachable(fact);
  }
}

function accepted(cast: Cast, fact: Extract<Fact, { kind: 'turn.accepted' }>): void {
  const turn = settle(cast, fact.turn, fact.usage);
  if (turn)
    Object.assign(turn, { phase: 'accepted', handoff: fact.handoff, answered: null, refusal: null, brief: null });
  cast.turnsAccepted += 1;
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

function newCast(fact: Extract<Fact, { kind: 'cast.started' }>, at: number): Cast {
  const { maxTokens, maxCost, maxDurationMs } = fact.rules.budget;
  return {
    id: fact.cast,
    request: fact.request,
    loadout: fact.loadout,
    rules: fact.rules,
    script: fact.script,
    status: 'running',
    code: null,
    reason: '',
    stand: null,
    data: fact.data,
    cursors: {},
    visits: {},
    turns: {},
    turnsStarted: 0,
    turnsAccepted: 0,
    traversals: {},
    guard: NO_ROUNDS,
    rework: {},
    heard: [],
    lastOutput: '',
    lastJson: null,
    lastIsJson: false,
    scripted: {},
    usage: { input: 0, output: 0, cost: 0 },
    peaks: {},
    budget: { maxTokens, maxCost, maxDurationMs, warned: false },
    clock: { startedAt: at, runningSince: at, elapsedMs: 0 },
  };
}

function newTurn(fact: Extract<Fact, { kind: 'turn.started' }>): Turn {
  return {
    id: fact.turn,
    socket: fact.socket,
    visit: fact.visit,
    item: fact.item,
    phase: 'owed',
    attempt: 0,
    repairs: 0,
    faults: 0,
    refusal: null,
    brief: null,
    script: null,
    reserved: 0,
    handoff: null,
    seal: null,
    answered: null,
  };
}

function update(cast: Cast, id: number, values: Partial<Turn>): void {
  const turn = cast.turns[id];
  if (turn) Object.assign(turn, values);
}

/** An attempt gave a recorded outcome: its usage counts, its reservation ends, its scripted turn is used up. */
function settle(cast: Cast, id: number, usage: Usage): Turn | undefined {
  const turn = cast.turns[id];
  if (!turn) return undefined;
  const { input, output, cost } = cast.usage;
  cast.usage = { input: input + usage.input, output: output + usage.output, cost: cost + usage.cost };
  const tokens = usage.input + usage.output;
  if (tokens > (cast.peaks[turn.socket] ?? 0)) cast.peaks[turn.socket] = tokens;
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
