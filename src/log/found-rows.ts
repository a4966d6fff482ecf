// The rows that are fetched for a decision of a commit: exactly those that were named, each once.
import { type FoundRows, type LeaseValues, NotFetched, type RowNames } from '../engine/ports.ts';

type Rows = { readonly once: (key: string) => number | null; readonly lease: LeaseValues };

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
