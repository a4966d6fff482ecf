// Live progress: where in the graph, which item of how many, what round of rework, how much was used. Lines where the
// output is no terminal; in a terminal the last line moves.
import { emptyView, fold, type View } from '../app/views/cast-view.ts';
import type { LiveEvent } from '../engine/ports.ts';
import { edgeKey, forgetItem, forgetItems, type ItemMemory } from '../kernel/cast/bookkeeping.ts';
import type { Touched } from '../kernel/cast/fact.ts';
import type { AgentNote, TurnCheck, Usage } from '../kernel/cast/state.ts';
import type { Entry, Fact } from '../kernel/fact.ts';
import { hasOwnPaths, toldOfChanges } from '../kernel/graph/socket-rules.ts';
import { shownRefusal } from '../kernel/report/status.ts';
import { counted } from '../kernel/text.ts';
import type { Call } from './command.ts';
import { costText } from './result-lines.ts';
import { oneLine } from './safe-text.ts';

export type Progress = {
  /** Learns from what happened before, without telling it again. */
  learn(entries: readonly Entry[]): void;
  take(entries: readonly Entry[]): void;
  /** Shows what an agent does right now. */
  hear(turn: number, event: LiveEvent): void;
  /** Says something in between, without tearing the moving line. */
  say(line: string): void;
  stop(): void;
};

type Seen = {
  readonly view: View;
  /** How often edges that send work back were taken, by edge and item, and by how much revivals raised their limits. */
  rounds: ItemMemory;
  /** Why work was rejected last, by the same keys. */
  rejected: Map<string, string>;
  /** What each turn is doing, as far as it was heard. */
  doing: Map<number, string>;
  /** For what each turn was last said to wait, and when. */
  waits: Map<number, { readonly reason: string; readonly at: number }>;
  readonly started: number;
};

/** The id of the cast, and after it `says`, is printed once there is an entry of the cast: before that there is no cast. */
export function progressFor(call: Call, cast: string, says: readonly string[] = []): Progress {
  const screen = process.stderr;
  // A dumb terminal is one that shows escape sequences instead of following them.
  const isScreen = screen.isTTY === true && call.env.TERM !== 'dumb';
  const live = isScreen && !call.json;
  const paint = painter(isScreen && !call.env.NO_COLOR);
  const started = Date.now();
  const seen: Seen = {
    view: emptyView(),
    rounds: { traversals: {}, extended: {}, rework: {} },
    rejected: new Map(),
    doing: new Map(),
    waits: new Map(),
    started,
  };
  const print = (line: string) => screen.write(`${live ? '\r\x1b[2K' : ''}${line}\n`);
  const redraw = () => {
    if (live) screen.write(`\r\x1b[2K${statusLine(seen, paint, screen.columns || 80)}`);
  };
  // A moving line says it all the time; lines that stay say it where something ends.
  const toldWith = (entry: Entry, isTold: boolean) => {
    const lines = told(entry, seen, paint, isTold);
    const [line, ...rest] = lines;
    if (live || line === undefined || !ENDS.has(entry.fact.kind)) return lines;
    return [`${line}${paint.dim(` · ${soFar(seen)}`)}`, ...rest];
  };
  let isNamed = false;
  const nameCast = (entries: readonly Entry[]) => {
    if (isNamed || entries.length === 0) return;
    isNamed = true;
    for (const line of [`${paint.dim('cast')} ${cast}`, ...says]) print(line);
  };
  const timer = live ? setInterval(redraw, 500) : null;
  timer?.unref();
  return {
    learn(entries) {
      nameCast(entries);
      for (const entry of entries) told(entry, seen, paint);
    },
    take(entries) {
      nameCast(entries);
      const elsewhere = toldElsewhere(entries, call.json);
      for (const entry of entries) for (const line of toldWith(entry, elsewhere.has(entry))) print(line);
      redraw();
    },
    hear(turn, event) {
      for (const line of heard(turn, event, seen, paint)) print(line);
      if (event.kind === 'denied' || event.kind === 'waiting') redraw();
    },
    say: print,
    stop() {
      if (timer) clearInterval(timer);
      if (live) screen.write('\r\x1b[2K');
    },
  };
}

type Paint = Record<'dim' | 'good' | 'bad' | 'warn' | 'bold', (text: string) => string>;

