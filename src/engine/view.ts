// A cast as people and scripts see it, told from its facts: where it went, what it holds, what it used.
import { countItems, type ItemCounts } from '../kernel/cast/item-count.ts';
import type { AgentNote, CastFact, Entry } from '../kernel/fact.ts';
import { toldOfChanges } from '../kernel/graph/write-scope.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { type Cast, isOver } from '../kernel/state.ts';
import { type BoundaryRefusal, type Consolidation, consolidate } from '../kernel/turn/consolidation.ts';
import { toldRefusal } from '../kernel/turn/loop-state.ts';
import { type NotRun, notRunOf } from './approval-outcomes.ts';
import type { Head } from './ports.ts';
import { differencesIn, type TurnDifferences } from './reported.ts';
import { type CastResult, resultOf } from './result.ts';

export type PathStep = { readonly socket: string; readonly visit: number; readonly item: string | null };

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
  /** Who answered, with which model, and what it told of itself. */
  readonly agent?: AgentNote;
  /** Files that changed while it ran, where whose change it was cannot be told. */
  readonly warning?: string;
};

/** A row of the ledger, as far as a cast's reader wants to know it. */
export type TaskView = {
  readonly task: string;
  readonly title: string;
  readonly status: string;
  readonly owner: string;
  readonly code: string | null;
  readonly reason: string;
  readonly fence: number | null;
  /** It is an item of a list, and not a turn of its own. */
  readonly isItem?: true;
  /** How many files its accepted turns changed; absent where none of them may write. */
  readonly files?: number;
  /** Its item was passed over by `advance.when: "not_satisfied"`. */
  readonly skipped?: true;
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
  /** What it produced, and what the turn that stopped it said. */
  readonly result: CastResult;
  readonly usage: {
    readonly input: number;
    readonly output: number;
    readonly tokens: number;
    readonly cost: number;
    /** The cost, or a part of it, was worked out from a table of prices. */
    readonly estimated?: true;
    /** Tokens that are missing in the cost, because their agents told no price. */
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
  readonly turns?: readonly TurnView[];
  /** The tasks of its items, where it has any. */
  readonly tasks?: readonly TaskView[];
  /** What its agents reported about the goal, put together; only where they report with a status. */
  readonly report?: Consolidation;
  /** Where reports name other commands than were run. */
  readonly differences?: readonly TurnDifferences[];
  /** Of a cast that is over: the commands its agents asked to run and that did not run. */
  readonly notRun?: readonly NotRun[];
  /** How many notes its agents suggest to remember that nobody has decided about. */
  readonly memorySuggestions?: number;
};

export function viewOf(
  cast: Cast,
  entries: readonly Entry[],
  head: Head,
  withTurns: boolean,
  refusalOf?: BoundaryRefusal,
): CastView {
  const { input, output, cost, estimated } = cast.usage;
  const report = consolidate(cast, refusalOf);
  const differences = differencesIn(entries);
  const items = countItems(cast, entries);
  const notRun = isOver(cast.status) ? notRunOf(entries) : [];
  return {
    cast: cast.id,
    status: cast.status,
    code: cast.code,
    reason: cast.reason,
    loadout: cast.loadout,
    request: cast.request,
    path: pathOf(entries),
    data: cast.data,
    result: resultOf(cast, entries),
    usage: {
      ...{ input, output, tokens: input + output, cost },
      ...(estimated ? { estimated } : {}),
      ...(cast.unpriced > 0 ? { unpricedTokens: cast.unpriced } : {}),
    },
    trust: trustIn(cast, entries),
    accepted: cast.turnsAccepted,
    ...(items ? { items } : {}),
    elapsedMs: cast.clock.elapsedMs,
    log: { head: head.seq, hash: head.hash },
    ...(withTurns ? { turns: turnsOf(cast, entries) } : {}),
    ...(report ? { report } : {}),
    ...(differences.length > 0 ? { differences } : {}),
    ...(notRun.length > 0 ? { notRun } : {}),
  };
}

/** On where every agent that was dispatched was attested; one that was not leaves nothing to rely on. */
function trustIn({ rules }: Cast, entries: readonly Entry[]): CastView['trust'] {
  const agents = new Map<number, boolean>();
  let isOn = false;
  for (const entry of entries) {
    const { fact } = entry;
    if (fact.kind === 'turn.started') {
      const materia = rules.materia[rules.graph.sockets[fact.socket]?.materia ?? ''];
      agents.set(fact.turn, materia?.type === 'agent' && materia.runner !== 'person');
    }
    if (isAttested(entry) || isRefusedByTrust(entry)) isOn = true;
    else if (fact.kind === 'attempt.started' && agents.get(fact.turn)) return 'off';
  }
  return isOn ? 'on' : null;
}

/** A cast whose first agent was turned away had nobody attested, and trust was on all the same. */
function isRefusedByTrust({ fact }: Entry): boolean {
  return fact.kind === 'cast.failed' && typeof fact.details.stage === 'number';
}

function isAttested({ fact }: Entry): boolean {
  return fact.kind === 'attempt.started' && fact.attestation !== undefined;
}

/**
 * One step for each visit that was really dispatched; a start that a gate refused is none. They stand in the order in which
 * it was decided to make them: of those that begin together, which folder is ready first is an accident.
 */
export function pathOf(entries: readonly Entry[]): PathStep[] {
  const opened = new Map<number, PathStep>();
  const dispatched = new Set<number>();
  for (const { fact } of entries) {
    if (fact.kind === 'turn.started')
      opened.set(fact.turn, { socket: fact.socket, visit: fact.visit, item: fact.item?.key ?? null });
    if (fact.kind === 'attempt.started') dispatched.add(fact.turn);
  }
  return [...opened].filter(([turn]) => dispatched.has(turn)).map(([, step]) => step);
}

function turnsOf(cast: Cast, entries: readonly Entry[]): TurnView[] {
  const { rules, status } = cast;
  const opened = new Map<number, Pick<TurnView, 'socket' | 'visit' | 'item' | 'title' | 'materia'>>();
  const turns = new Map<string, TurnView>();
  for (const { fact } of entries) {
    if (fact.kind === 'turn.started') {
      const { socket, visit, item } = fact;
      const id = rules.graph.sockets[socket]?.materia ?? '';
      const materia = rules.materia[id]?.label ?? id;
      opened.set(fact.turn, { socket, visit, item: item?.key ?? null, title: item?.label ?? null, materia });
    }
    if (!('attempt' in fact) || fact.turn === undefined) continue;
    const key = `${fact.turn}.${fact.attempt}`;
    const step = opened.get(fact.turn);
    if (fact.kind === 'attempt.started' && step) {
      const { turn, attempt, brief } = fact;
      turns.set(key, { ...step, turn, attempt, brief, output: null, verdict: null });
    }
    const known = turns.get(key);
    if (known) turns.set(key, { ...known, ...endOf(fact), ...warningOf(cast, known.socket, fact) });
  }
  // What a stopped cast left without an end was stopped with it.
  const stopped = { allow: false, code: 'ABORTED', reason: `stopped: the cast is ${status}`, details: {} };
  return [...turns.values()].map((turn) =>
    turn.verdict === null && status !== 'running' ? { ...turn, verdict: stopped } : turn,
  );
}

/** What a fact says about how an attempt ended; nothing where it is about something else. */
export function endOf(fact: Entry['fact']): Partial<Pick<TurnView, 'output' | 'verdict' | 'truncated' | 'agent'>> {
  const agent = 'agent' in fact && typeof fact.agent === 'object' ? { agent: fact.agent } : {};
  return { ...verdictOf(fact), ...agent };
}

/** Of files that changed beside the turn, where whose change it was cannot be told. */
export function warningOf(
  cast: Pick<Cast, 'rules' | 'root'>,
  socket: string,
  fact: Entry['fact'],
): { readonly warning?: string } {
  const warning = 'touched' in fact ? toldOfChanges(cast, socket, fact.touched) : null;
  return warning === null ? {} : { warning };
}

function verdictOf(fact: Entry['fact']): { output?: string; verdict?: Json; truncated?: true } {
  switch (fact.kind) {
    case 'turn.accepted':
      return {
        output: fact.output,
        verdict: { allow: true, code: 'OK', reason: acceptedAs(fact), details: {} },
        ...(fact.truncated ? { truncated: true } : {}),
      };
    case 'turn.blocked':
      if (fact.output === '') return {};
      return { output: fact.output, verdict: { allow: false, code: fact.code, reason: fact.reason, details: {} } };
    case 'turn.reported':
      return { output: fact.output, verdict: reportedVerdict(fact) };
    case 'attempt.refused':
      return { output: fact.output, verdict: toldRefusal(fact) };
    case 'attempt.failed':
      return {
        ...(fact.said === undefined ? {} : { output: fact.said }),
        verdict: { allow: false, code: fact.code, reason: fact.reason, details: detailsOf(fact) },
      };
    case 'turn.asked':
      return { verdict: { allow: false, code: 'ANSWER_NEEDED', reason: 'waits for a person', details: {} } };
    case 'attempt.lost':
    case 'turn.unknown':
      return { verdict: { allow: false, code: 'OUTCOME_UNKNOWN', reason: fact.reason, details: {} } };
    default:
      return {};
  }
}

function acceptedAs({ handoff, truncated }: Extract<CastFact, { kind: 'turn.accepted' }>): string {
  if (truncated) return 'accepted: the output was cut at its limit';
  return handoff.satisfied === false ? 'accepted: not satisfied' : 'accepted';
}

function reportedVerdict({ outcome, note }: Extract<CastFact, { kind: 'turn.reported' }>): Json {
  const code = { continue: 'OK', ask: 'ANSWER_NEEDED', approval: 'APPROVAL_NEEDED' }[outcome];
  const reason = { continue: 'goes on', ask: 'asks a person', approval: 'asks for permission' }[outcome];
  return { allow: outcome === 'continue', code, reason: note === '' ? reason : `${reason}: ${note}`, details: {} };
}

function detailsOf({ fault, cause }: Extract<CastFact, { kind: 'attempt.failed' }>): JsonObject {
  return { fault, ...(cause === undefined ? {} : { cause }) };
}
