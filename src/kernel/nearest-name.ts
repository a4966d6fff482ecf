// The known name that a misspelt one most likely stands for.

/** Names longer than this are not compared: nobody mistypes them, and comparing them would take long. */
const COMPARED_CHARS_MAX = 40;

/** The known name with the fewest letters changed, or null when none is near enough to be meant. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > COMPARED_CHARS_MAX) return null;
  const letters = fold(name);
  const changesMax = Math.max(1, Math.floor(letters.length / 3));
  const near = known
    .map((candidate) => ({ candidate, changes: changesBetween(letters, fold(candidate)) }))
    .filter(({ changes }) => changes <= changesMax)
    .sort((one, other) => one.changes - other.changes);
  return near[0]?.candidate ?? null;
}

/** Case and the marks between words are what is mistaken most. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[-_ .]/g, '');
}

/** How many letters must be put in, taken out, replaced or swapped with their neighbour to turn one name into the other. */
function changesBetween(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 1; at <= from.length; at++) {
    const next = [at];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (from[at - 1] === to[column - 1] ? 0 : 1);
      const isSwapped = at > 1 && from[at - 1] === to[column - 2] && from[at - 2] === to[column - 1];
      const swapped = isSwapped ? (before[column - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
