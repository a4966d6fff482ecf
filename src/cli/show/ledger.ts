// How the answers of the ledger are shown.
import type { RunMetrics } from '../../app/operations/log.ts';
import type { Given } from '../../app/perform.ts';
import { isText, type JsonObject } from '../../kernel/json.ts';
import type { Metrics, Objective } from '../../kernel/ledger/history.ts';
import { isTaskStatus, isTerminal } from '../../kernel/ledger/state.ts';
import { again, type Call } from '../command.ts';
import { type ShownLine, table } from '../paint.ts';
import { ageOf, type Forms, rowsIn } from './form.ts';

export const LEDGER_FORMS: Forms = {
  'task.list': { value: 'tasks', lines: taskLines },
  'lock.list': { value: 'locks', lines: lockLines },
  'worklog.show': { value: 'entries', lines: ({ entries }) => rowsIn(entries).map(worklogLine) },
  bundle: { value: 'bundle' },
  metrics: { value: (details) => details, lines: metricsLines, refusal: 'fault' },
};

const RUNS_SHOWN = 20;
const TREND_SHOWN = 10;

function taskLines({ tasks }: JsonObject, call: Call, { status }: Given): readonly ShownLine[] {
  const rows = rowsIn(tasks);
  if (rows.length === 0)
    return [`No task${status ? ` is ${String(status)}` : ' yet'}. Create one with: ${again(call)} task create FILE`];
  const titles = ['task', 'status', 'owner', 'priority', 'title', 'why'];
  // Tasks of several runs may have the same id; then the run is shown, too.
  if (new Set(rows.map(({ run_id }) => run_id)).size < 2) return table(rows.map(taskCells), titles, ['task', 'status']);
  return table(
    rows.map((row) => [String(row.run_id), ...taskCells(row)]),
    ['run', ...titles],
    ['task', 'status'],
  );
}

/** How a task ended, or why it does not go on, and whether a person ended it without evidence. */
function taskCells({
  task_id,
  status,
  owner,
  priority,
  title,
  code,
  reason,
  why: named,
}: JsonObject): readonly string[] {
  const isToldOf = isTaskStatus(status) && (isTerminal(status) || code !== null);
  const why = [code, isToldOf ? (named ?? reason) : null].filter((part) => isText(part)).join(': ');
  return [task_id, status, owner, priority, title, why].map(String);
}

function lockLines({ locks }: JsonObject): readonly ShownLine[] {
  const rows = rowsIn(locks);
  if (rows.length === 0) return ['No path is locked.'];
  const cells = rows.map(({ path, mode, task, owner, fence, since, until }) =>
    [path, mode, task, owner, fence, ageOf(since), until ? ageOf(until) : ''].map(String),
  );
  return table(cells, ['path', 'mode', 'task', 'owner', 'fence', 'locked', 'until'], ['path', 'task']);
}

function worklogLine({ timestamp, actor, action, result, code, next_step: next }: JsonObject): string {
  const why = code === undefined ? '' : ` (${String(code)})`;
  return `${String(timestamp)}  ${String(actor)}  ${String(action)}: ${String(result)}${why}. Next: ${String(next)}`;
}

function metricsLines(details: JsonObject): readonly ShownLine[] {
  const { runs, all } = details as unknown as { runs: readonly RunMetrics[]; all: Metrics | null };
  if (!all || runs.length === 0) return ['The ledger holds no run yet.'];
  const shown = runs.slice(-RUNS_SHOWN);
  const head = ['run', 'tasks', 'done', 'blocked', 'failed', 'canceled', 'retries', 'conflicts', 'refused'];
  const newest = runs.slice(-TREND_SHOWN);
  const levels = ['valid packets', 'met a lock', 'first attempt', 'retries'];
  return [
    ...table([...shown, all].map(metricsCells), head),
    '',
    ...table(all.objectives.map(aim), ['level', 'all runs', 'aimed at', 'met']),
    '',
    newest.length === 1 ? 'Trend, with the first run:' : `Trend, the last ${newest.length} runs, oldest first:`,
    ...table(newest.map(trendCells), ['run', 'began', ...levels, 'mean time']),
    ...denies(all),
  ];
}

function metricsCells(metrics: Metrics): readonly string[] {
  const { run, tasks, byStatus, retriesAttempted, lockConflicts } = metrics;
  const { done, blocked, failed, canceled } = byStatus;
  return [run, tasks, done, blocked, failed, canceled, retriesAttempted, lockConflicts, refusals(metrics)].map(String);
}

function refusals({ denies: counts }: Metrics): number {
  return Object.values(counts).reduce((sum, times) => sum + times, 0);
}

function trendCells({ run, began, objectives, meanLatencyMs }: RunMetrics): readonly string[] {
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
