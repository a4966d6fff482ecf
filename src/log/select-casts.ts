// The casts of a log that has no index of them, from the facts of their lifecycles.
import type { CastQuery } from '../engine/ports.ts';
import { type CastSummary, foldSummary } from '../kernel/cast/summary.ts';
import type { Entry } from '../kernel/fact.ts';
import { isOver } from '../kernel/state.ts';

export function selectCasts(lifecycle: readonly Entry[], { limit, cast, prefix, isOpen }: CastQuery): CastSummary[] {
  const casts = new Map<string, CastSummary>();
  for (const entry of lifecycle) {
    if (!('cast' in entry.fact)) continue;
    const summary = foldSummary(casts.get(entry.fact.cast), entry);
    if (summary) casts.set(entry.fact.cast, summary);
  }
  const found = [...casts.values()].filter(
    (one) =>
      (cast === undefined || one.cast === cast) &&
      (prefix === undefined || one.cast.startsWith(prefix)) &&
      (isOpen === undefined || isOver(one.status) !== isOpen),
  );
  return limit === undefined ? found : found.slice(Math.max(0, found.length - limit));
}
