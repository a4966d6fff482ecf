// What the agents cost, by day, agent and model, as `usage.days` counts it.
import { useLook } from '../workspace.ts';

export type UsageRow = {
  readonly day: string;
  readonly agent?: string;
  readonly runner?: string;
  readonly model?: string;
  readonly tokens?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cost: number;
  readonly currency?: string;
  readonly attempts?: number;
};

export function useUsage() {
  return useLook<{ readonly days?: readonly UsageRow[]; readonly rows?: readonly UsageRow[] }>('usage.days', {}, [
    'turn.accepted',
    'attempt.',
  ]);
}

export function useCostToday(): { readonly amount: number; readonly currency: string } | null {
  const { details } = useUsage();
  const rows = details?.rows ?? details?.days;
  if (!rows) return null;
  const today = new Date().toISOString().slice(0, 10);
  const of = rows.filter(({ day }) => day === today);
  return { amount: of.reduce((sum, { cost }) => sum + (cost ?? 0), 0), currency: of[0]?.currency ?? 'USD' };
}
