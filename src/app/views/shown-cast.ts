// A cast as people and scripts see it, from its facts: its path, its data, its usage.
import { runnerCan } from '../../kernel/capabilities.ts';
import { type AgentNote, type Cast, isOver, type Session, type Usage } from '../../kernel/cast/state.ts';
import { countItems, type ItemCounts, itemsText } from '../../kernel/cast/summary.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { type BoundaryRefusal, type Consolidation, consolidate } from '../../kernel/report/consolidation.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import type { View } from './cast-view.ts';
import type { PathStep } from './graph-drawing.ts';
import { type SocketNames, socketNames, textHere, withSocketNames } from './in-words.ts';
import { differencesIn, type NotRun, notRunOf, type TurnDifferences } from './reported.ts';
import { type CastResult, resultOf, type TaskView } from './result.ts';
import type { AttemptRecord } from './turn-record.ts';

type Head = { readonly seq: number; readonly hash: string };

export type TurnView = PathStep & {
  readonly turn: number;
  /** The label of the materia in the socket. */
  readonly materia: string;
  /** The title of the item, as people know it. */
  readonly title: string | null;
  readonly attempt: number;
  readonly brief: string;
  readonly output: string | null;
  readonly verdict: Json;
  /** More was printed than is kept. */
  readonly truncated?: true;
  /** From its dispatch to its end; absent while it runs. */
  readonly elapsedMs?: number;
  readonly usage?: Usage;
  /** Who answered, with which model, and what it reported about itself. */
  readonly agent?: AgentNote;
  /** The conversation of an earlier turn that it goes on with, because it is rework. */
  readonly session?: Session;
  /** Files that changed while it ran, where it is not known who changed them. */
  readonly warning?: string;
};

export type CastView = {
  readonly cast: string;
  readonly status: Cast['status'];
  readonly code: string | null;
  readonly reason: string;
  readonly loadout: string;
  readonly request: string;
  readonly path: readonly PathStep[];
  /** What people call its sockets. */
  readonly sockets: SocketNames;
  readonly data: Json;
  /** What it produced, and what the turn that stopped it said. */
  readonly result: CastResult;
  readonly usage: {
    readonly input: number;
    readonly output: number;
    readonly tokens: number;
    readonly cost: number;
    /** The cost, or a part of it, was worked out from a table of prices. */
    readonly estimated?: true;
    /** Tokens that are missing in the cost, because their agents gave no price. */
    readonly unpricedTokens?: number;
  };
  /** Whether all of its agents were attested against a registry; null before the first of them is dispatched. */
  readonly trust: 'on' | 'off' | null;
  readonly accepted: number;
  /** How many items came to what end, where it has any. */
  readonly items?: ItemCounts;
  readonly elapsedMs: number;
  readonly log: { readonly head: number; readonly hash: string };
  /** Where it works in a worktree: the branch, and the folder as locks name it. */
  readonly branch?: string;
  readonly root?: string;
  /** The quest that it does. */
  readonly quest?: string;
  /** How many events its outputs emitted. */
  readonly events?: number;
  /** What its steps wait for, and until when at the latest. */
  readonly waits?: readonly WaitView[];
  readonly turns?: readonly TurnView[];
  /** The tasks of its items, where it has any. */
  readonly tasks?: readonly TaskView[];
  /** What its agents reported about the goal, put together; only where they report with a status. */
  readonly report?: Consolidation;
  /** Where reports name other commands than were run. */
  readonly differences?: readonly TurnDifferences[];
  /** Of a cast that is over: the commands its agents asked to run and that did not run. */
  readonly notRun?: readonly NotRun[];
  /** How many notes that its agents suggest to remember are undecided. */
  readonly memorySuggestions?: number;
  /** Of `show`: false where it runs and no process drives it; where its work is, and what became of it. */
  readonly driven?: false;
  readonly worktree?: { readonly branch: string; readonly state: string };
};

type WaitView = {
  readonly turn: number;
  readonly socket: string;
  readonly for: string;
  readonly since: string;
  readonly until: string;
  /** What the last look found. */
  readonly found?: string;
};

