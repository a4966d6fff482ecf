// What every adapter of the log needs to find facts: by which kind, cast and task a fact is filed, which casts a query selects, and the
// rows of a decision. A fact of the ledger is filed under its run; a cast's run has the name of the cast.
import {
  type CastQuery,
  type FoundRows,
  type LeaseValues,
  NotFetched,
  type Query,
  type RowNames,
} from '../engine/ports.ts';
import { isOver } from '../kernel/cast/state.ts';
import { type CastSummary, foldSummary } from '../kernel/cast/summary.ts';
import type { Entry, Fact } from '../kernel/fact.ts';

type FiledUnder = { readonly kind: string; readonly cast: string | null; readonly task: string | null };

export function filedUnder(fact: Fact): FiledUnder {
  const { kind, cast, run, task } = fact as { kind: string; cast?: unknown; run?: unknown; task?: unknown };
  const named = cast ?? run;
  return {
    kind,
    cast: typeof named === 'string' ? named : null,
    task: typeof task === 'string' ? task : null,
  };
}

/** Whether a query asks for this fact. */
export function fits({ cast, task, kindPrefix }: Query, fact: Fact): boolean {
  const filed = filedUnder(fact);
  if (cast !== undefined && filed.cast !== cast) return false;
  if (task !== undefined && filed.task !== task) return false;
  return kindPrefix === undefined || filed.kind.startsWith(kindPrefix);
}

/** The casts of a log without an index of casts, from the facts of their lifecycles. */
export function selectCasts(
  lifecycle: readonly Entry[],
  { limit, cast, prefix, isOpen, status, before }: CastQuery,
): CastSummary[] {
  const casts = new Map<string, CastSummary>();
  for (const entry of lifecycle) {
    if (!('cast' in entry.fact)) continue;
    const summary = foldSummary(casts.get(entry.fact.cast), entry);
    if (summary) casts.set(entry.fact.cast, summary);
  }
  const all = [...casts.values()];
  const end = before === undefined ? all.length : all.findIndex((one) => one.cast === before);
  const earlier = all.slice(0, Math.max(0, end));
  const found = earlier.filter(
    (one) =>
      (status === undefined || one.status === status) &&
      (cast === undefined || one.cast === cast) &&
      (prefix === undefined || one.cast.startsWith(prefix)) &&
      (isOpen === undefined || isOver(one.status) !== isOpen),
  );
  return limit === undefined ? found : found.slice(Math.max(0, found.length - limit));
}

type Rows = { readonly once: (key: string) => number | null; readonly lease: LeaseValues };

/** The rows for the decision of a commit: exactly the named ones, each fetched once. */
export function fetchRows({ once, leases }: RowNames, rows: Rows): FoundRows {
  const seqs = new Map(once.map((key) => [key, rows.once(key)]));
  return { once: (key) => fetched(seqs, 'once', key), lease: fetchLeases(leases, rows.lease) };
}

export function fetchLeases(names: readonly string[], find: LeaseValues): LeaseValues {
  const values = new Map(names.map((name) => [name, find(name)]));
  return (name) => fetched(values, 'leases', name);
}

function fetched<T>(rows: ReadonlyMap<string, T>, kind: keyof RowNames, name: string): T {
  const row = rows.get(name);
  if (row === undefined) throw new NotFetched(kind, name);
  return row;
}
