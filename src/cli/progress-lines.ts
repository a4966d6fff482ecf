// Lines for people while a cast runs: what its entries say, and what its agents do.
import { emptyView, fold, type View } from '../app/views/cast-view.ts';
import { socketName, socketNames, withSocketNames } from '../app/views/in-words.ts';
import type { LiveEvent } from '../engine/ports.ts';
import { edgeKey, forgetItem, forgetItems, type ItemMemory } from '../kernel/cast/bookkeeping.ts';
import type { Touched } from '../kernel/cast/fact.ts';
import type { AgentNote, TurnCheck, Usage } from '../kernel/cast/state.ts';
import type { Entry, Fact } from '../kernel/fact.ts';
import { hasOwnPaths, isShownChanges } from '../kernel/graph/route.ts';
import { shownRefusal } from '../kernel/report/status.ts';
import { counted } from '../kernel/text.ts';
import { commandName } from './command.ts';
import type { Paint } from './paint.ts';
import { figuresText, itemText, type StepLine, stepLines } from './step-line.ts';
import { lastColumns, oneLine } from './terminal-text.ts';

type How = {
  readonly paint: Paint;
  /** How wide a line may be; null where nothing is cut. */
  readonly columns: () => number | null;
  /** Every tool call, the attempts and the models. */
  readonly isVerbose: boolean;
};

export type ProgressState = How & {
  readonly view: View;
  /** How often edges that send work back were taken, by edge and item, and by how much revivals raised their limits. */
  rounds: ItemMemory;
  /** Why work was rejected last, by the same keys. */
  readonly rejected: Map<string, string>;
  /** The last words of each turn, and the tool it is at. */
  readonly words: Map<number, string>;
  readonly tools: Map<number, string>;
  doingOf(turn: number): string;
  /** What each turn was last shown to wait for, and when. */
  readonly waits: Map<number, { readonly reason: string; readonly at: number }>;
  startedAt: number;
  now(): number;
};

export function listener(how: How): ProgressState {
  const words = new Map<number, string>();
  const tools = new Map<number, string>();
  return {
    ...how,
    view: emptyView(),
    rounds: { traversals: {}, extended: {}, rework: {} },
    rejected: new Map(),
    words,
    tools,
    doingOf: (turn) => tools.get(turn) ?? lastColumns(oneLine(words.get(turn) ?? ''), DOING_COLUMNS_MAX),
    waits: new Map(),
    startedAt: Date.now(),
    now: Date.now,
  };
}

/** The end of the last words is enough for a line. */
const DOING_CHARS_MAX = 200;
const DOING_COLUMNS_MAX = 60;

/** A provider that is asked again and again for the same reason gets one line. */
const REPEAT_AFTER_MS = 30_000;

/** Longer reasons are in `show`. */
const WHY_CHARS_MAX = 600;

/** Words and tool calls move a line only; a refusal or a pause is worth a line of its own. */
export function liveLines(turn: number, event: LiveEvent, seen: ProgressState): string[] {
  const { paint } = seen;
  switch (event.kind) {
    case 'text':
      seen.tools.delete(turn);
      seen.words.set(turn, `${seen.words.get(turn) ?? ''}${event.text}`.slice(-DOING_CHARS_MAX));
      return [];
    case 'tool': {
      const call = oneLine(`${event.name} ${event.detail ?? ''}`, 200);
      seen.tools.set(turn, call);
      seen.words.delete(turn);
      return seen.isVerbose ? [`    ${paint.dim(`⚙ ${nameAt(turn, seen)}: ${call}`)}`] : [];
    }
    case 'denied':
      return [`    ${paint.warn('⊘')} ${nameAt(turn, seen)} was refused the tool ${oneLine(event.name, 60)}`];
    case 'waiting': {
      const seconds = event.forMs > 0 ? ` ${Math.ceil(event.forMs / 1000)} s` : '';
      const before = seen.waits.get(turn);
      if (before?.reason === event.reason && Date.now() - before.at < REPEAT_AFTER_MS) {
        seen.tools.set(turn, oneLine(`waits${seconds}: ${event.reason}`, DOING_CHARS_MAX));
        return [];
      }
      seen.waits.set(turn, { reason: event.reason, at: Date.now() });
      return [`    ${paint.warn('…')} ${nameAt(turn, seen)} waits${seconds}: ${oneLine(event.reason, 200)}`];
    }
  }
}

