// A cast as people and scripts see it, told from its facts: where it went, what it holds, what it used.
import type { Entry } from '../kernel/fact.ts';
import type { Json } from '../kernel/json.ts';
import type { Cast } from '../kernel/state.ts';
import type { Head } from './ports.ts';

export type PathStep = { readonly socket: string; readonly visit: number; readonly item: string | null };

export type TurnView = PathStep & {
  readonly turn: number;
  readonly attempt: number;
  readonly brief: string;
  readonly output: string | null;
  readonly verdict: Json;
};

export type CastView = {
  readonly cast: string;
  readonly status: Cast['status'];
  readonly code: string | null;
  readonly reason: string;
  readonly loadout: string;
  readonly request: string;
  readonly path: readonly PathStep[];
  readonly data: Json;
  readonly usage: { readonly input: number; readonly output: number; readonly tokens: number; readonly cost: number };
  readonly accepted: number;
  readonly elapsedMs: number;
  readonly log: { readonly head: number; readonly hash: string };
  readonly turns?: readonly TurnView[];
};

export function viewOf(cast: Cast, entries: readonly Entry[], head: Head, withTurns: boolean): CastView {
  const { input, output, cost } = cast.usage;
  return {
    cast: cast.id,
    status: cast.status,
    code: cast.code,
    reason: cast.reason,
    loadout: cast.loadout,
    request: cast.request,
    path: pathOf(entries),
    data: cast.data,
    usage: { input, output, tokens: input + output, cost },
    accepted: cast.turnsAccepted,
    elapsedMs: cast.clock.elapsedMs,
    log: { head: head.seq, hash: head.hash },
    ...(withTurns ? { turns: turnsOf(entries) } : {}),
  };
}

/** One step for each visit that was really dispatched; a start that a gate refused is none. */
export function pathOf(entries: readonly Entry[]): PathStep[] {
  const opened = new Map<number, PathStep>();
  const path: PathStep[] = [];
  for (const { fact } of entries) {
    if (fact.kind === 'turn.started')
      opened.set(fact.turn, { socket: fact.socket, visit: fact.visit, item: fact.item?.key ?? null });
    if (fact.kind !== 'attempt.started') continue;
    const step = opened.get(fact.turn);
    if (step) path.push(step);
    opened.delete(fact.turn);
  }
  return path;
}

export function turnsOf(entries: readonly Entry[]): TurnView[] {
  const opened = new Map<number, PathStep>();
  const turns = new Map<string, TurnView>();
  for (const { fact } of entries) {
    if (fact.kind === 'turn.started')
      opened.set(fact.turn, { socket: fact.socket, visit: fact.visit, item: fact.item?.key ?? null });
    if (!('attempt' in fact)) continue;
    const key = `${fact.turn}.${fact.attempt}`;
    const step = opened.get(fact.turn);
    if (fact.kind === 'attempt.started' && step) {
      turns.set(key, {
        ...step,
        turn: fact.turn,
        attempt: fact.attempt,
        brief: fact.brief,
        output: null,
        verdict: null,
      });
    }
    const turn = turns.get(key);
    if (turn) turns.set(key, { ...turn, ...endOf(fact) });
  }
  return [...turns.values()];
}

function endOf(fact: Entry['fact']): { output?: string; verdict?: Json } {
  switch (fact.kind) {
    case 'turn.accepted':
      return { output: fact.output, verdict: { allow: true, code: 'OK', reason: 'accepted', details: {} } };
    case 'attempt.refused':
      return { output: fact.output, verdict: fact.verdict };
    case 'attempt.failed':
      return { verdict: { allow: false, code: fact.code, reason: fact.reason, details: { fault: fact.fault } } };
    case 'attempt.lost':
    case 'turn.unknown':
      return { verdict: { allow: false, code: 'OUTCOME_UNKNOWN', reason: fact.reason, details: {} } };
    default:
      return {};
  }
}
