// What the agents cost, by day, agent and model, as `usage.days` counts it.
import { type Answer, useLook } from '../workspace.ts';

export type UsageRow = {
  readonly day: string;
  readonly agent: string;
  readonly runner: string | null;
  readonly model: string | null;
  readonly input: number;
  readonly output: number;
  readonly cost: number;
  readonly attempts: number;
  readonly currency?: string;
};
export type Usage = { readonly rows: readonly UsageRow[] };

export function useUsage(): Answer<Usage> & { readonly refresh: () => void } {
  return useLook<Usage>('usage.days', {}, ['turn.accepted', 'attempt.']);
}

export const today = (): string => new Date().toISOString().slice(0, 10);

export function useCostToday(): { readonly amount: number; readonly currency: string } | null {
  const { details } = useUsage();
  if (!details) return null;
  const of = details.rows.filter(({ day }) => day === today());
  return { amount: of.reduce((sum, { cost }) => sum + cost, 0), currency: of[0]?.currency ?? 'USD' };
}

/** The last so many days, the oldest first, those without cost among them. */
export function costByDay(rows: readonly UsageRow[], days: number): readonly { day: string; cost: number }[] {
  const last = Date.parse(today());
  return Array.from({ length: days }, (_, n) => {
    const day = new Date(last - (days - 1 - n) * 86_400_000).toISOString().slice(0, 10);
    return { day, cost: sumOf(rows.filter((row) => row.day === day)) };
  });
}

/** The dearest first. */
export function costByModel(rows: readonly UsageRow[]): readonly { name: string; tokens: number; cost: number }[] {
  const names = Map.groupBy(rows, ({ runner, model }) => [runner, model].filter(Boolean).join(', ') || 'no model');
  return [...names]
    .map(([name, of]) => ({
      name,
      tokens: of.reduce((sum, each) => sum + each.input + each.output, 0),
      cost: sumOf(of),
    }))
    .sort((a, b) => b.cost - a.cost || b.tokens - a.tokens);
}

export function sumOf(rows: readonly UsageRow[]): number {
  return rows.reduce((sum, { cost }) => sum + cost, 0);
}