/** Where an attempt ends, and what it used is known. */
const ENDS: ReadonlySet<string> = new Set([
  'turn.accepted',
  'turn.blocked',
  'turn.reported',
  'attempt.refused',
  'attempt.failed',
  'attempt.interrupted',
]);

/**
 * The entries whose reason another line gives: an attempt that stopped the cast, because the cast stops with its reason, and
 * the last stop of the cast itself, because the closing lines give it. With `json` there are no closing lines.
 */
export function shownElsewhere(entries: readonly Entry[], json: boolean): ReadonlySet<Entry> {
  const found = new Set<Entry>();
  for (const [index, { fact }] of entries.entries()) {
    if (!isStop(fact)) continue;
    const attempt = entries.slice(0, index).findLast((entry) => ENDS.has(entry.fact.kind));
    const why = attempt ? reasonIn(attempt.fact) : null;
    if (attempt && why !== null && fact.reason.includes(why)) found.add(attempt);
  }
  const last = entries.findLast(({ fact }) => isStop(fact) || fact.kind === 'cast.completed');
  if (last && !json) found.add(last);
  return found;
}

function isStop(fact: Entry['fact']): fact is Extract<Fact, { kind: 'cast.failed' | 'cast.waiting' }> {
  return fact.kind === 'cast.failed' || fact.kind === 'cast.waiting';
}

function reasonIn(fact: Entry['fact']): string | null {
  if (fact.kind === 'attempt.refused') return shownRefusal(fact).reason;
  return fact.kind === 'attempt.failed' || fact.kind === 'turn.blocked' ? fact.reason : null;
}

/** Whether the step leaves its item when it is not satisfied. */
function skipsItem({ view }: ProgressState, turn: number): boolean {
  const socket = view.cast?.turns[turn]?.socket ?? '';
  return view.cast?.rules.graph.sockets[socket]?.advance?.when === 'not_satisfied';
}

