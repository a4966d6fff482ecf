// Live progress of a cast. In a terminal each step under way is a line at the bottom, which says what its agent is at; when
// the step ends, its line stays above, with what it took. Where the output is no terminal there are plain lines.
import { costText, durationText, tokensText } from '../app/views/in-words.ts';
import type { LiveEvent } from '../engine/ports.ts';
import { countItems } from '../kernel/cast/summary.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Call } from './command.ts';
import { isSmart, paintFor } from './paint.ts';
import { entryLines, listener, liveLines, type ProgressState, shownElsewhere, stepAt } from './progress-lines.ts';
import { movingLine } from './step-line.ts';
import { cutTo, safe, widthOf, wrap } from './terminal-text.ts';

export type ProgressDisplay = {
  /** Learns from what happened before, without telling it again. */
  learn(entries: readonly Entry[]): void;
  take(entries: readonly Entry[]): void;
  /** Shows what an agent does right now. */
  hear(turn: number, event: LiveEvent): void;
  /** Says something in between, without tearing the moving lines. */
  say(line: string): void;
  stop(): void;
};

const REDRAW_MS = 500;

/** The id of the cast, and after it `says`, is printed once there is an entry of the cast: before that there is no cast. */
export function progressFor(
  call: Call,
  cast: string,
  says: readonly string[] = [],
  interrupt = 'Ctrl-C pauses',
): ProgressDisplay {
  const screen = process.stderr;
  const paint = paintFor(screen, call.env);
  const region = regionOn(screen, call.env, !call.json);
  const seen = listener({ paint, columns: region.columns, isVerbose: call.values?.verbose === true });
  const redraw = () => region.draw(moving(seen, region.columns() ?? 80, interrupt));
  let isNamed = false;
  const nameCast = (entries: readonly Entry[]) => {
    if (isNamed || entries.length === 0) return;
    isNamed = true;
    region.print([`${paint.dim('cast')} ${cast}`, ...says.map(safe)]);
  };
  const timer = region.isLive ? setInterval(redraw, REDRAW_MS) : null;
  timer?.unref();
  return {
    learn(entries) {
      nameCast(entries);
      for (const entry of entries) entryLines(entry, seen);
    },
    take(entries) {
      nameCast(entries);
      // Who joins later sees for how long the cast runs, and not for how long it is watched.
      const start = entries.find(({ fact }) => fact.kind === 'cast.started');
      if (start) seen.startedAt = Date.parse(start.at);
      const elsewhere = shownElsewhere(entries, call.json);
      for (const entry of entries) region.print(entryLines(entry, seen, elsewhere.has(entry), region.isLive));
      redraw();
    },
    hear(turn, event) {
      region.print(liveLines(turn, event, seen));
      if (event.kind === 'denied' || event.kind === 'waiting') redraw();
    },
    say: (line) => region.print(safe(line).split('\n')),
    stop() {
      if (timer) clearInterval(timer);
      region.clear();
    },
  };
}

/** A line for each turn under way, and one for all of them. */
function moving(seen: ProgressState, columns: number, interrupt: string): readonly string[] {
  const { view, paint, now } = seen;
  const cast = view.cast;
  if (!cast) return [];
  const under = Object.values(cast.turns).filter(({ phase }) => LABELS[phase] !== undefined);
  const steps = under.map(({ id, phase, attempt }) => {
    const since = view.turns.get(id)?.attempts.get(attempt)?.startedAt;
    const figures = since === undefined ? '' : durationText(now() - Date.parse(since));
    const doing = phase === 'running' ? seen.doingOf(id) : (LABELS[phase] ?? '');
    return movingLine({ ...stepAt(id, seen), mark: paint.bold('▸'), doing, figures }, columns, paint);
  });
  const items = countItems(view.items);
  const { input, output } = cast.usage;
  const all = [
    durationText(now() - seen.startedAt),
    ...(items ? [`${items.done} of ${items.total} items`] : []),
    ...(input + output > 0 ? [tokensText(input + output)] : []),
    ...(cast.usage.cost > 0 ? [costText(cast.usage)] : []),
  ].join(' · ');
  const hint = ` · ${interrupt}`;
  const line = widthOf(all) + widthOf(hint) + 3 < columns ? all + hint : all;
  return [...steps, paint.dim(cutTo(`  ${line}`, columns - 1))];
}

/** The phases in which something goes on. A turn that waits for a person or a lock has a line of its own. */
const LABELS: Readonly<Partial<Record<string, string>>> = {
  running: '',
  awaiting: 'it waits',
  verifying: 'its changes are checked',
  merging: 'its work is merged',
  parking: 'its work is put by',
};

type Region = {
  readonly isLive: boolean;
  /** How wide a line may be; null where nothing is cut or wrapped. */
  columns(): number | null;
  /** Lines that stay. */
  print(lines: readonly string[]): void;
  /** The lines at the bottom, in place of those before. */
  draw(lines: readonly string[]): void;
  clear(): void;
};

const COLUMNS_DEFAULT = 80;
const ROWS_DEFAULT = 24;
/** Continued lines begin below the text behind the mark. */
const HANG = 4;

function regionOn(screen: NodeJS.WriteStream, env: NodeJS.ProcessEnv, mayMove: boolean): Region {
  const isTerminal = isSmart(screen, env);
  const isLive = mayMove && isTerminal;
  const columns = () => (isTerminal ? screen.columns || COLUMNS_DEFAULT : null);
  let drawn: readonly string[] = [];
  const away = (): string => {
    if (drawn.length === 0) return '';
    const width = screen.columns || COLUMNS_DEFAULT;
    // A terminal that was made narrower has wrapped the old lines.
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / width)), 0);
    return `\r${rows > 1 ? `\x1b[${rows - 1}A` : ''}\x1b[J`;
  };
  const show = (stays: readonly string[], moves: readonly string[]): void => {
    const text = stays.map((line) => `${line}\n`).join('');
    screen.write(`${away()}${text}${moves.join('\n')}`);
    drawn = moves;
  };
  return {
    isLive,
    columns,
    print(lines) {
      const width = columns();
      const shown = width === null ? lines : lines.flatMap((line) => wrap(line, width, HANG));
      if (shown.length > 0) show(shown, drawn);
    },
    draw(lines) {
      if (!isLive) return;
      const [rows, width] = [Math.max(1, (screen.rows || ROWS_DEFAULT) - 1), columns() ?? COLUMNS_DEFAULT];
      const fit = lines.length <= rows ? lines : [...lines.slice(0, rows - 1), ...lines.slice(-1)];
      const isSame = fit.length === drawn.length && fit.every((line, at) => line === drawn[at]);
      if (!isSame && fit.every((line) => widthOf(line) < width)) show([], fit);
    },
    clear() {
      if (drawn.length > 0) screen.write(away());
      drawn = [];
    },
  };
}
