// What changes between two texts, line by line, in the form of a patch.
import type { FilePatch } from '../parts/patches.ts';

const AROUND = 3;
/** Longer middles are shown as removed and added whole. */
const COMPARED_MAX = 4_000_000;

export function patchOf(path: string, before: string | null, after: string): FilePatch {
  const next = linesOf(after);
  if (before === null) return { path, what: 'new file', lines: next.map((line) => `+${line}`) };
  return { path, what: 'changed', lines: hunks(compared(linesOf(before), next)) };
}

function linesOf(text: string): readonly string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** Each line with its sign in front. */
function compared(a: readonly string[], b: readonly string[]): readonly string[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return [
    ...a.slice(0, start).map((line) => ` ${line}`),
    ...middle(left, right),
    ...a.slice(a.length - end).map((line) => ` ${line}`),
  ];
}

function middle(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length * b.length > COMPARED_MAX) return [...a.map((line) => `-${line}`), ...b.map((line) => `+${line}`)];
  const width = b.length + 1;
  const same = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      same[i * width + j] =
        a[i] === b[j]
          ? (same[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(same[(i + 1) * width + j] ?? 0, same[i * width + j + 1] ?? 0);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(` ${a[i]}`);
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || (same[(i + 1) * width + j] ?? 0) >= (same[i * width + j + 1] ?? 0))) {
      lines.push(`-${a[i]}`);
      i += 1;
    } else {
      lines.push(`+${b[j]}`);
      j += 1;
    }
  }
  return lines;
}

/** The changed lines with a few around them. */
function hunks(lines: readonly string[]): readonly string[] {
  const shown = lines.map(() => false);
  for (const [at, line] of lines.entries())
    if (!line.startsWith(' '))
      for (let near = Math.max(0, at - AROUND); near <= Math.min(lines.length - 1, at + AROUND); near++)
        shown[near] = true;
  const found: string[] = [];
  let [left, right] = [1, 1];
  for (const [at, line] of lines.entries()) {
    if (shown[at]) {
      if (!shown[at - 1]) {
        let end = at;
        while (shown[end]) end += 1;
        const part = lines.slice(at, end);
        const count = (sign: string) => part.filter((each) => !each.startsWith(sign)).length;
        found.push(`@@ -${left},${count('+')} +${right},${count('-')} @@`);
      }
      found.push(line);
    }
    if (!line.startsWith('+')) left += 1;
    if (!line.startsWith('-')) right += 1;
  }
  return found;
}