/** What an entry is worth telling. `isTold` leaves out what another line gives; `isLive` leaves out what moves already. */
export function entryLines(entry: Entry, seen: ProgressState, isTold = false, isLive = false): readonly string[] {
  fold(seen.view, entry);
  const { fact } = entry;
  const { paint, view } = seen;
  switch (fact.kind) {
    case 'attempt.started':
      forget(fact.turn, seen);
      return isLive ? [] : step(seen, fact.turn, { mark: paint.dim('▸'), note: attemptNote(fact, paint) });
    case 'turn.accepted': {
      const isNo = fact.handoff.satisfied === false;
      const isSkip = isNo && skipsItem(seen, fact.turn);
      const notes = [
        isSkip ? paint.warn('skipped') : isNo ? paint.warn('not satisfied') : '',
        madeBy(fact),
        fact.truncated ? paint.warn('output cut at its limit') : '',
        // Where lines may be long there is room for who answered.
        seen.isVerbose || seen.columns() === null ? modelOf(fact.agent) : '',
      ];
      const note = notes.filter(Boolean).join(', ');
      const how = { mark: isSkip ? paint.warn('–') : isNo ? paint.warn('✗') : paint.good('✓'), note };
      const aside = changedNothing(fact, seen) ? 'changed no file' : '';
      const lines = step(seen, fact.turn, { ...how, aside }, entry, fact.usage);
      forget(fact.turn, seen);
      return [...lines, ...red(fact.checks, seen, fact.turn), ...touchedFiles(fact, seen), ...warned(fact.agent, seen)];
    }
    case 'attempt.refused': {
      const { reason } = shownRefusal(fact);
      const note = fact.loop
        ? paint.warn('goes on with its loop')
        : paint.bad(fact.repair ? 'refused, one repair turn' : 'refused');
      const mark = fact.loop ? paint.warn('…') : paint.bad('✗');
      const lines = step(seen, fact.turn, { mark, note, ...why(reason, isTold) }, entry, fact.usage);
      return [...lines, ...touchedFiles(fact, seen), ...warned(fact.agent, seen)];
    }
    case 'attempt.failed': {
      // What comes next is in the reason already where there is more to say than that.
      const isAgain = fact.again && !fact.isUnknown && fact.cause === undefined;
      const note = paint.bad(isAgain ? 'failed, tried once more' : 'failed');
      return step(seen, fact.turn, { mark: paint.bad('✗'), note, ...why(fact.reason, isTold) }, entry, fact.usage);
    }
    case 'attempt.interrupted': {
      const note = paint.warn('interrupted, goes on with what you said');
      return step(seen, fact.turn, { mark: paint.warn('↳'), note }, entry, fact.usage);
    }
    case 'cast.said': {
      const whom = fact.item === null ? '' : `${fact.item} `;
      return [indented(`${paint.dim('↳')} ${whom}will get: ${oneLine(fact.text, 100)}`, seen)];
    }
    case 'attempt.lost':
      return step(seen, fact.turn, { mark: paint.warn('↻'), note: 'was cut off, runs again', ...why(fact.reason) });
    case 'turn.blocked': {
      const note = paint.bad(`blocked (${fact.code})`);
      const lines = step(
        seen,
        fact.turn,
        { mark: paint.bad('✗'), note, ...why(fact.reason, isTold) },
        entry,
        fact.usage,
      );
      return [...lines, ...touchedFiles(fact, seen)];
    }
    case 'turn.reported': {
      const note = { continue: 'goes on', ask: 'asks', approval: 'asks for permission' }[fact.outcome];
      const mark = paint.warn(fact.outcome === 'continue' ? '…' : '?');
      const lines = step(seen, fact.turn, { mark, note: paint.warn(note), ...why(fact.note) }, entry, fact.usage);
      return [...lines, ...touchedFiles(fact, seen), ...warned(fact.agent, seen)];
    }
    case 'turn.answered':
      return step(seen, fact.turn, { mark: paint.dim('↳'), note: `got: ${oneLine(fact.text, 100)}` });
    case 'report.noted':
      return (fact.warnings ?? []).map((warning) => paint.warn(`    ! ${oneLine(warning, 200)}`));
    case 'context.rejected':
      return [`    ${paint.warn('⊘')} ${oneLine(fact.section, 60)} was not written (${fact.code})`];
    case 'turn.asked':
      return step(seen, fact.turn, { mark: paint.warn('?'), note: paint.warn('waits for your answer') });
    case 'turn.held':
      return step(seen, fact.turn, {
        mark: paint.warn('…'),
        note: paint.warn('postponed'),
        ...why(withStepNames(fact.reason, seen)),
      });
    case 'lanes.held':
      return [
        indented(`${paint.warn('…')} postponed: ${oneLine(withStepNames(fact.reason, seen), WHY_CHARS_MAX)}`, seen),
      ];
    case 'item.parked':
      return [indented(`${paint.warn('‖')} parked: ${oneLine(fact.item.label, 60)}: ${oneLine(fact.note, 200)}`, seen)];
    case 'item.retried':
      forgetParked(seen, fact.task);
      return [];
    case 'lane.ended':
      if (fact.item !== null) forgetItem(seen.rounds, fact.item);
      return [];
    case 'rework.noted': {
      const { from, target, item, reason } = fact.note;
      seen.rejected.set(edgeKey(from, target, item), reason);
      return [];
    }
    case 'edge.taken': {
      const lines = reworked(fact, seen);
      if (fact.settles) forgetItem(seen.rounds, fact.settles);
      return lines;
    }
    case 'edge.spent':
      return [notAgain(fact.to, seen.rejected.get(fact.key) ?? fact.reason, seen)];
    case 'edge.extended':
      extendRound(seen, fact.key, fact.more);
      return [];
    case 'exit.taken': {
      if (fact.settles) forgetItem(seen.rounds, fact.settles);
      if (!fact.empty) return [];
      const planner = view.cast?.rules.graph.loops.find(({ id }) => id === fact.loop)?.consumes ?? null;
      const who = planner === null ? 'the list of items is empty' : `${nameOf(planner, seen)} listed no items`;
      return [
        indented(paint.warn(`! nothing was planned: ${who}; look at its prompt, or say more in the request`), seen),
      ];
    }
    case 'cursor.reset':
      for (const loop of view.cast?.rules.graph.loops ?? []) if (loop.id === fact.loop) forgetItems(seen.rounds, loop);
      return [];
    case 'cast.recast':
      if (fact.extends) extendRound(seen, fact.extends.key, fact.extends.by);
      return [];
    case 'merge.refused':
      return step(seen, fact.turn, { mark: paint.warn('↺'), note: paint.warn('not merged'), ...why(fact.reason) });
    case 'budget.warned': {
      const way = `\`${commandName()} budget ${fact.cast} --tokens N\` raises it`;
      return [indented(paint.warn(`! ${fact.percent} % of the token budget is used; ${way}`), seen)];
    }
    case 'cast.completed':
      return isTold ? [] : [paint.good('completed')];
    case 'cast.failed': {
      const failed = isTold ? [] : [paint.bad(`failed: ${fact.code}: ${oneLine(withStepNames(fact.reason, seen))}`)];
      const rejected = seen.rejected.get(String(fact.details.key));
      if (fact.code !== 'EDGE_BUDGET_EXHAUSTED' || rejected === undefined) return failed;
      return [notAgain(String(fact.details.to), rejected, seen), ...failed];
    }
    case 'cast.waiting':
      return isTold ? [] : [paint.warn(`waiting: ${oneLine(withStepNames(fact.reason, seen))}`)];
    case 'cast.aborted':
    case 'cast.paused':
      return [paint.warn(`${fact.kind.slice(5)}: ${oneLine(withStepNames(fact.reason, seen))}`)];
    default:
      return [];
  }
}

