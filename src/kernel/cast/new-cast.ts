// A cast and a turn as they are when they begin.
import type { CastFact } from '../fact.ts';
import { NOT_STARTED } from '../report/status.ts';
import type { Cast, Turn } from '../state.ts';
import { NO_ROUNDS } from './guard.ts';

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
