// How hard an agent thinks. Our levels are the widest list; a program that lacks one gets its nearest, and says so.
const LEVELS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export type Thinking = { readonly level: string | null; readonly warnings: readonly string[] };

/** The program's level for ours. Of two that are equally near the lower one is taken, because it costs less. */
export function nearestLevel(program: string, wanted: string | null, supported: readonly string[]): Thinking {
  if (wanted === null || supported.includes(wanted)) return { level: wanted, warnings: [] };
  const place = LEVELS.indexOf(wanted as (typeof LEVELS)[number]);
  if (place < 0) return { level: null, warnings: [`${wanted} is no level of thinking; ${program} uses its own`] };
  const distance = (level: string) => Math.abs(LEVELS.indexOf(level as (typeof LEVELS)[number]) - place);
  let nearest: string | null = null;
  for (const level of LEVELS) {
    if (supported.includes(level) && (nearest === null || distance(level) < distance(nearest))) nearest = level;
  }
  return { level: nearest, warnings: [`${program} cannot think ${wanted}; it thinks ${nearest} instead`] };
}