/** The line of a turn. `ends` is the entry with which an attempt of it ends. */
function step(
  seen: ProgressState,
  turn: number,
  how: Omit<StepLine, 'name'>,
  ends?: Entry,
  usage: Usage | null = null,
): string[] {
  const fact = ends?.fact;
  const attempt = fact && 'attempt' in fact ? fact.attempt : undefined;
  const since = seen.view.turns.get(turn)?.attempts.get(attempt ?? 0)?.startedAt;
  const ms = ends === undefined || since === undefined ? null : Date.parse(ends.at) - Date.parse(since);
  const figures = ends === undefined ? '' : figuresText(ms, usage);
  return stepLines({ ...stepAt(turn, seen), ...how, figures }, seen.columns(), seen.paint);
}

/** A turn by its name and its item. */
export function stepAt(turn: number, seen: ProgressState): { readonly name: string; readonly item: string | null } {
  const known = seen.view.turns.get(turn);
  const item = known?.item ? itemText(known.item) : null;
  const id = seen.isVerbose && known ? ` (${known.socket}, turn ${turn})` : '';
  return { name: `${nameAt(turn, seen)}${id}`, item };
}

function nameAt(turn: number, seen: ProgressState): string {
  const known = seen.view.turns.get(turn);
  return known ? nameOf(known.socket, seen) : `turn ${turn}`;
}

function nameOf(socket: string, { view }: ProgressState): string {
  return oneLine(view.cast ? socketName(view.cast.rules, socket) : socket, 60);
}

/** A reason with names in place of the ids of sockets. */
function withStepNames(reason: string, { view }: ProgressState): string {
  return view.cast ? withSocketNames(reason, socketNames(view.cast.rules)) : reason;
}

function why(reason: string, isTold = false): Pick<StepLine, 'why'> {
  return isTold || reason === '' ? {} : { why: oneLine(reason, WHY_CHARS_MAX) };
}

/** In a terminal the marks are at the left edge. */
function indented(line: string, { columns }: ProgressState): string {
  return columns() === null ? `  ${line}` : line;
}