function painter(colour: boolean): Paint {
  const wrap = (code: number) => (text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);
  return { dim: wrap(2), good: wrap(32), bad: wrap(31), warn: wrap(33), bold: wrap(1) };
}

/** The end of what was said lately is enough for a line. */
const DOING_CHARS_MAX = 200;

/** A provider that is asked again and again for the same reason gets one line. */
const REPEAT_AFTER_MS = 30_000;

/** Words and tool calls move the last line only; a refusal or a pause is worth a line of its own. */
function heard(turn: number, event: LiveEvent, seen: Seen, paint: Paint): string[] {
  switch (event.kind) {
    case 'text':
      seen.doing.set(turn, `${seen.doing.get(turn) ?? ''}${event.text}`.slice(-DOING_CHARS_MAX));
      return [];
    case 'tool':
      seen.doing.set(turn, `⚙ ${event.name} `);
      return [];
    case 'denied':
      return [`    ${paint.warn('⊘ refused tool')} ${oneLine(event.name, 60)} ${paint.dim(where(turn, seen))}`];
    case 'waiting': {
      const seconds = event.forMs > 0 ? ` ${Math.ceil(event.forMs / 1000)} s` : '';
      const before = seen.waits.get(turn);
      if (before?.reason === event.reason && Date.now() - before.at < REPEAT_AFTER_MS) {
        seen.doing.set(turn, `waits${seconds}: ${event.reason}`);
        return [];
      }
      seen.waits.set(turn, { reason: event.reason, at: Date.now() });
      return [`    ${paint.warn(`… waits${seconds}`)} ${where(turn, seen)}: ${oneLine(event.reason, 200)}`];
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
]);

/**
 * The entries whose reason another line gives: an attempt that stopped the cast, because the cast stops with its reason, and
 * the last stop of the cast itself, because the closing lines give it. With `json` there are no closing lines.
 */
function toldElsewhere(entries: readonly Entry[], json: boolean): ReadonlySet<Entry> {
  const found = new Set<Entry>();
  for (const [index, { fact }] of entries.entries()) {
    if (!isStop(fact)) continue;
    const attempt = entries.slice(0, index).findLast((entry) => ENDS.has(entry.fact.kind));
    const why = attempt ? reasonIn(attempt.fact) : null;
    if (attempt && why !== null && fact.reason.includes(why)) found.add(attempt);
  }
  const last = entries.findLast(({ fact }) => isStop(fact));
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

/** What an entry is worth telling. `isTold` leaves out a reason that another line gives. */
function told(entry: Entry, seen: Seen, paint: Paint, isTold = false): string[] {
  fold(seen.view, entry);
  const { fact } = entry;
  const why = (text: string, max?: number) => (isTold ? '' : `: ${oneLine(text, max)}`);
  switch (fact.kind) {
    case 'attempt.started': {
      seen.doing.delete(fact.turn);
      return [
        `  ${paint.dim('▸')} ${where(fact.turn, seen)}${fact.attempt > 1 ? paint.warn(` attempt ${fact.attempt}`) : ''}`,
      ];
    }
    case 'turn.accepted': {
      const { satisfied, payload } = fact.handoff;
      const mark = satisfied === false ? paint.warn('✗ not satisfied') : paint.good('✓ accepted');
      const items =
        typeof payload === 'object' && payload !== null && 'workItems' in payload ? payload.workItems : null;
      const made = Array.isArray(items) && items.length > 0 ? paint.dim(` ${counted(items.length, 'item')}`) : '';
      const cut = fact.truncated ? paint.warn(' (output cut at its limit)') : '';
      const idle = changedNothing(fact, seen) ? paint.warn(' changed no file') : '';
      const line = `  ${mark} ${where(fact.turn, seen)}${cut}${made}${idle}${by(fact.agent, paint)}`;
      const lines = [line, ...red(fact.checks, paint), ...beside(fact, seen, paint), ...warned(fact.agent, paint)];
      seen.doing.delete(fact.turn);
      return lines;
    }
    case 'attempt.refused': {
      const { reason } = shownRefusal(fact);
      const next = fact.repair && !fact.loop ? paint.dim(' (one repair turn)') : '';
      const mark = fact.loop ? paint.warn('… goes on') : paint.bad('✗ refused');
      const line = `  ${mark} ${where(fact.turn, seen)}${why(reason)}${next}`;
      return [line, ...beside(fact, seen, paint), ...warned(fact.agent, paint)];
    }
    case 'attempt.failed': {
      // What comes next is in the reason already where there is more to say than that.
      const next = fact.again && !fact.isUnknown && fact.cause === undefined ? paint.dim(' (tried once more)') : '';
      return [`  ${paint.bad('✗ failed')} ${where(fact.turn, seen)}${why(fact.reason)}${next}`];
    }
    case 'attempt.lost':
      return [`  ${paint.warn('↻ lost')} ${where(fact.turn, seen)}: ${oneLine(fact.reason)}; it runs again`];
    case 'turn.blocked':
      return [
        `  ${paint.bad('✗ blocked')} ${where(fact.turn, seen)}: ${fact.code}${why(fact.reason)}`,
        ...beside(fact, seen, paint),
      ];
    case 'turn.reported': {
      const mark = { continue: '… goes on', ask: '? asks', approval: '? asks permission' }[fact.outcome];
      const line = `  ${paint.warn(mark)} ${where(fact.turn, seen)}: ${oneLine(fact.note, 200)}`;
      return [line, ...beside(fact, seen, paint), ...warned(fact.agent, paint)];
    }
    case 'turn.answered':
      return [`  ${paint.dim('↳')} ${where(fact.turn, seen)}: ${oneLine(fact.text, 100)}`];
    case 'report.noted':
      return (fact.warnings ?? []).map((warning) => paint.warn(`    ! ${oneLine(warning, 200)}`));
    case 'context.rejected':
      return [`    ${paint.warn('⊘ not written')} ${oneLine(fact.section, 60)}: ${fact.code}`];
    case 'turn.asked':
      return [`  ${paint.warn('? your turn')} ${where(fact.turn, seen)}`];
    case 'turn.held':
      return [`  ${paint.warn('… put off')} ${where(fact.turn, seen)}: ${oneLine(fact.reason)}`];
    case 'lanes.held':
      return [`  ${paint.warn('… put off')} ${oneLine(fact.reason)}`];
    case 'item.parked':
      return [`  ${paint.warn('‖ parked')} ${oneLine(fact.item.label, 60)}: ${oneLine(fact.note, 100)}`];
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
      const lines = reworked(fact, seen, paint);
      if (fact.settles) forgetItem(seen.rounds, fact.settles);
      return lines;
    }
    case 'edge.spent': {
      const rejected = seen.rejected.get(fact.key) ?? fact.reason;
      return [`  ${paint.warn('↺ not sent back again')} ${name(fact.to, seen)}: ${oneLine(rejected, 100)}`];
    }
    case 'edge.extended':
      extendRound(seen, fact.key, fact.more);
      return [];
    case 'exit.taken':
      if (fact.settles) forgetItem(seen.rounds, fact.settles);
      return fact.empty ? [paint.warn('  ! nothing was planned: the list of work items is empty')] : [];
    case 'cursor.reset':
      for (const loop of seen.view.cast?.rules.graph.loops ?? [])
        if (loop.id === fact.loop) forgetItems(seen.rounds, loop);
      return [];
    case 'cast.recast':
      if (fact.extends) extendRound(seen, fact.extends.key, fact.extends.by);
      return [];
    case 'merge.refused':
      return [`  ${paint.warn('↺ not merged')} ${where(fact.turn, seen)}: ${oneLine(fact.reason, 100)}`];
    case 'budget.warned':
      return [paint.warn(`  ! ${fact.percent} % of the token budget is used`)];
    case 'cast.completed':
      return [paint.good('completed')];
    case 'cast.failed': {
      const failed = paint.bad(isTold ? 'failed' : `failed: ${fact.code}: ${oneLine(fact.reason)}`);
      const rejected = seen.rejected.get(String(fact.details.key));
      if (fact.code !== 'EDGE_BUDGET_EXHAUSTED' || rejected === undefined) return [failed];
      const target = name(String(fact.details.to), seen);
      return [`  ${paint.warn('↺ not sent back again')} ${target}: ${oneLine(rejected, 100)}`, failed];
    }
    case 'cast.waiting':
      return [paint.warn(`waiting${why(fact.reason)}`)];
    case 'cast.aborted':
    case 'cast.paused':
      return [paint.warn(`${fact.kind.slice(5)}: ${oneLine(fact.reason)}`)];
    default:
      return [];
  }
}

/** Its edge gets its traversals again. */
function forgetParked({ rounds, view }: Seen, task: string): void {
  const key = view.cast?.parked?.[task]?.edge.key;
  if (key !== undefined) delete rounds.traversals[key];
}

function extendRound({ rounds: { extended } }: Seen, key: string, more: number): void {
  extended[key] = (extended[key] ?? 0) + more;
}

/** An edge sends an item back with a reason. What is over is not sent back, whatever the condition of its edge. */
function reworked(fact: Extract<Fact, { kind: 'edge.taken' }>, seen: Seen, paint: Paint): string[] {
  const { from, to, when, item, settles } = fact;
  if (when !== 'not_satisfied' || settles !== undefined) return [];
  const key = edgeKey(from, to, item);
  const { traversals, extended } = seen.rounds;
  const round = (traversals[key] ?? 0) + 1;
  traversals[key] = round;
  const edges = seen.view.cast?.rules.graph.sockets[from]?.edges ?? [];
  const limit = edges.find((edge) => edge.when === when && edge.to === to)?.maxTraversals ?? null;
  const allowed = limit === null ? '' : ` of ${limit + (extended[key] ?? 0)}`;
  const reason = oneLine(seen.rejected.get(key) ?? '', 100);
  return [`  ${paint.warn(`↺ rework ${round}${allowed}`)} ${name(to, seen)}: ${reason}`];
}

/** The model that answered, where it said so. */
function by(agent: AgentNote | undefined, paint: Paint): string {
  if (!agent?.model) return '';
  return paint.dim(` · ${oneLine(`${agent.runner ?? ''} ${agent.model}`, 60)}`);
}

/** Whether a turn that may change files changed none. */
function changedNothing({ turn, touched = {} }: { turn: number; touched?: Touched }, { view }: Seen): boolean {
  const { cast, turns } = view;
  const socket = turns.get(turn)?.socket;
  if (!cast || socket === undefined || Object.keys(touched).length > 0) return false;
  return hasOwnPaths(cast.rules, socket);
}

/** The files that changed while it ran, where whose change it was cannot be told. */
function beside({ turn, touched }: { turn: number; touched?: Touched }, { view }: Seen, paint: Paint): string[] {
  const { cast, turns } = view;
  const told = cast && toldOfChanges(cast, turns.get(turn)?.socket ?? '', touched);
  return told ? [paint.warn(`    ! ${oneLine(told, 300)}`)] : [];
}

/** The checks that failed after the turn. */
function red(checks: readonly TurnCheck[] = [], paint: Paint): string[] {
  const failed = checks.filter(({ ok }) => !ok);
  return failed.map(({ name, found }) => paint.warn(`    ! check ${oneLine(name, 60)} failed: ${oneLine(found, 200)}`));
}

function warned(agent: AgentNote | undefined, paint: Paint): string[] {
  return (agent?.warnings ?? []).map((warning) => paint.warn(`    ! ${oneLine(warning, 200)}`));
}

function name(socket: string, { view }: Seen): string {
  const rules = view.cast?.rules;
  const id = rules?.graph.sockets[socket]?.materia ?? '';
  return `${socket} ${oneLine(rules?.materia[id]?.label ?? id, 60)}`.trim();
}

function where(turn: number, seen: Seen): string {
  const known = seen.view.turns.get(turn);
  if (!known) return `turn ${turn}`;
  const { socket, item } = known;
  return item
    ? `${name(socket, seen)} · ${item.index + 1}/${item.total} ${oneLine(item.label, 60)}`
    : name(socket, seen);
}

/** How long somebody has been looking, and what the cast used so far. */
function soFar({ started, view }: Seen): string {
  const seconds = Math.floor((Date.now() - started) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} · ${usedText(view.cast?.usage ?? NOTHING)}`;
}

function statusLine(seen: Seen, paint: Paint, columns: number): string {
  const at = Object.values(seen.view.cast?.turns ?? {})
    .map(({ id }) => id)
    .map((turn) => [where(turn, seen), seen.doing.get(turn) ?? ''].filter((part) => part.trim() !== '').join(': '))
    .join(' | ');
  return paint.dim(oneLine(`${soFar(seen)} · ${at}`, columns - 1));
}

const NOTHING: Usage = { input: 0, output: 0, cost: 0 };

function usedText({ input, output, cost, ...how }: Usage): string {
  const tokens = `${input + output} tokens`;
  return cost > 0 ? `${tokens} · ${costText({ cost, ...how })}` : tokens;
}
