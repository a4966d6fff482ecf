// Live progress: where in the graph, which item of how many, what round of rework, how much was used. Lines where the
// output is no terminal; in a terminal the last line moves.
import type { Change } from '../engine/door.ts';
import type { LiveEvent } from '../engine/ports.ts';
import type { AgentNote, Entry, Touched } from '../kernel/fact.ts';
import type { Rules } from '../kernel/graph/config.ts';
import { toldOfChanges } from '../kernel/graph/write-scope.ts';
import type { Item, Usage } from '../kernel/state.ts';
import { toldRefusal } from '../kernel/turn/loop-state.ts';
import type { Call } from './command.ts';
import { costText } from './cost-text.ts';
import { counted } from './counted.ts';
import { oneLine } from './safe-text.ts';

export type Progress = {
  /** Learns from what happened before, without telling it again. */
  learn(entries: readonly Entry[]): void;
  take(change: Change): void;
  /** Shows what an agent does right now. */
  hear(turn: number, event: LiveEvent): void;
  /** Says something in between, without tearing the moving line. */
  say(line: string): void;
  stop(): void;
};

type Seen = {
  /** By what rules the cast runs and where; null before its beginning was heard of. */
  cast: { readonly rules: Rules; readonly root?: string } | null;
  labels: Record<string, string>;
  turns: Map<number, { socket: string; item: Item | null; since: number }>;
  rework: Map<string, number>;
  used: Usage;
  /** What each turn is doing, as far as it was heard. */
  doing: Map<number, string>;
  readonly started: number;
};

