// What changed from one text to the next, word by word. What both begin and end with is set aside first, so that the
// comparison of the rest stays small.
export type Piece = { readonly sort: 'same' | 'added' | 'removed'; readonly text: string };

/** A larger comparison is made by lines. */
const CELLS_MAX = 4_000_000;

export function wordDiff(before: string, after: string): readonly Piece[] {
  const byWord = compared(wordsOf(before), wordsOf(after));
  return byWord ?? compared(linesOf(before), linesOf(after)) ?? whole(before, after);
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function whole(before: string, after: string): readonly Piece[] {
  return joined([
    { sort: 'removed', text: before },
    { sort: 'added', text: after },
  ]);
}

function compared(a: readonly string[], b: readonly string[]): readonly Piece[] | null {
  let [head, tail] = [0, 0];
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  if (x.length * y.length > CELLS_MAX) return null;
  const same = (text: readonly string[]): Piece => ({ sort: 'same', text: text.join('') });
  return joined([same(a.slice(0, head)), ...middle(x, y), same(a.slice(a.length - tail))]);
}

/** The longest common subsequence of the words between the common ends. */
function middle(a: readonly string[], b: readonly string[]): readonly Piece[] {
  const wide = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * wide);
  const at = (i: number, j: number): number => lengths[i * wide + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * wide + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      pieces.push({ sort: 'same', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) {
      pieces.push({ sort: 'removed', text: a[i] ?? '' });
      i += 1;
    } else {
      pieces.push({ sort: 'added', text: b[j] ?? '' });
      j += 1;
    }
  }
  return pieces;
}

/** Neighbours of one sort are one piece; a space between two changes of one sort belongs to them. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    if (piece.text === '') continue;
    const last = all.at(-1);
    if (last?.sort === piece.sort) all[all.length - 1] = { sort: last.sort, text: last.text + piece.text };
    else all.push(piece);
  }
  return all;
}
