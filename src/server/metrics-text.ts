// The figures of the workspace and of its server in the text format of Prometheus.
import { type LogCounts, logCounts, noCounts } from '../app/log-counts.ts';
import type { WorkspaceStore } from '../app/store.ts';
import { deny } from '../kernel/verdict.ts';
import { respond } from './answer.ts';

/** Prometheus gives up after 10 s by default. */
const COUNT_MS_MAX = 8_000;
const STATUSES = ['running', 'waiting', 'paused', 'completed', 'failed', 'aborted'] as const;

export async function metricsText(
  store: WorkspaceStore | null,
  requests: RequestCounts,
  version: string,
): Promise<Response> {
  const counts = store ? await logCounts(store, COUNT_MS_MAX) : noCounts();
  if (counts === null)
    return respond(deny('METRICS_NOT_READY', 'the log is counted for the first time; ask again'), {
      'retry-after': '10',
    });
  const text = [...ofLog(counts), ...ofCasts(counts), ...ofServer(requests, version)].join('\n');
  return new Response(`${text}\n`, { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } });
}

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number, suffix?: string];

function metric(type: 'counter' | 'gauge' | 'histogram', name: string, help: string, samples: readonly Sample[]) {
  if (samples.length === 0) return [];
  const lines = samples.map(([labels, value, suffix = '']) => `${name}${suffix}${labelled(labels)} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

function labelled(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function ofLog({ seq, kinds, refusals, failures, usage }: LogCounts): string[] {
  const facts = (kind: string): Sample[] => [[{}, kinds.get(kind) ?? 0]];
  const used = [...usage.values()];
  const tokens = used.flatMap(({ runner, model, input, output }): Sample[] => [
    [{ runner, model, type: 'input' }, input],
    [{ runner, model, type: 'output' }, output],
  ]);
  return [
    ...metric('gauge', 'baton_log_head', 'The number of the newest entry of the log.', [[{}, seq]]),
    ...metric('counter', 'baton_turns_started_total', 'Turns that began.', facts('turn.started')),
    ...metric('counter', 'baton_turns_accepted_total', 'Turns whose handoff was accepted.', facts('turn.accepted')),
    ...metric('counter', 'baton_attempts_total', 'Dispatches of turns.', facts('attempt.started')),
    ...metric(
      'counter',
      'baton_attempts_failed_total',
      'Dispatches that failed, by code.',
      [...failures].map(([code, count]): Sample => [{ code }, count]),
    ),
    ...metric(
      'counter',
      'baton_refusals_total',
      'Refusals in the log, by whom they concern and by code.',
      [...refusals.values()].map(({ of, code, count }): Sample => [{ of, code }, count]),
    ),
    ...metric('counter', 'baton_tokens_total', 'Tokens that agents used.', tokens),
    ...metric(
      'counter',
      'baton_cost_total',
      'What agents cost, in the currency of their usage.',
      used.map(({ runner, model, cost }): Sample => [{ runner, model }, cost]),
    ),
  ];
}

function ofCasts({ casts }: LogCounts): string[] {
  const statuses = new Map<string, number>(STATUSES.map((status) => [status, 0]));
  const waiting = new Map<string, number>();
  for (const { status, code } of casts.values()) {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 'waiting') waiting.set(code, (waiting.get(code) ?? 0) + 1);
  }
  return [
    ...metric(
      'gauge',
      'baton_casts',
      'Casts by status.',
      [...statuses].map(([status, count]): Sample => [{ status }, count]),
    ),
    ...metric(
      'gauge',
      'baton_casts_waiting',
      'Casts that wait for a person, by code.',
      [...waiting].map(([code, count]): Sample => [{ code }, count]),
    ),
  ];
}

function ofServer({ routes, streamsOpen, streamsBegun }: RequestCounts, version: string): string[] {
  const requests = routes.flatMap(({ route, method, statuses }) =>
    [...statuses].map(([status, count]): Sample => [{ route, method, status: `${status}` }, count]),
  );
  const durations = routes.flatMap(({ route, method, within, count, seconds }): Sample[] => [
    ...BOUNDS_S.map((bound, index): Sample => [{ route, method, le: `${bound}` }, within[index] ?? 0, '_bucket']),
    [{ route, method, le: '+Inf' }, count, '_bucket'],
    [{ route, method }, seconds, '_sum'],
    [{ route, method }, count, '_count'],
  ]);
  return [
    ...metric('gauge', 'baton_info', 'The version that serves.', [[{ version }, 1]]),
    ...metric('gauge', 'baton_streams', 'Event streams that are open.', [[{}, streamsOpen]]),
    ...metric('counter', 'baton_streams_total', 'Event streams that were opened.', [[{}, streamsBegun]]),
    ...metric('counter', 'baton_http_requests_total', 'Requests by route and status.', requests),
    ...metric('histogram', 'baton_http_request_seconds', 'How long the answer to a request took.', durations),
    ...metric('gauge', 'process_resident_memory_bytes', 'Memory of the server.', [[{}, process.memoryUsage.rss()]]),
    ...metric('gauge', 'process_start_time_seconds', 'When the server began, in seconds since 1970.', [
      [{}, Math.round(performance.timeOrigin / 1_000)],
    ]),
  ];
}

// What the server counts about itself: requests by route and status, how long they took, and the streams that are open.
type RouteCounts = {
  readonly route: string;
  readonly method: string;
  readonly statuses: Map<number, number>;
  /** How many took at most as long as the bound of the same place. */
  readonly within: number[];
  count: number;
  seconds: number;
};

const BOUNDS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5] as const;
const METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE', 'PUT', 'PATCH'];

export class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>();
  streamsOpen = 0;
  streamsBegun = 0;

  note(route: string, method: string, status: number, ms: number): void {
    const known = METHODS.includes(method) ? method : 'other';
    const key = `${known} ${route}`;
    const counts = this.#routes.get(key) ?? {
      ...{ route, method: known, count: 0, seconds: 0 },
      ...{ statuses: new Map<number, number>(), within: BOUNDS_S.map(() => 0) },
    };
    this.#routes.set(key, counts);
    counts.count += 1;
    counts.seconds += ms / 1_000;
    counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1);
    for (const [index, bound] of BOUNDS_S.entries())
      if (ms <= bound * 1_000) counts.within[index] = (counts.within[index] ?? 0) + 1;
  }

  get routes(): readonly RouteCounts[] {
    return [...this.#routes.values()];
  }
}

/** A name for the route of a path. There are only so many, whatever is asked for. */
export function routeOf(path: string, isOperation: (name: string) => boolean): string {
  const [, first = '', second = '', third, fourth, fifth] = path.split('/');
  if (first === 'api' && second === 'casts' && CAST_PARTS.has(fourth ?? '')) return `/api/casts/CAST/${fourth}`;
  if (first === 'api' && second === 'facts' && fourth === 'texts' && fifth !== undefined)
    return '/api/facts/SEQ/texts/DIGEST';
  if (first === 'api' && third === undefined)
    return second === '' ? '/api' : FIXED.has(second) || isOperation(second) ? `/api/${second}` : 'unknown';
  if (first === 'api') return 'unknown';
  return ['mcp', 'metrics', 'healthz', 'reference'].includes(first) ? `/${first}` : 'page';
}

const CAST_PARTS: ReadonlySet<string> = new Set(['entries', 'view', 'fold', 'state', 'ledger', 'turns', 'log']);
const FIXED: ReadonlySet<string> = new Set(['events', 'openapi.json']);
