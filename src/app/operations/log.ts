// The log, entry by entry, each with the hash of its line.
import type { Query } from '../../engine/ports.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { Json } from '../../kernel/json.ts';
import { allow } from '../../kernel/verdict.ts';
import { leafHash } from '../../log/line.ts';
import { nameCast } from '../name-cast.ts';
import type { WorkspaceStore } from '../store.ts';
import { type SocketNames, socketNames } from '../views/socket-names.ts';
import type { Operation } from './table.ts';

export const readLog: Operation<'log'> = async (workspace, { after, cast: word, ...which }) => {
  if (word === undefined && !workspace.hasLog()) return allow('nothing happened yet', { entries: [] });
  const store = workspace.castStore();
  const cast = word === undefined ? {} : { cast: (await nameCast(store, word, workspace.program)).cast };
  const how = { ...cast, ...(which.short ? ({ texts: 'digest' } as const) : {}) };
  const isLast = after === undefined && which.last !== undefined && (word === undefined || which.before !== undefined);
  const entries = isLast ? await lastOf(store, { ...which, how }) : await store.read({ after: after ?? 0, ...how });
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
    for (const { seq, line: stored } of await store.log.lines(first - 1, count)) leaves.set(seq, leafHash(stored));
    at += count;
  }
  return leaves;
}
