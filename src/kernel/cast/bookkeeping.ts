// A cast and a turn as they are when they begin.
import { dropDelivered } from '../approval/outcomes.ts';
import type { Fact } from '../fact.ts';
import type { Loop } from '../graph/config.ts';
import { NOT_STARTED, SET_TO_WORK, type UnfinishedLoop } from '../report/status.ts';
import { noteSpeaker } from '../trust/watch.ts';
import { committed } from './data.ts';
import type { CastFact } from './fact.ts';
import { aboutOf, noteAccepted, noteKey, noteUsage, withLine, withSpoken } from './notes.ts';
import { chosenMateria, isConversing } from './rules.ts';
import {
  type AgentNote,
  attemptName,
  type Cast,
  type Guard,
  type Session,
  type Turn,
  type Usage,
  walkOf,
} from './state.ts';

export function newCast(fact: Extract<CastFact, { kind: 'cast.started' }>, at: number): Cast {
  const { maxTokens, maxCost, maxDurationMs } = fact.rules.budget;
  return {
    id: fact.cast,
    runId: fact.runId ?? fact.cast,
    request: fact.request,
    loadout: fact.loadout,
    rules: fact.capabilities ? { ...fact.rules, capabilities: fact.capabilities } : fact.rules,
    script: fact.script,
    ...(fact.root === undefined ? {} : { root: fact.root }),
    ...(fact.quest === undefined ? {} : { quest: fact.quest }),
    status: 'running',
    code: null,
    reason: '',
    stand: null,
    data: fact.data,
    cursors: {},
    lists: {},
    lanes: {},
    visits: {},
    turns: {},
    turnsStarted: 0,
    turnsAccepted: 0,
    traversals: {},
    extended: {},
    guard: NO_ROUNDS,
    rework: {},
    heard: [],
    lastOutput: '',
    lastJson: null,
    lastIsJson: false,
    lastAbout: null,
    lastAgent: null,
    reports: [],
    scripted: {},
    usage: { input: 0, output: 0, cost: 0 },
    unpriced: 0,
    peaks: {},
    budget: { maxTokens, maxCost, maxDurationMs, warned: false },
    clock: { startedAt: at, runningSince: at, elapsedMs: 0 },
  };
}

export function newTurn(fact: Extract<CastFact, { kind: 'turn.started' }>): Turn {
  return {
    id: fact.turn,
    socket: fact.socket,
    visit: fact.visit,
    item: fact.item,
    lane: fact.lane ?? null,
    task: fact.task ?? null,
    fence: null,
    phase: 'owed',
    held: null,
    attempt: 0,
    repairs: 0,
    faults: 0,
    waits: 0,
    choice: 0,
    session: null,
    briefBytesMax: null,
    refusal: null,
    brief: null,
    script: fact.script ?? null,
    reserved: 0,
    startedAt: 0,
    ranAtStart: 0,
    handoff: null,
    seal: null,
    attestation: null,
    handoffId: null,
    excused: {},
    answered: null,
    progress: NOT_STARTED,
    exchange: [],
    asks: null,
    input: null,
  };
}

export function accepted(cast: Cast, fact: Extract<Fact, { kind: 'turn.accepted' }>): void {
  const turn = settleAttempt(cast, fact);
  if (turn)
    Object.assign(turn, { phase: 'accepted', handoff: fact.handoff, answered: null, refusal: null, brief: null });
  cast.turnsAccepted += 1;
  const walk = turn && walkOf(cast, turn);
  if (walk) {
    const isJson = typeof fact.handoff.payload !== 'string';
    walk.said = { output: fact.output, json: isJson ? fact.handoff.payload : (walk.said?.json ?? null), isJson };
  }
  if (turn) noteSpeaker(cast, turn);
  if (turn) keepSession(cast, turn, fact.agent?.session);
  if (turn) noteAccepted(cast, turn, fact);
  cast.lastOutput = fact.output;
  cast.lastIsJson = typeof fact.handoff.payload !== 'string';
  if (cast.lastIsJson) cast.lastJson = fact.handoff.payload;
  cast.lastAbout = aboutOf(turn?.item ?? null);
  cast.data = committed(cast.data, fact.changes, fact.context ?? null);
  if (turn && fact.context !== undefined) cast.heard = withLine(cast.heard, turn.item, fact.context);
}

