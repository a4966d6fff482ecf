// The log entry by entry, each with the hash of its line; and figures counted from it: how runs of the ledger went, what agents used.

import { setImmediate as pass } from 'node:timers/promises';
import type { Query } from '../../engine/ports.ts';
import type { Store } from '../../engine/store.ts';
import type { Entry } from '../../kernel/fact.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { count, type Metrics, metricsOf, newTally, overallMetrics, type Tally } from '../../kernel/ledger/history.ts';
import { workRuns } from '../../kernel/ledger/state.ts';
import { counted } from '../../kernel/text.ts';
import { allow } from '../../kernel/verdict.ts';
import { leafHash } from '../../log/line.ts';
import { nameCast } from '../name-cast.ts';
import type { WorkspaceStore } from '../store.ts';
import { type SocketNames, socketNames } from '../views/in-words.ts';
import type { Workspace } from '../workspace.ts';
import { usageIn } from './cast-list.ts';
import type { Operation } from './table.ts';

export const readLog: Operation<'log'> = async (workspace, { after, cast: word, ...which }) => {
  if (word === undefined && !workspace.hasLog()) return allow('nothing happened yet', { entries: [] });
  const store = workspace.castStore();
  const cast = word === undefined ? {} : { cast: (await nameCast(store, word, workspace.program)).cast };
  const how = { ...cast, ...(which.short ? ({ texts: 'digest' } as const) : {}) };
  const isLast = after === undefined && which.last !== undefined && (word === undefined || which.before !== undefined);
  const ofKind = which.kind === undefined ? {} : { kindPrefix: which.kind };
  const entries = isLast
    ? await lastOf(store, { ...which, how })
    : await store.read({ after: after ?? 0, ...ofKind, ...how });
  const leaves = await leavesOf(store, entries);
  const shown = entries.map((entry) => ({ ...entry, leaf: leaves.get(entry.seq) ?? null }));
  const names = which.short ? {} : await namesOf(store, entries);
  return allow(`${entries.length} entries`, { entries: shown as unknown as Json, names });
};

/** By cast what its sockets are called, where it began before the first entry. */
async function namesOf(store: WorkspaceStore, entries: readonly Entry[]): Promise<Record<string, SocketNames>> {
  const casts = new Set(entries.flatMap(({ fact }) => ('cast' in fact && fact.cast !== undefined ? [fact.cast] : [])));
  for (const { fact } of entries) if (fact.kind === 'cast.started') casts.delete(fact.cast);
  const names: Record<string, SocketNames> = {};
  for (const cast of casts) {
    for (const { fact } of await store.read({ after: 0, cast, kindPrefix: 'cast.started', limit: 1 })) {
      if (fact.kind === 'cast.started') names[cast] = socketNames(fact.rules);
    }
  }
  return names;
}

type Last = {
  readonly last?: number | undefined;
  readonly before?: number | undefined;
  readonly kind?: string | undefined;
};

/** The last so many before an entry. Where nothing else is asked of them, only those are read. */
async function lastOf(
  store: WorkspaceStore,
  { last = 0, before, kind, how }: Last & { readonly how: Omit<Query, 'after'> },
): Promise<readonly Entry[]> {
  const { seq: head } = await store.view('head');
  const end = Math.min(before ?? head + 1, head + 1);
  if (kind === undefined && how.cast === undefined) {
    const after = Math.max(0, end - 1 - last);
    return store.read({ after, limit: Math.max(0, end - 1 - after), ...how });
  }
  const all = await store.read({ after: 0, ...(kind === undefined ? {} : { kindPrefix: kind }), ...how });
  return all.filter(({ seq }) => seq < end).slice(-last);
}

const LINES_AT_ONCE = 1_000;

/** The hash of each entry's own line, which the entry after it holds as `prev`. */
async function leavesOf(store: WorkspaceStore, entries: readonly Entry[]): Promise<ReadonlyMap<number, string>> {
  const leaves = new Map<number, string>();
  for (let at = 0; at < entries.length; ) {
    const first = entries[at]?.seq ?? 0;
    let count = 1;
    while (count < LINES_AT_ONCE && entries[at + count]?.seq === first + count) count++;
    const lines = await store.asStored((log) => log.lines(first - 1, count));
    for (const { seq, line: stored } of lines) leaves.set(seq, leafHash(stored));
    at += count;
  }
  return leaves;
}

const PAGE = 5_000;

/** The numbers of one run, and when it began. */
export type RunMetrics = Metrics & { readonly began: string | null };

/** Counts how the runs of the ledger went: each run by itself, oldest first, and all of them together. The numbers come from the
 * whole log, so runs that ended long ago count too. */
