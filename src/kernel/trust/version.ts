// Which of two semantic versions is higher. Build metadata does not count; a pre-release comes before its release.

/** Whether `version` is higher than `before`. What is no version is never higher. */
export function isHigher(version: string, before: string): boolean {
  const [a, b] = [partsOf(version), partsOf(before)];
  if (!a) return false;
  if (!b) return true;
  for (const [index, number] of a.core.entries()) {
    const other = b.core[index] ?? 0;
    if (number !== other) return number > other;
  }
  return comparePre(a.pre, b.pre) > 0;
}

/** Whether the first number of `version` is higher than that of `before`. What is no version is never higher. */
export function isMajorHigher(version: string, before: string): boolean {
  const [a, b] = [partsOf(version), partsOf(before)];
  return a !== null && (b === null || (a.core[0] ?? 0) > (b.core[0] ?? 0));
}

type Parts = { readonly core: readonly number[]; readonly pre: readonly string[] };

function partsOf(version: string): Parts | null {
  const [, core, pre] = /^(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(version) ?? [];
  if (core === undefined) return null;
  return { core: core.split('.').map(Number), pre: pre === undefined ? [] : pre.split('.') };
}

function comparePre(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const [one, other] = [a[index], b[index]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    if (one === other) continue;
    const numbers = [one, other].map((part) => (/^\d+$/.test(part) ? Number(part) : null));
    const [first = null, second = null] = numbers;
    if (first !== null && second !== null) return first - second;
    if (first !== null || second !== null) return first !== null ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return 0;
}