/** What the agent remembers of its work, in case the work comes back to it. */
function keepSession(cast: Cast, turn: Turn, session: Session | undefined): void {
  const materia = chosenMateria(cast, turn);
  const key = noteKey(turn.socket, turn.item?.key ?? null);
  const { [key]: _before, ...others } = cast.sessions ?? {};
  if (session === undefined || materia.type !== 'agent') {
    if (_before) cast.sessions = others;
    return;
  }
  const kept = { session, model: materia.model, promptHash: turn.attestation?.promptHash ?? null };
  cast.sessions = { ...others, [key]: kept };
}

/** The agent is not finished. Its words stay with the turn, and its next report has repairs of its own. */
export function reported(cast: Cast, fact: Extract<CastFact, { kind: 'turn.reported' }>, at: number): void {
  const turn = settleAttempt(cast, fact);
  if (!turn) return;
  const { outcome, note, approval = null, until } = fact;
  const ends = until === undefined ? {} : { until };
  Object.assign(turn, { progress: fact.progress, repairs: 0, faults: 0, refusal: null, answered: null });
  delete turn.retries;
  // What it changed so far was looked at; what changes while a person is waited for is not the agent's.
  turn.seal = null;
  turn.session = fact.agent?.session ?? null;
  turn.exchange = withSpoken(turn.exchange, { from: 'agent', text: note }, isConversing(cast, turn));
  dropDelivered(turn, fact);
  turn.phase = outcome === 'continue' ? 'owed' : 'asked';
  turn.asks =
    outcome === 'continue'
      ? null
      : { what: outcome === 'ask' ? 'answer' : 'approval', question: note, since: at, approval, ...ends };
}

export function refused(cast: Cast, fact: Extract<CastFact, { kind: 'attempt.refused' }>): void {
  const turn = settleAttempt(cast, fact);
  cast.data = committed(cast.data, fact.changes ?? [], null);
  if (turn && fact.loop) goesOn(turn, fact, fact.loop);
  else if (turn && fact.repair) {
    Object.assign(turn, { phase: 'owed', repairs: turn.repairs + 1 });
    turn.refusal = { verdict: fact.verdict, raw: fact.output.slice(0, 1000) };
    turn.session = fact.agent?.session ?? null;
  } else if (turn) turn.phase = 'failed';
}

/** The agent goes on with its loop, as after an answer. */
function goesOn(
  turn: Turn,
  { agent }: Extract<CastFact, { kind: 'attempt.refused' }>,
  { round, said, told }: UnfinishedLoop,
): void {
  Object.assign(turn, { phase: 'owed', loops: round, refusal: null, answered: null, progress: SET_TO_WORK });
  turn.session = agent?.session ?? null;
  turn.exchange = withSpoken(withSpoken(turn.exchange, { from: 'agent', text: said }), { from: 'runtime', text: told });
}

/** What the agent did so far is kept, and so is its conversation. */
export function interrupted(cast: Cast, fact: Extract<CastFact, { kind: 'attempt.interrupted' }>): void {
  const turn = settleAttempt(cast, fact);
  if (!turn) return;
  turn.phase = 'owed';
  turn.session = fact.agent?.session ?? turn.session;
  turn.exchange = withSpoken(turn.exchange, { from: 'runtime', text: INTERRUPTED }, isConversing(cast, turn));
}

const INTERRUPTED =
  'You were interrupted, because a person has something to say. What you have done so far is kept: go on from there.';

/** What comes next is in the fact: another choice, a shorter brief, a new conversation, patience, or simply once more. */
export function failed(cast: Cast, fact: Extract<CastFact, { kind: 'attempt.failed' }>): void {
  const turn = settleAttempt(cast, fact);
  if (!turn) return;
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
  if (fact.tries !== undefined) turn.retries = (turn.retries ?? 0) + fact.tries - 1;
  const isOther = choice !== undefined || briefBytesMax !== undefined || forgetsSession || until !== undefined;
  if (!isOther) turn.faults += 1;
}

/** A turn that was stopped together with its cast has nothing more to tell of that attempt. */
export function stopped(cast: Cast, fact: Extract<CastFact, { kind: 'attempt.spent' }>): void {
  const turn = cast.turns[fact.turn];
  count(cast, turn, fact);
  cast.spent = [...(cast.spent ?? []), attemptName(fact.turn, fact.attempt)];
  if (turn?.attempt !== fact.attempt || cast.status === 'running') return;
  if (turn.phase !== 'running' && turn.phase !== 'verifying') return;
  Object.assign(turn, { phase: 'owed', reserved: 0, brief: null, answered: null });
}

