// What the agents cost, by day, agent and model, as `usage.days` counts it.
import { money } from '../words.ts';
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
export type Usage = {
  readonly rows: readonly UsageRow[];
  /** The day by universal time, as the limits of a day count it. */
  readonly today: { readonly hours: readonly number[]; readonly maxCost: number | null };
};

export function useUsage(): Answer<Usage> & { readonly refresh: () => void } {
  return useLook<Usage>('usage.days', {}, ['turn.accepted', 'attempt.']);
}

export const today = (): string => new Date().toISOString().slice(0, 10);

export const daysAgo = (days: number): string =>
  new Date(Date.parse(today()) - days * 86_400_000).toISOString().slice(0, 10);

type CostToday = { readonly amount: number; readonly currency: string; readonly max: number | null };

export function useCostToday(): CostToday | null {
  const { details } = useUsage();
  if (!details) return null;
  const of = details.rows.filter(({ day }) => day === today());
  return { amount: sumOf(of), currency: of[0]?.currency ?? 'USD', max: details.today.maxCost };
}

/** `$4.18 of $20.00`. */
export function costOfLimit({ amount, currency, max }: CostToday): string {
  return max === null ? money(amount, currency) : `${money(amount, currency)} of ${money(max, currency)}`;
}

/** From here on it is said in amber. */
const NEAR = 0.8;
export const isNearLimit = ({ amount, max }: CostToday): boolean => max !== null && amount >= max * NEAR;

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
