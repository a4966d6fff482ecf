// Counts how the runs of the ledger went: each run by itself, oldest first, and all of them together. The numbers come from the
// whole log, so runs that ended long ago count too.
import type { JsonObject } from '../../kernel/json.ts';
import { count, type Metrics, metricsOf, newTally, overallMetrics, type Tally } from '../../kernel/ledger/history.ts';
import { workRuns } from '../../kernel/ledger/state.ts';
import { counted } from '../../kernel/text.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Run } from '../operation.ts';
import type { WorkspaceStore } from '../store.ts';
import type { FieldsOf } from './table.ts';

const PAGE = 5_000;

/** The numbers of one run, and when it began. */
export type RunMetrics = Metrics & { readonly began: string | null };

export const run: Run<FieldsOf<'metrics'>> = async (workspace) => {
  const { runs, all } = workspace.hasLog() ? await measured(workspace.ledgerStore()) : { runs: [], all: null };
  const details = { workspace: workspace.dir, runs, all, trend: trendOf(runs) };
  return allow(`${counted(runs.length, 'run')} in the ledger`, details as unknown as JsonObject);
};

async function measured(store: WorkspaceStore): Promise<{ runs: readonly RunMetrics[]; all: Metrics }> {
  const { ledger, began } = await tallyOf(store);
  const ids = workRuns(ledger)
    .filter(({ tasks, counts }) => tasks.length > 0 || Object.keys(counts.denies).length > 0)
    .map(({ id }) => id);
  const runs = ids.flatMap((id): RunMetrics[] => {
    const metrics = metricsOf(ledger, id);
    return metrics ? [{ ...metrics, began: began.get(id) ?? null }] : [];
  });
  return { runs, all: overallMetrics(ledger, ids) };
}

async function tallyOf(store: WorkspaceStore): Promise<Tally> {
  const tally = newTally();
  for (let after = 0; ; ) {
    const page = await store.read({ after, limit: PAGE });
    for (const entry of page) count(tally, entry);
    if (page.length < PAGE) return tally;
    after = page.at(-1)?.seq ?? after;
  }
}

type Trend = {
  readonly name: string;
  readonly target: number;
  /** One value for each run, oldest first; null while a run has nothing to count. */
  readonly values: readonly (number | null)[];
};

function trendOf(runs: readonly Metrics[]): readonly Trend[] {
  const names = runs[0]?.objectives ?? [];
  return names.map(({ name, target }, index) => {
    return { name, target, values: runs.map(({ objectives }) => objectives[index]?.value ?? null) };
  });
}
