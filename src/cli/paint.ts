// Colours and tables, where a person looks at a terminal. Colours are left out where the terminal does not know them or the person
// refused them; tables fit its width.
import { oneLine, padTo, widthOf, wrap } from './terminal-text.ts';

export type Paint = Readonly<Record<'dim' | 'good' | 'bad' | 'warn' | 'bold', (text: string) => string>>;

/** A line that was made safe and laid out already: it is printed as it is, with its colours. */
export class Ready {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A line of text is made safe and is wrapped between words. */
export type ShownLine = string | Ready;

function painter(hasColour: boolean): Paint {
  const wrap = (code: number) => (text: string) => (hasColour && text !== '' ? `\x1b[${code}m${text}\x1b[0m` : text);
  return { dim: wrap(2), good: wrap(32), bad: wrap(31), warn: wrap(33), bold: wrap(1) };
}

type Screen = Pick<NodeJS.WriteStream, 'isTTY'>;

export function paintFor(screen: Screen, env: NodeJS.ProcessEnv = process.env): Paint {
  return painter(isSmart(screen, env) && !env.NO_COLOR);
}

/** A dumb terminal is one that shows escape sequences instead of following them. */
export function isSmart({ isTTY }: Screen, env: NodeJS.ProcessEnv = process.env): boolean {
  return isTTY === true && env.TERM !== 'dumb';
}

const STATUS_COLOURS: Readonly<Record<string, keyof Paint>> = {
  ...{ completed: 'good', done: 'good', passed: 'good', accepted: 'good', active: 'good', usable: 'good' },
  ...{ failed: 'bad', aborted: 'bad', crashed: 'bad', blocked: 'bad', refused: 'bad', FAILED: 'bad' },
  ...{
    waiting: 'warn',
    paused: 'warn',
    parked: 'warn',
    canceled: 'warn',
    skipped: 'warn',
    expired: 'warn',
    left: 'warn',
  },
  ...{ running: 'bold', in_progress: 'bold' },
};

/** A status in its colour: green is over and good, red is bad, yellow needs a person. */
export function statusColour(text: string, paint: Paint): string {
  const [word = ''] = text.trim().split(/[ ,(]/, 1);
  const colour = Object.hasOwn(STATUS_COLOURS, word) ? STATUS_COLOURS[word] : undefined;
  return colour === undefined ? text : paint[colour](text);
}

const CELL_CHARS_MAX = 60;
const CELL_CHARS_MIN = 8;
/** A column that may be cut is of use from this width on. */
const CELL_CHARS_USEFUL = 16;
const GAP = 2;
const INDENT = 4;
const STATUS_COLUMNS = ['status', 'outcome', 'result'];
/** A last column that says why or what to do is never cut. Where there is no room it goes on below itself. */
const REASON_COLUMNS = ['why', 'program, or what to do'];

/** `whole` names the columns that are never cut, `spare` those that a narrow terminal does without. */
export function table(
  rows: readonly (readonly string[])[],
  head: readonly string[],
  whole: readonly string[] = [],
  columns = process.stdout.columns,
  spare: readonly string[] = [],
): Ready[] {
  const paint = paintFor(process.stdout);
  const isReason = (at: number) => at === head.length - 1 && REASON_COLUMNS.includes(head[at] ?? '');
  const isWhole = head.map((name) => whole.includes(name));
  const cells = [head, ...rows].map((row) =>
    head.map((_, at) => oneLine(row[at] ?? '', isWhole[at] || isReason(at) ? undefined : CELL_CHARS_MAX)),
  );
  const needed = head.map((_, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ''))));
  const [first] = spare;
  if (first !== undefined && columns !== undefined && leastOf(needed, isWhole) > columns) {
    const without = (row: readonly string[]) => row.filter((_, at) => head[at] !== first);
    return table(rows.map(without), without(head), whole, columns, spare.slice(1));
  }
  const widths = fitted(needed, isWhole, columns);
  const begins = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP, 0);
  return cells.flatMap((row, index) => {
    const shown = row.map((cell, at) => {
      const width = widths[at] ?? 0;
      const text = isWhole[at] || isReason(at) ? cell : oneLine(cell, width);
      const padded = at === row.length - 1 ? text : padTo(text, width);
      if (index === 0) return paint.dim(padded);
      return STATUS_COLUMNS.includes(head[at] ?? '') ? statusColour(padded, paint) : padded;
    });
    const [before, last = ''] = [shown.slice(0, -1).map((cell) => `${cell}${' '.repeat(GAP)}`), shown.at(-1)];
    const lines = index > 0 && isReason(row.length - 1) ? below(before.join(''), last, begins, columns) : [];
    return lines.length > 0 ? lines : [new Ready(shown.join(' '.repeat(GAP)).trimEnd())];
  });
}

/** The rows of a reason that has too little room in its line; none where it fits. */
function below(before: string, reason: string, begins: number, columns = 0): Ready[] {
  if (columns === 0 || begins + widthOf(reason) <= columns) return [];
  const isNarrow = columns - begins < CELL_CHARS_USEFUL;
  const indent = isNarrow ? INDENT : begins;
  const pieces = wrap(reason, columns - indent).map((piece) => `${' '.repeat(indent)}${piece}`);
  const [first = '', ...more] = isNarrow ? [before.trimEnd(), ...pieces] : pieces;
  return [isNarrow ? first : `${before}${first.slice(indent)}`, ...more].map((line) => new Ready(line));
}

/** What the columns need at least to be of use. */
function leastOf(needed: readonly number[], isWhole: readonly boolean[]): number {
  return needed.reduce((sum, width, at) => {
    return sum + GAP + (isWhole[at] ? width : Math.min(width, CELL_CHARS_USEFUL));
  }, -GAP);
}

/** The widest columns give way first. Where even that does not help, the terminal has to wrap the rows. */
function fitted(needed: readonly number[], isWhole: readonly boolean[], columns: number | undefined): number[] {
  const widths = [...needed];
  if (columns === undefined) return widths;
  const isWide = (width: number, at: number) => !isWhole[at] && width > CELL_CHARS_MIN;
  for (;;) {
    const over = widths.reduce((sum, width) => sum + width + GAP, -GAP) - columns;
    const widest = Math.max(...widths.filter(isWide));
    if (over <= 0 || !Number.isFinite(widest)) return widths;
    const at = widths.findIndex((width, index) => width === widest && isWide(width, index));
    widths[at] = widest - 1;
  }
}