export function progressFor(call: Call, cast: string): Progress {
  const screen = process.stderr;
  // A dumb terminal is one that shows escape sequences instead of following them.
  const isScreen = screen.isTTY === true && call.env.TERM !== 'dumb';
  const live = isScreen && !call.json;
  const paint = painter(isScreen && !call.env.NO_COLOR);
  const started = Date.now();
  const seen: Seen = {
    cast: null,
    labels: {},
    turns: new Map(),
    rework: new Map(),
    used: NOTHING,
    doing: new Map(),
    started,
  };
  const print = (line: string) => screen.write(`${live ? '\r\x1b[2K' : ''}${line}\n`);
  const redraw = () => {
    if (live) screen.write(`\r\x1b[2K${statusLine(seen, paint, screen.columns || 80)}`);
  };
  // A moving line says it all the time; lines that stay say it where something ends.
  const toldWith = (entry: Entry) => {
    const lines = told(entry, seen, paint);
    const [line, ...rest] = lines;
    if (live || line === undefined || !ENDS.has(entry.fact.kind)) return lines;
    return [`${line}${paint.dim(` · ${soFar(seen)}`)}`, ...rest];
  };
  print(`${paint.dim('cast')} ${cast}`);
  const timer = live ? setInterval(redraw, 500) : null;
  timer?.unref();
  return {
    learn(entries) {
      for (const entry of entries) told(entry, seen, paint);
    },
    take({ entries }) {
      for (const entry of entries) for (const line of toldWith(entry)) print(line);
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

/** What an entry is worth telling. */
function told({ fact }: Entry, seen: Seen, paint: Paint): string[] {
  switch (fact.kind) {
    case 'cast.started':
      seen.cast = fact;
      for (const [id, socket] of Object.entries(fact.rules.graph.sockets)) {
        seen.labels[id] = oneLine(fact.rules.materia[socket.materia]?.label ?? socket.materia, 60);
      }
      return [];
    case 'turn.started':
      seen.turns.set(fact.turn, { socket: fact.socket, item: fact.item, since: Date.now() });
      return [];
    case 'attempt.started':
      seen.doing.delete(fact.turn);
      return [
        `  ${paint.dim('▸')} ${where(fact.turn, seen)}${fact.attempt > 1 ? paint.warn(` attempt ${fact.attempt}`) : ''}`,
      ];
    case 'turn.accepted': {
      seen.used = more(seen.used, fact.usage);
      const { satisfied, payload } = fact.handoff;
      const mark = satisfied === false ? paint.warn('✗ not satisfied') : paint.good('✓ accepted');
      const items =
        typeof payload === 'object' && payload !== null && 'workItems' in payload ? payload.workItems : null;
      const made = Array.isArray(items) && items.length > 0 ? paint.dim(` ${counted(items.length, 'item')}`) : '';
      const cut = fact.truncated ? paint.warn(' (output cut at its limit)') : '';
      const line = `  ${mark} ${where(fact.turn, seen)}${cut}${made}${by(fact.agent, paint)}`;
      const lines = [line, ...beside(fact, seen, paint), ...warned(fact.agent, paint)];
      seen.turns.delete(fact.turn);
      seen.doing.delete(fact.turn);
      return lines;
    }
    case 'attempt.refused': {
      seen.used = more(seen.used, fact.usage);
      const { reason } = toldRefusal(fact);
      const next = fact.repair && !fact.loop ? paint.dim(' (one repair turn)') : '';
      const mark = fact.loop ? paint.warn('… goes on') : paint.bad('✗ refused');
      const line = `  ${mark} ${where(fact.turn, seen)}: ${oneLine(reason)}${next}`;
      return [line, ...beside(fact, seen, paint), ...warned(fact.agent, paint)];
    }
    case 'attempt.failed': {
      seen.used = more(seen.used, fact.usage);
      // What comes next is in the reason already where there is more to say than that.
      const next = fact.again && !fact.isUnknown && fact.cause === undefined ? paint.dim(' (tried once more)') : '';
      return [`  ${paint.bad('✗ failed')} ${where(fact.turn, seen)}: ${oneLine(fact.reason)}${next}`];
    }
    case 'attempt.spent':
      seen.used = more(seen.used, fact.usage);
      return [];
    case 'attempt.lost':
      return [`  ${paint.warn('↻ lost')} ${where(fact.turn, seen)}: ${oneLine(fact.reason)}; it runs again`];
    case 'turn.blocked':
      seen.used = more(seen.used, fact.usage);
      return [
        `  ${paint.bad('✗ blocked')} ${where(fact.turn, seen)}: ${fact.code}: ${oneLine(fact.reason)}`,
        ...beside(fact, seen, paint),
      ];
    case 'turn.reported': {
      seen.used = more(seen.used, fact.usage);
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
    case 'lane.ended':
      seen.turns.delete(fact.turn);
      return [];
    case 'rework.noted': {
      const key = `${fact.note.target}@${fact.note.item ?? ''}`;
      const round = (seen.rework.get(key) ?? 0) + 1;
      seen.rework.set(key, round);
      return [
        `  ${paint.warn(`↺ rework ${round}`)} ${name(fact.note.target, seen)}: ${oneLine(fact.note.reason, 100)}`,
      ];
    }
    case 'budget.warned':
      return [paint.warn(`  ! ${fact.percent} % of the token budget is used`)];
    case 'cast.completed':
      return [paint.good('completed')];
    case 'cast.failed':
      return [paint.bad(`failed: ${fact.code}: ${oneLine(fact.reason)}`)];
    case 'cast.waiting':
      return [paint.warn(`waiting: ${oneLine(fact.reason)}`)];
    case 'cast.aborted':
    case 'cast.paused':
      return [paint.warn(`${fact.kind.slice(5)}: ${oneLine(fact.reason)}`)];
    default:
      return [];
  }
}

/** The model that answered, where it said so. */
function by(agent: AgentNote | undefined, paint: Paint): string {
  if (!agent?.model) return '';
  return paint.dim(` · ${oneLine(`${agent.runner ?? ''} ${agent.model}`, 60)}`);
}

/** The files that changed while it ran, where whose change it was cannot be told. */
function beside({ turn, touched }: { turn: number; touched?: Touched }, { cast, turns }: Seen, paint: Paint): string[] {
  const told = cast && toldOfChanges(cast, turns.get(turn)?.socket ?? '', touched);
  return told ? [paint.warn(`    ! ${oneLine(told, 300)}`)] : [];
}

function warned(agent: AgentNote | undefined, paint: Paint): string[] {
  return (agent?.warnings ?? []).map((warning) => paint.warn(`    ! ${oneLine(warning, 200)}`));
}

function name(socket: string, seen: Seen): string {
  return `${socket} ${seen.labels[socket] ?? ''}`.trim();
}

function where(turn: number, seen: Seen): string {
  const known = seen.turns.get(turn);
  if (!known) return `turn ${turn}`;
  const { socket, item } = known;
  return item
    ? `${name(socket, seen)} · ${item.index + 1}/${item.total} ${oneLine(item.label, 60)}`
    : name(socket, seen);
}

/** How long it takes and what it used since somebody looks. */
function soFar({ started, used }: Seen): string {
  const seconds = Math.floor((Date.now() - started) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} · ${usedText(used)}`;
}

function statusLine(seen: Seen, paint: Paint, columns: number): string {
  const at = [...seen.turns.keys()]
    .map((turn) => [where(turn, seen), seen.doing.get(turn) ?? ''].filter((part) => part.trim() !== '').join(': '))
    .join(' | ');
  return paint.dim(oneLine(`${soFar(seen)} · ${at}`, columns - 1));
}

const NOTHING: Usage = { input: 0, output: 0, cost: 0 };

function more(used: Usage, { input, output, cost, estimated }: Usage): Usage {
  return {
    ...{ input: used.input + input, output: used.output + output, cost: used.cost + cost },
    ...(used.estimated || estimated ? { estimated: true } : {}),
  };
}

function usedText({ input, output, cost, ...how }: Usage): string {
  const tokens = `${input + output} tokens`;
  return cost > 0 ? `${tokens} · ${costText({ cost, ...how })}` : tokens;
}