function waitsOf({ turns }: Cast): readonly WaitView[] {
  return Object.values(turns).flatMap(({ id, socket, awaits, phase }) => {
    if (!awaits || phase !== 'awaiting') return [];
    const { words, since, until, found } = awaits;
    const times = { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
    return [{ turn: id, socket, for: words, ...times, ...(found === undefined ? {} : { found }) }];
  });
}

/** `show --json`. `refusalOf` holds what agents propose against the boundaries of a registry. */
export function shownCast(view: View, head: Head, withTurns: boolean, refusalOf?: BoundaryRefusal): CastView {
  const { cast } = view;
  if (!cast) throw new Error('a view without an entry shows no cast');
  const { input, output, cost, estimated } = cast.usage;
  const report = consolidate(cast, refusalOf);
  const differences = differencesIn(view.reports);
  const items = countItems(view.items);
  const waits = waitsOf(cast);
  const notRun = isOver(cast.status) ? notRunOf(view.commands) : [];
  return {
    cast: cast.id,
    status: cast.status,
    code: cast.code,
    reason: cast.reason,
    loadout: cast.loadout,
    request: cast.request,
    ...(cast.quest === undefined ? {} : { quest: cast.quest }),
    ...(waits.length === 0 ? {} : { waits }),
    ...(cast.events === undefined ? {} : { events: cast.events }),
    path: pathOf(view),
    sockets: socketNames(cast.rules),
    data: cast.data,
    result: resultOf(view),
    usage: {
      ...{ input, output, tokens: input + output, cost },
      ...(estimated ? { estimated } : {}),
      ...(cast.unpriced > 0 ? { unpricedTokens: cast.unpriced } : {}),
    },
    trust: trustIn(view, cast),
    accepted: cast.turnsAccepted,
    ...(items ? { items } : {}),
    elapsedMs: cast.clock.elapsedMs,
    log: { head: head.seq, hash: head.hash },
    ...(withTurns ? { turns: turnsOf(view, cast) } : {}),
    ...(report ? { report } : {}),
    ...(differences.length > 0 ? { differences } : {}),
    ...(notRun.length > 0 ? { notRun } : {}),
  };
}

/** On where every agent that was dispatched was attested; one that was not leaves nothing to rely on. */
function trustIn({ turns, attempts, isRefusedByTrust }: View, { rules }: Cast): CastView['trust'] {
  const isAgents = ({ turn }: AttemptRecord) => {
    const materia = rules.materia[rules.graph.sockets[turns.get(turn)?.socket ?? '']?.materia ?? ''];
    return materia?.type === 'agent' && !runnerCan(rules, materia.runner, 'isPerson');
  };
  if (attempts.some((attempt) => !attempt.isAttested && isAgents(attempt))) return 'off';
  return isRefusedByTrust || attempts.some(({ isAttested }) => isAttested) ? 'on' : null;
}

/**
 * One step for each visit that was really dispatched; a start that a gate refused is none. They are in the order in which
 * it was decided to make them: of those that begin together, which folder is ready first is an accident.
 */
export function pathOf({ turns }: Pick<View, 'turns'>): PathStep[] {
  return [...turns.values()]
    .filter(({ attempts }) => attempts.size > 0)
    .map(({ socket, visit, item }) => ({ socket, visit, item: item?.key ?? null }));
}

function turnsOf({ turns, attempts }: View, { rules, status }: Cast): TurnView[] {
  // What a stopped cast left without an end was stopped with it.
  const stopped = { allow: false, code: 'ABORTED', reason: `stopped: the cast is ${status}`, details: {} };
  return attempts.flatMap(({ startedAt, endedAt, isAttested: _isAttested, usage, ...attempt }) => {
    const own = turns.get(attempt.turn);
    if (!own) return [];
    const { socket, visit, item } = own;
    const id = rules.graph.sockets[socket]?.materia ?? '';
    const materia = rules.materia[id]?.label ?? id;
    const verdict = attempt.verdict ?? (status === 'running' ? null : stopped);
    return [
      {
        socket,
        visit,
        item: item?.key ?? null,
        title: item?.label ?? null,
        materia,
        ...attempt,
        brief: textHere(attempt.brief),
        verdict,
        ...(endedAt === undefined ? {} : { elapsedMs: Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) }),
        ...(usage === null ? {} : { usage }),
      },
    ];
  });
}

/** A cast as a verdict; `details.stands` is true when it does not run. */
export function castVerdict(view: CastView): Verdict {
  const why = view.code === null ? '' : ` (${view.code}): ${withSocketNames(view.reason, view.sockets)}`;
  const items = view.items ? `; ${itemsText(view.items)}` : '';
  const notRun = (view.notRun ?? []).map(({ outcome, command }) => `; ${outcome}: ${command}`).join('');
  const { result, ...rest } = view;
  const details = { result, ...rest, stands: view.status !== 'running' };
  return allow(`cast ${view.cast} is ${view.status}${why}${items}${notRun}`, details as unknown as JsonObject);
}
