// How the runs of the ledger went, in numbers: each run for itself, oldest first, so that one sees where things go, and
// all of them together. They are counted from the whole log: what is over long ago counts too.

import { hasLog } from '../app/state-folder.ts';
import type { Door } from '../engine/door.ts';
import {
  count,
  type Metrics,
  metricsOf,
  newTally,
  type Objective,
  overallMetrics,
  type Tally,
} from '../kernel/ledger/history.ts';
import { workRuns } from '../kernel/ledger/state.ts';
import { type Call, EXIT, out, outJson } from './command.ts';
import { workspaceOf } from './find-workspace.ts';
import { withLedger } from './ledger-session.ts';
import { table } from './table.ts';

const RUNS_SHOWN = 20;
const TREND_SHOWN = 10;
const PAGE = 5_000;

/** The numbers of one run, and when it began. */
type Row = Metrics & { readonly began: string | null };

export async function showMetrics(call: Call): Promise<number> {
  const workspace = workspaceOf(call);
  const { runs, all } = hasLog(workspace) ? await measure(call) : { runs: [], all: null };
  if (call.json) outJson({ workspace: workspace.dir, runs, all, trend: trendOf(runs) });
  else if (!all || runs.length === 0) out('The ledger holds no run yet.');
  else for (const line of lines(runs, all)) out(line);
  return EXIT.ok;
}

function measure(call: Call): Promise<{ runs: readonly Row[]; all: Metrics }> {
  return withLedger(call, async ({ door }) => {
    const { ledger, began } = await tallyOf(door);
    const ids = workRuns(ledger)
      .filter(({ tasks, counts }) => tasks.length > 0 || Object.keys(counts.denies).length > 0)
      .map(({ id }) => id);
    const runs = ids.flatMap((id): Row[] => {
      const metrics = metricsOf(ledger, id);
      return metrics ? [{ ...metrics, began: began.get(id) ?? null }] : [];
    });
    return { runs, all: overallMetrics(ledger, ids) };
  });
}

async function tallyOf(door: Door): Promise<Tally> {
  const tally = newTally();
  for (let after = 0; ; ) {
    const page = await door.read({ after, limit: PAGE });
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

function lines(runs: readonly Row[], all: Metrics): string[] {
  const shown = runs.slice(-RUNS_SHOWN);
  const head = ['run', 'tasks', 'done', 'blocked', 'failed', 'canceled', 'retries', 'conflicts', 'refused'];
  const newest = runs.slice(-TREND_SHOWN);
  const levels = ['valid packets', 'met a lock', 'first attempt', 'retries'];
  return [
    ...table([...shown, all].map(cells), head),
    '',
    ...table(all.objectives.map(aim), ['level', 'all runs', 'aimed at', 'met']),
    '',
    newest.length === 1 ? 'Trend, with the first run:' : `Trend, the last ${newest.length} runs, oldest first:`,
    ...table(newest.map(trendCells), ['run', 'began', ...levels, 'mean time']),
    ...denies(all),
  ];
}

function cells(metrics: Metrics): readonly string[] {
  const { run, tasks, byStatus, retriesAttempted, lockConflicts } = metrics;
  const { done, blocked, failed, canceled } = byStatus;
  return [run, tasks, done, blocked, failed, canceled, retriesAttempted, lockConflicts, refusals(metrics)].map(String);
}

function refusals({ denies: counts }: Metrics): number {
  return Object.values(counts).reduce((sum, times) => sum + times, 0);
}

function trendCells({ run, began, objectives, meanLatencyMs }: Row): readonly string[] {
  const when = began === null ? '–' : began.slice(0, 16).replace('T', ' ');
  const time = meanLatencyMs === null ? '–' : `${(meanLatencyMs / 1000).toFixed(1)} s`;
  return [run, when, ...objectives.map(({ value }) => percent(value)), time];
}

function aim({ name, value, target, met }: Objective): readonly string[] {
  return [name, percent(value), percent(target), met === null ? '–' : met ? 'yes' : 'no'];
}

function percent(part: number | null): string {
  return part === null ? '–' : `${(part * 100).toFixed(1)} %`;
}

function denies({ denies: counts, families }: Metrics): readonly string[] {
  const entries = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  if (entries.length === 0) return [];
  const budgets = Object.entries(families).map(([family, times]) => `${family} ${times}`);
  return [
    '',
    `Refused: ${entries.map(([code, times]) => `${code} ${times}×`).join(', ')}`,
    `Of these: ${budgets.join(', ')}`,
  ];
}
