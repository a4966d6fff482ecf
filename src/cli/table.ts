// Tables: a head, and rows whose cells begin below it. In a terminal they fit its width.
import { paintFor, Ready, statusColour } from './paint.ts';
import { oneLine } from './safe-text.ts';
import { padTo, widthOf } from './text-width.ts';

const CELL_CHARS_MAX = 60;
const CELL_CHARS_MIN = 8;
const GAP = 2;
const STATUS_COLUMNS = ['status', 'outcome', 'result'];

/** `whole` names the columns that are never cut. */
export function table(
  rows: readonly (readonly string[])[],
  head: readonly string[],
  whole: readonly string[] = [],
  columns = process.stdout.columns,
): Ready[] {
  const paint = paintFor(process.stdout);
  const isWhole = head.map((name) => whole.includes(name));
  const cells = [head, ...rows].map((row) =>
    head.map((_, at) => oneLine(row[at] ?? '', isWhole[at] ? undefined : CELL_CHARS_MAX)),
  );
  const needed = head.map((_, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ''))));
  const widths = fitted(needed, isWhole, columns);
  return cells.map((row, index) => {
    const shown = row.map((cell, at) => {
      const width = widths[at] ?? 0;
      const text = isWhole[at] ? cell : oneLine(cell, width);
      const padded = at === row.length - 1 ? text : padTo(text, width);
      if (index === 0) return paint.dim(padded);
      return STATUS_COLUMNS.includes(head[at] ?? '') ? statusColour(padded, paint) : padded;
    });
    return new Ready(shown.join(' '.repeat(GAP)).trimEnd());
  });
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