export const ledgerMetrics: Operation<'metrics'> = async (workspace) => {
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

export type UsageRow = {
  /** In UTC. */
  readonly day: string;
  /** The materia. */
  readonly agent: string;
  readonly runner: string | null;
  readonly model: string | null;
  input: number;
  output: number;
  cost: number;
  attempts: number;
};

type Rules = Extract<Entry['fact'], { kind: 'cast.started' }>['rules'];

type Counted = {
  seq: number;
  readonly rows: Map<string, UsageRow>;
  /** What each hour cost, by `2026-01-31T09`, of the newest day. */
  readonly hours: Map<string, number>;
  readonly rules: Map<string, Rules>;
  /** By cast and turn, its socket. */
  readonly sockets: Map<string, string>;
  busy: Promise<void>;
};

const ENTRIES_PER_READ = 2_000;
const known = new WeakMap<object, Counted>();

/** What agents used, by day, agent and model; today also by hour, and against the limits of a day. The log is read once; what was counted is kept as long as the store is open. */
export const usageDays: Operation<'usage.days'> = async (workspace, { since = '' }) => {
  const counted = workspace.hasLog() ? await usageOf(workspace.castStore()) : null;
  const rows = [...(counted?.rows.values() ?? [])].toSorted((a, b) =>
    a.day < b.day ? 1 : a.day > b.day ? -1 : b.cost - a.cost,
  );
  const within = rows.filter(({ day }) => day >= since);
  const today = new Date().toISOString().slice(0, 10);
  const hours = Array.from({ length: 24 }, (_, hour) => {
    return counted?.hours.get(`${today}T${String(hour).padStart(2, '0')}`) ?? 0;
  });
  return allow(`${within.length} rows`, {
    rows: within.map((row): JsonObject => ({ ...row })),
    today: { day: today, hours, ...(await dayLimits(workspace)) },
  });
};

type DayLimits = { readonly maxCost: number | null; readonly maxTokens: number | null };

/** What the configuration allows a day; a configuration that cannot be read limits nothing that could be shown. */
async function dayLimits(workspace: Workspace): Promise<DayLimits> {
  try {
    const { loadFor } = await import('../../workspace/find-config.ts');
    const { config } = loadFor({ workspace, cwd: workspace.cwd, file: undefined, loadout: undefined });
    const budget = isObject(config) && isObject(config.budget) ? config.budget : {};
    const amount = (value: unknown) => (typeof value === 'number' ? value : null);
    return { maxCost: amount(budget.maxCostPerDay), maxTokens: amount(budget.maxTokensPerDay) };
  } catch {
    return { maxCost: null, maxTokens: null };
  }
}

async function usageOf(store: Pick<Store, 'read'>): Promise<Counted> {
  const counted: Counted = known.get(store) ?? {
    ...{ seq: 0, rows: new Map(), hours: new Map(), rules: new Map(), sockets: new Map() },
    busy: Promise.resolve(),
  };
  known.set(store, counted);
  // Two looks at once must not count an entry twice.
  const work = counted.busy.then(() => countOn(store, counted));
  counted.busy = work.catch(() => undefined);
  await work;
  return counted;
}

async function countOn(store: Pick<Store, 'read'>, counted: Counted): Promise<void> {
  for (let isMore = true; isMore; ) {
    const page = await store.read({ after: counted.seq, limit: ENTRIES_PER_READ, texts: 'digest' });
    for (const entry of page) countUsage(counted, entry);
    counted.seq = page.at(-1)?.seq ?? counted.seq;
    isMore = page.length === ENTRIES_PER_READ;
    if (isMore) await pass();
  }
}

function countUsage({ rows, hours, rules, sockets }: Counted, { at, fact }: Entry): void {
  if (fact.kind === 'cast.started') rules.set(fact.cast, fact.rules);
  if (fact.kind === 'turn.started') sockets.set(`${fact.cast} ${fact.turn}`, fact.socket);
  const usage = usageIn(fact);
  if (!usage || !('cast' in fact) || !('turn' in fact)) return;
  const cast = rules.get(String(fact.cast));
  const socket = sockets.get(`${String(fact.cast)} ${String(fact.turn)}`) ?? '';
  const agent = cast?.graph.sockets[socket]?.materia ?? socket;
  const materia = cast?.materia[agent];
  const reported = 'agent' in fact && typeof fact.agent === 'object' ? fact.agent : undefined;
  const runner = reported?.runner ?? (materia?.type === 'agent' ? materia.runner : null);
  const model = reported?.model ?? (materia?.type === 'agent' ? (materia.model ?? null) : null);
  const day = at.slice(0, 10);
  const key = JSON.stringify([day, agent, runner, model]);
  const row = rows.get(key) ?? { day, agent, runner, model, input: 0, output: 0, cost: 0, attempts: 0 };
  row.input += usage.input;
  row.output += usage.output;
  row.cost += usage.cost;
  row.attempts += 1;
  rows.set(key, row);
  const hour = at.slice(0, 13);
  // Hours of a day that is over are not asked for any more.
  if (![...hours.keys()].some((one) => one.startsWith(day))) hours.clear();
  hours.set(hour, (hours.get(hour) ?? 0) + usage.cost);
}
