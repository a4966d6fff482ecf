// The casts of a workspace as a list: what is told of each is what `show` tells of it, without reading all that it did.

import type { CastQuery } from '../engine/ports.ts';
import type { Store } from '../engine/store.ts';
import { saidNow } from '../kernel/cast/asked.ts';
import type { CastStatus } from '../kernel/cast/state.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';

export type Listed = Omit<CastSummary, 'clock'> & {
  /** How long it has been running by now; what it waited or was paused does not count. */
  readonly elapsedMs: number;
};

/** Oldest first. */
export async function listCasts(store: Pick<Store, 'view'>, now: number, query: CastQuery): Promise<readonly Listed[]> {
  return (await store.view('casts', query)).map(({ clock: { elapsedMs, since }, ...summary }) => {
    const running = since === null ? 0 : Math.max(0, now - since);
    const said = saidNow(summary.cast, summary, now);
    return { ...summary, ...said, reason: reasonOf({ ...summary, ...said }), elapsedMs: elapsedMs + running };
  });
}

/** A cast that runs has nothing to say for itself, and one that is done says just that. */
function reasonOf({ status, reason }: { readonly status: CastStatus; readonly reason: string }): string {
  if (status === 'running') return '';
  return status === 'completed' ? status : reason;
}