type Settled = { readonly turn: number; readonly usage: Usage; readonly agent?: AgentNote };

/** An attempt gave a recorded outcome: its usage counts, its reservation ends, its scripted turn is used up. */
export function settleAttempt(cast: Cast, fact: Settled): Turn | undefined {
  const turn = cast.turns[fact.turn];
  if (!turn) return undefined;
  count(cast, turn, fact);
  if (turn.script) cast.scripted[turn.script.key] = (cast.scripted[turn.script.key] ?? 0) + 1;
  turn.reserved = 0;
  turn.script = null;
  return turn;
}

function count(cast: Cast, turn: Turn | undefined, { usage, agent }: Settled): void {
  if (agent?.unpriced) cast.unpriced += usage.input + usage.output;
  const { input, output, cost } = cast.usage;
  cast.usage = {
    ...{ input: input + usage.input, output: output + usage.output, cost: cost + usage.cost },
    ...(cast.usage.estimated || usage.estimated ? { estimated: true } : {}),
  };
  if (!turn) return;
  noteUsage(cast, turn, usage);
  const peak = cast.peaks[turn.socket] ?? { tokens: 0, cost: 0 };
  const tokens = Math.max(peak.tokens, usage.input + usage.output);
  if (tokens > 0 || usage.cost > 0) cast.peaks[turn.socket] = { tokens, cost: Math.max(peak.cost, usage.cost) };
}

/** No socket was started since the last finished item. */
export const NO_ROUNDS: Guard = { key: '', count: 0, path: [] };

/**
 * The guard after `socket` was started for the item `key` (empty outside a loop). The first item that is started counts
 * from nothing. From then on only a finished item clears the count: a detour to a socket outside the loop, or to another
 * list, would otherwise let a cycle run for ever.
 */
export function tracked(guard: Guard, key: string, socket: string, budgeted: boolean): Guard {
  if (guard.key === '' && key !== '') return { key, count: 0, path: [socket] };
  if (!guard.path.includes(socket)) return { ...guard, path: [...guard.path, socket] };
  return { ...guard, count: budgeted ? guard.count : guard.count + 1, path: [socket] };
}

/**
 * What a cast remembers of the items of its loops: how often each budgeted edge was taken, and the rework notes. Items are
 * known by their place in a list, so this goes when an item is finished or its list is replaced.
 */
export type ItemMemory = Pick<Cast, 'traversals' | 'extended' | 'rework' | 'sessions'>;

/** The counter of an edge for one item; outside loops there is one for the whole cast. */
export function edgeKey(from: string, to: string, item: string | null): string {
  return `${from}->${to}@${item ?? ''}`;
}

/** A finished item takes its counters and its notes with it. */
export function forgetItem(cast: ItemMemory, item: string): void {
  for (const counts of [cast.traversals, cast.extended]) {
    for (const key of Object.keys(counts)) if (key.endsWith(`@${item}`)) delete counts[key];
  }
  for (const kept of [cast.rework, cast.sessions ?? {}]) {
    for (const key of Object.keys(kept)) if (key.endsWith(`@${item}`)) delete kept[key];
  }
}

/** A new list makes the places in the old one meaningless. */
export function forgetItems(cast: ItemMemory, loop: Loop): void {
  for (const counts of [cast.traversals, cast.extended]) {
    for (const key of Object.keys(counts)) if (isInside(key, loop)) delete counts[key];
  }
  for (const kept of [cast.rework, cast.sessions ?? {}]) {
    for (const key of Object.keys(kept)) if (isInside(key, loop)) delete kept[key];
  }
}

export function remembersItems(cast: Cast, loop: Loop): boolean {
  return [...Object.keys(cast.traversals), ...Object.keys(cast.rework)].some((key) => isInside(key, loop));
}

/**
 * Whether a key belongs to an item of this loop. An edge out of the loop does not: it may lead back to the planner, and each
 * new plan would refill its budget.
 */
function isInside(key: string, loop: Loop): boolean {
  const at = key.lastIndexOf('@');
  const sockets = key.slice(0, at).split('->');
  return at < key.length - 1 && sockets.every((socket) => loop.sockets.includes(socket));
}
