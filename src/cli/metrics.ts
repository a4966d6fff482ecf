// How the runs of the ledger went, in numbers: each run for itself, oldest first, so that one sees where things go, and
// all of them together.
import { type Metrics, metricsOf, type Objective, overallMetrics } from '../kernel/ledger/metrics.ts';
import { type Call, EXIT, out, outJson } from './command.ts';
import { workspaceOf } from './find-workspace.ts';
import { withLedger } from './ledger-session.ts';
import { hasLog } from './state-folder.ts';
import { table } from './table.ts';

const RUNS_SHOWN = 20;

export async function showMetrics(call: Call): Promise<number> {
  const workspace = workspaceOf(call);
  const { runs, all } = hasLog(workspace) ? await measure(call) : { runs: [], all: null };
  if (call.json) outJson({ workspace: workspace.dir, runs, all, trend: trendOf(runs) });
  else if (!all || runs.length === 0) out('The ledger holds no run yet.');
  else for (const line of lines(runs, all)) out(line);
  return EXIT.ok;
}

function measure(call: Call): Promise<{ runs: readonly Metrics[]; all: Metrics }> {
  return withLedger(call, async ({ door }) => {
    const ledger = await door.ledger();
    const ids = Object.values(ledger.runs)
      .filter(({ tasks }) => tasks.length > 0)
      .map(({ id }) => id);
    return { runs: ids.flatMap((id) => metricsOf(ledger, id) ?? []), all: overallMetrics(ledger, ids) };
  });
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

function lines(runs: readonly Metrics[], all: Metrics): string[] {
  const shown = runs.slice(-RUNS_SHOWN);
  const head = ['run', 'tasks', 'done', 'blocked', 'failed', 'retries', 'conflicts', 'mean time'];
  return [
    ...table([...shown, all].map(cells), head),
    '',
    ...table(all.objectives.map(aim), ['level', 'all runs', 'aimed at', 'met']),
    ...denies(all),
  ];
}

function cells(metrics: Metrics): readonly string[] {
  const { run, tasks, byStatus, retriesAttempted, lockConflicts, meanLatencyMs } = metrics;
  const time = meanLatencyMs === null ? '–' : `${(meanLatencyMs / 1000).toFixed(1)} s`;
  return [run, tasks, byStatus.done, byStatus.blocked, byStatus.failed, retriesAttempted, lockConflicts, time].map(
    String,
  );
}

function aim({ name, value, target, met }: Objective): readonly string[] {
  const percent = (part: number | null) => (part === null ? '–' : `${(part * 100).toFixed(1)} %`);
  return [name, percent(value), percent(target), met === null ? '–' : met ? 'yes' : 'no'];
}

function denies({ denies: counts }: Metrics): readonly string[] {
  const entries = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  if (entries.length === 0) return [];
  return ['', `Refused: ${entries.map(([code, times]) => `${code} ${times}×`).join(', ')}`];
}
