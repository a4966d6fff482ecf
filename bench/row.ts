// One line of a result, with its target where it has one.
export type Row = { readonly what: string; readonly value: string; readonly target?: string; readonly met?: boolean };

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : (high + (sorted[middle - 1] ?? high)) / 2;
}

export function print(title: string, rows: readonly Row[]): void {
  console.log(`\n### ${title}\n\n| what | measured | target | met |\n|---|---|---|---|`);
  for (const { what, value, target, met } of rows) {
    console.log(`| ${what} | ${value} | ${target ?? ''} | ${met === undefined ? '' : met ? 'yes' : '**no**'} |`);
  }
}
