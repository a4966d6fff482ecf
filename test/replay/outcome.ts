// What a log comes to: where each of its casts stands, what it holds and where it went.
import { viewOf } from '../../src/engine/view.ts';
import { apply } from '../../src/kernel/apply.ts';
import type { Entry } from '../../src/kernel/fact.ts';
import type { Json } from '../../src/kernel/json.ts';
import { emptyState } from '../../src/kernel/state.ts';

export type Outcome = {
  readonly casts: Readonly<Record<string, CastOutcome>>;
  readonly kinds: readonly string[];
  /** The tasks by run and id, where there are any. */
  readonly tasks?: Readonly<Record<string, string>>;
};
export type CastOutcome = {
  readonly status: string;
  readonly code: string | null;
  readonly data: Json;
  readonly path: readonly string[];
  readonly usage: Json;
  readonly accepted: number;
};

export function outcomeOf(entries: readonly Entry[]): Outcome {
  const state = emptyState();
  for (const entry of entries) apply(state, entry);
  const casts = Object.values(state.casts).map((cast): [string, CastOutcome] => {
    const own = entries.filter(({ fact }) => 'cast' in fact && fact.cast === cast.id);
    const { status, code, data, path, usage, accepted } = viewOf(cast, own, { seq: 0, hash: '' }, false);
    const steps = path.map(({ socket, visit, item }) => [socket, visit, item ?? ''].join(' ').trim());
    return [cast.id, { status, code, data, path: steps, usage: { ...usage }, accepted }];
  });
  const tasks = Object.values(state.ledger.tasks).map(({ run, id, status, owner }) => [
    `${run}/${id}`,
    `${status} ${owner}`,
  ]);
  return {
    casts: Object.fromEntries(casts),
    kinds: [...new Set(entries.map(({ fact }) => fact.kind))].sort(),
    ...(tasks.length > 0 ? { tasks: Object.fromEntries(tasks) } : {}),
  };
}

/** The kinds of facts that did nothing to the state wherever they occur, as those do that the program does not know. */
export function silentKinds(entries: readonly Entry[]): string[] {
  const state = emptyState();
  const silent = new Map<string, boolean>();
  let before = JSON.stringify(state);
  for (const entry of entries) {
    apply(state, entry);
    const after = JSON.stringify(state);
    silent.set(entry.fact.kind, (silent.get(entry.fact.kind) ?? true) && after === before);
    before = after;
  }
  return [...silent]
    .filter(([, isSilent]) => isSilent)
    .map(([kind]) => kind)
    .sort();
}
