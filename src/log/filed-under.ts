// What a fact is found by: its kind, its cast and its task. A fact of the ledger is filed under its run, where a cast has
// the facts about its own work too.
import type { Query } from '../engine/ports.ts';
import type { Fact } from '../kernel/fact.ts';

export type FiledUnder = { readonly kind: string; readonly cast: string | null; readonly task: string | null };

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
