// Rows in columns, for people. Every cell is one line, and a long one is cut, but not where it is to be said again whole.
import { oneLine } from './safe-text.ts';

const CELL_CHARS_MAX = 60;

/** `whole` names the columns that are never cut. */
export function table(
  rows: readonly (readonly string[])[],
  head: readonly string[],
  whole: readonly string[] = [],
): string[] {
  const maxOf = head.map((name) => (whole.includes(name) ? Number.POSITIVE_INFINITY : CELL_CHARS_MAX));
  const all = [head, ...rows].map((row) => row.map((cell, column) => oneLine(cell, maxOf[column])));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
