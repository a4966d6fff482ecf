// Text for a terminal, in lines and in tables. Text of agents, files and utilities must not move the cursor, set colours, ring
// bells or turn the reading direction around.

// Control characters other than tab and newline, and the marks that override the direction of text.
const UNSAFE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** The text with every character that would act replaced by one that is seen. */
export function safe(text: string): string {
  return text.replace(UNSAFE, (char) => (char === '\n' || char === '\t' ? char : '\ufffd'));
}

/** The text on one line of at most `max` characters. */
export function oneLine(text: string, max = Number.POSITIVE_INFINITY): string {
  const line = safe(text).replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, Math.max(0, max - 1))}…`;
}

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
