// The log, entry by entry, each with the hash of its line.
import type { Entry } from '../../kernel/fact.ts';
import type { Json } from '../../kernel/json.ts';
import { allow } from '../../kernel/verdict.ts';
import { leafHash } from '../../log/line.ts';
import { nameCast } from '../name-cast.ts';
import type { Run } from '../operation.ts';
import type { WorkspaceStore } from '../store.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'log'>> = async (workspace, { after, cast: word, last }) => {
  if (word === undefined && !workspace.hasLog()) return allow('nothing happened yet', { entries: [] });
  const store = workspace.castStore();
  const cast = word === undefined ? {} : { cast: (await nameCast(store, word, workspace.program)).cast };
  const isLast = word === undefined && last !== undefined;
  const from = after ?? (isLast ? Math.max(0, (await store.view('head')).seq - last) : 0);
  const entries = await store.read({ after: from, ...cast });
  const leaves = await leavesOf(store, entries);
  const shown = entries.map((entry) => ({ ...entry, leaf: leaves.get(entry.seq) ?? null }));
  return allow(`${entries.length} entries`, { entries: shown as unknown as Json });
};

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
