// Rows in columns, for people. Every cell is one line; the last column takes what room it needs.
import { oneLine } from './safe-text.ts';

const CELL_CHARS_MAX = 60;

export function table(rows: readonly (readonly string[])[], head: readonly string[]): string[] {
  const all = [head, ...rows].map((row) => row.map((cell) => oneLine(cell, CELL_CHARS_MAX)));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