function attemptNote({ attempt, session }: Extract<Fact, { kind: 'attempt.started' }>, paint: Paint): string {
  const resumed = session ? paint.dim('goes on in its conversation') : '';
  return [attempt > 1 ? paint.warn(`attempt ${attempt}`) : '', resumed].filter(Boolean).join(', ');
}

function forget(turn: number, { words, tools }: ProgressState): void {
  words.delete(turn);
  tools.delete(turn);
}

/** Its edge gets its traversals again. */
function forgetParked({ rounds, view }: ProgressState, task: string): void {
  const key = view.cast?.parked?.[task]?.edge.key;
  if (key !== undefined) delete rounds.traversals[key];
}

function extendRound({ rounds: { extended } }: ProgressState, key: string, more: number): void {
  extended[key] = (extended[key] ?? 0) + more;
}

/** An edge sends an item back with a reason. An item that is over is not sent back by any edge. */
function reworked(fact: Extract<Fact, { kind: 'edge.taken' }>, seen: ProgressState): string[] {
  const { from, to, when, item, settles } = fact;
  if (when !== 'not_satisfied' || settles !== undefined) return [];
  const key = edgeKey(from, to, item);
  const { traversals, extended } = seen.rounds;
  const round = (traversals[key] ?? 0) + 1;
  traversals[key] = round;
  const edges = seen.view.cast?.rules.graph.sockets[from]?.edges ?? [];
  const limit = edges.find((edge) => edge.when === when && edge.to === to)?.maxTraversals ?? null;
  const allowed = limit === null ? '' : ` of ${limit + (extended[key] ?? 0)}`;
  const reason = oneLine(seen.rejected.get(key) ?? '', 200);
  return [indented(`${seen.paint.warn('↺')} back to ${nameOf(to, seen)}, round ${round}${allowed}: ${reason}`, seen)];
}

function notAgain(to: string, reason: string, seen: ProgressState): string {
  return indented(`${seen.paint.warn('↺')} not sent back to ${nameOf(to, seen)} again: ${oneLine(reason, 200)}`, seen);
}

function madeBy({ handoff: { payload } }: Extract<Fact, { kind: 'turn.accepted' }>): string {
  const items = typeof payload === 'object' && payload !== null && 'workItems' in payload ? payload.workItems : null;
  return Array.isArray(items) && items.length > 0 ? counted(items.length, 'item') : '';
}

/** The model that answered, where it said so. */
function modelOf(agent: AgentNote | undefined): string {
  return agent?.model ? oneLine(`${agent.runner ?? ''} ${agent.model}`, 60) : '';
}

/** Whether a turn that may change files changed none. */
function changedNothing({ turn, touched = {} }: { turn: number; touched?: Touched }, { view }: ProgressState): boolean {
  const { cast, turns } = view;
  const socket = turns.get(turn)?.socket;
  if (!cast || socket === undefined || Object.keys(touched).length > 0) return false;
  return hasOwnPaths(cast.rules, socket);
}

/** The files that changed while it ran, where it is not known who changed them. */
function touchedFiles({ turn, touched }: { turn: number; touched?: Touched }, seen: ProgressState): string[] {
  const { cast, turns } = seen.view;
  const changes = cast && isShownChanges(cast, turns.get(turn)?.socket ?? '', touched);
  return changes ? [seen.paint.warn(`    ! ${oneLine(withStepNames(changes, seen), 300)}`)] : [];
}

/** The checks that failed after the turn. */
function red(checks: readonly TurnCheck[] = [], { paint, view }: ProgressState, turn: number): string[] {
  const look = `${commandName()} show ${view.cast?.id ?? 'latest'} --turn ${turn}`;
  return checks
    .filter(({ ok }) => !ok)
    .map(({ name, found }) => {
      return paint.warn(`    ! check ${oneLine(name, 60)} failed: ${oneLine(found, 200)} (\`${look}\`)`);
    });
}

function warned(agent: AgentNote | undefined, { paint }: ProgressState): string[] {
  return (agent?.warnings ?? []).map((warning) => paint.warn(`    ! ${oneLine(warning, 200)}`));
}
